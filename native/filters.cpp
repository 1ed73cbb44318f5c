// Pairs of sets that can be alike enough, by their rarest members or by short hashes of all. Neither loses a match.
//
// By rarest members: a prefix filter with positions. Let all members be in one order; here, rare ones come first. Two
// sets of a and b members with a resemblance of at least t have n >= t (a + b) / (1 + t) members in common. If the
// first of these is at place i of one set and at place j of the other, counted from 0, then n <= min(a - i, b - j).
// This bound decides for every member that two sets share whether it can be the first one of a pair that reaches the
// threshold. The smaller set of such a pair has it among its first a - 2 t a / (1 + t) + 1 members. Members that many
// sets have are mostly beyond these, and link nobody. No match is lost, whatever the order is. (Prefixes: Bayardo, Ma
// & Srikant, WWW 2007; positions: Xiao, Wang, Lin & Yu, WWW 2008.)
//
// Small sets are also told apart by bits. Each member turns one of 256 bits of its set; sets that differ in d bits differ in at
// least d members, and those of a match differ in at most a + b - 2 n (Sandes, Teodoro & Melo, Information Systems 88, 2020).
//
// By short hashes: a row is the ascending upper halves of the distinct 64-bit hashes of a set's members, so that it
// may be shorter than the set: members can share a hash, but no more of them than there were repeats, of members or
// of hashes, that the row was made without.
//
// Let two sets have c members in common, of a and b, and rows of a - x and b - y entries. The rows then have at least
// c - min(x, y) entries in common. Where c / (a + b - c) reaches t, c is at least t (a + b) / (1 + t), and so these
// are at least t / (1 + t) times the entries of both rows, less (1 - t) / (1 + t) min(x, y). That is no matter of
// chance: it holds whatever the hashes are.
#include <nanobind/stl/vector.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <tuple>
#include "arrays.h"
#include "hash.h"
#include "hash_table.h"

namespace lookalike {
namespace {

// What is known of a member of a set, by columns: the size of the set << 32 | the place of the member, a hash of the
// set, the members before it, or 0, and perhaps the bits of the set.
enum Fact { EXTENT = 0, SET = 1, BEFORE = 2, BITS = 5 };
constexpr Long BIT_WORDS = 4;  // of bits, where there are any
constexpr Long LOWER = 0xFFFFFFFF;

// The share of the members of two sets, counted together, that they have in common at a resemblance.
double share_of(double resemblance) { return resemblance / (1.0 + resemblance); }

// The least number that is at least a share of a number; a little less, against roundings.
Long least_of(double share, Long number) { return Long(std::ceil(share * double(number) - 1e-12 * double(number))); }

// Adds members to a table of counts, by the upper bits of their hashes: 64 less `shift` of them.
void count_members(Values values, int shift, Span<std::int32_t> counts) {
  for (const Word value : values) {
    auto& count = counts[value >> shift];
    count = std::int32_t(std::uint32_t(count) + 1);
  }
}

// Sorts each row of values, and returns its members' counts << 32 | places in the row, sorted.
Vector<Long> rank_members(Span<Long> values, Longs offsets, Span<const std::int32_t> counts, int shift) {
  Vector<Long> entries(values.size());
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    const auto some = values.part(offsets[row], offsets[row + 1] - offsets[row]);
    std::sort(some.begin(), some.end());
    Long* to = entries.data() + offsets[row];
    for (Long i = 0; i < some.size(); i++) to[i] = Long(Word(counts[Word(some[i]) >> shift]) << 32) | i;
    std::sort(to, to + some.size());
  }
  return entries;
}

// Chooses the rarest members of sets, those that other sets may have. Each set is sorted in place.
class Prefixes {
 public:
  Prefixes(Held<Long> values, Held<const Long> offsets, Held<const Long> orders, Span<const std::int32_t> counts, int shift,
           double threshold, bool with_bits)
      : values_(values),
        offsets_(offsets),
        orders_(orders),
        entries_(rank_members(values, offsets, counts, shift)),
        threshold_(threshold),
        columns_(2 + BITS + (with_bits ? BIT_WORDS : 0)) {}

  // Returns at most so many of the next members, by columns: key, order of the set, facts. None: all is done.
  std::vector<Vector<Long>> next(Long at_most) {
    std::vector<Vector<Long>> made(columns_);
    for (auto& column : made) column.reserve(std::min(at_most, Long(entries_.size())));
    for (; row_ + 1 < offsets_.size() && Long(made[0].size()) < at_most; row_++, place_ = 0) {
      const Long begin = offsets_[row_], size = offsets_[row_ + 1] - begin;
      if (!place_) look_at(values_.part(begin, size));
      const Long smallest = least_of(threshold_, size);  // set that can match
      const Long end = std::min(size, size - least_of(share_of(threshold_), size + smallest) + 1);
      while (place_ < end && Long(made[0].size()) < at_most) {
        const Long entry = entries_[begin + place_++];
        if (entry >> 32 == 1) continue;  // nobody else has it; counts that are too large for 32 bits can be any number
        const Long key = values_[begin + (entry & LOWER)], extent = Long(Word(size) << 32) | (place_ - 1);
        const Long facts[] = {key,        orders_[row_],  extent,         set_,           before_[0],    before_[1],
                              before_[2], Long(bits_[0]), Long(bits_[1]), Long(bits_[2]), Long(bits_[3])};
        for (Long column = 0; column < columns_; column++) made[column].push_back(facts[column]);
        std::copy_backward(before_.begin(), before_.end() - 1, before_.end());
        before_[0] = key;
      }
      if (place_ < end) break;
    }
    for (auto& column : made) cut_off(column, column.size());  // they wait to be sorted; members that others have are few
    return made;
  }

 private:
  void look_at(Longs set) {
    bits_ = {};
    before_ = {};
    Word total = 0;
    for (const Long member : set) {
      total += fmix64(Word(member));
      bits_[member >> 6 & (BIT_WORDS - 1)] ^= Word(1) << (member & 63);
    }
    set_ = Long(total);
  }

  Held<Long> values_;
  Held<const Long> offsets_, orders_;
  Vector<Long> entries_;
  double threshold_;
  Long columns_, row_ = 0, place_ = 0, set_ = 0;
  std::array<Word, BIT_WORDS> bits_ = {};
  std::array<Long, BITS - BEFORE> before_ = {};
};

// Links sets that share a member; members come in any order, those of one set once.
//
// Two sets that also share one of the few members before were linked there: otherwise near-copies would be linked at every
// member. With `firsts`, only the first of equal sets, by the order in which they come, is linked with sets of higher orders: n
// equal sets make n - 1 links. Orders below the boundary are references, which are not linked with each other.
class PrefixLinks {
 public:
  PrefixLinks(Longs keys, Longs orders, const std::vector<Longs>& facts, Long boundary, double threshold, bool firsts)
      : boundary_(boundary), threshold_(threshold), width_(Long(facts.size())) {
    struct Ranked {
      Long key, extent, set, row;
      auto operator<=>(const Ranked&) const = default;
    };
    Vector<Ranked> ranked(keys.size());
    for (Long row = 0; row < keys.size(); row++)
      ranked[row] = {keys[row], facts[EXTENT][row], firsts ? facts[SET][row] : row, row};
    std::sort(ranked.begin(), ranked.end());
    keys_.reserve(ranked.size()), orders_.reserve(ranked.size()), facts_.reserve(ranked.size() * width_);
    for (const Ranked& one : ranked) {
      keys_.push_back(one.key);
      orders_.push_back(orders[one.row]);
      for (const auto& column : facts) facts_.push_back(column[one.row]);
    }
    ends_.resize(ranked.size());
    for (Long i = Long(ranked.size()) - 1, end = i + 1; i >= 0; i--) {
      ends_[i] = end;
      if (!i || std::tie(ranked[i].key, ranked[i].extent, ranked[i].set) !=
                    std::tie(ranked[i - 1].key, ranked[i - 1].extent, ranked[i - 1].set))
        end = i;
    }
  }

  // Returns at most so many of the next links, the lower order on the left. None: all is done.
  std::pair<Vector<Long>, Vector<Long>> next(Long at_most) {
    Vector<Long> left, right;
    left.reserve(at_most), right.reserve(at_most);
    const double share = share_of(threshold_);
    const Longs ends(ends_.data(), ends_.size());
    for (const Long n = Long(keys_.size()); smaller_ < n; smaller_++, larger_ = 0) {
      if (smaller_ >= group_end_)
        for (group_end_ = smaller_; group_end_ < n && keys_[group_end_] == keys_[smaller_];) group_end_++;
      const auto mine = facts(smaller_);
      const bool first = !smaller_ || ends[smaller_ - 1] == smaller_;
      const Long size = mine[EXTENT] >> 32, rest = size - (mine[EXTENT] & LOWER), order = orders_[smaller_], end = group_end_;
      if (rest < least_of(share, 2 * size)) continue;  // the set is the larger one of its pairs, at this member
      Long known = -1, least = 0;
      const auto after = [&](Long member) { return first ? member + 1 : ends[member]; };  // others are linked with firsts alone
      for (Long larger = std::max(larger_, after(smaller_)); larger < end; larger = after(larger)) {
        const auto theirs = facts(larger);
        const Long other = theirs[EXTENT] >> 32;
        if (other != known) least = least_of(share, size + (known = other));
        if (rest < least) break;  // as it is for all that are still larger
        if (other - (theirs[EXTENT] & LOWER) < least || unequal_bits(mine, theirs) > size + other - 2 * least) continue;
        const Long another = orders_[larger];
        if ((order < boundary_ && another < boundary_) || met_before(mine, theirs)) continue;
        if (!(order < another ? first : ends[larger - 1] == larger)) continue;
        if (Long(left.size()) == at_most) {
          larger_ = larger;
          return {std::move(left), std::move(right)};
        }
        left.push_back(std::min(order, another));
        right.push_back(std::max(order, another));
      }
    }
    return {std::move(left), std::move(right)};
  }

 private:
  Longs facts(Long member) const { return {facts_.data() + member * width_, std::size_t(width_)}; }

  static bool met_before(Longs a, Longs b) {
    for (Long i = BEFORE; i < BITS; i++)
      if (a[i] && (a[i] == b[BEFORE] || a[i] == b[BEFORE + 1] || a[i] == b[BEFORE + 2])) return true;
    return false;
  }

  // In how many bits the sets of two members differ: no more than there are members of one set alone.
  static Long unequal_bits(Longs a, Longs b) {
    Long unequal = 0;
    for (Long i = BITS; i < a.size(); i++) unequal += std::popcount(Word(a[i] ^ b[i]));
    return unequal;
  }

  Long boundary_;
  double threshold_;
  Long width_, smaller_ = 0, larger_ = 0, group_end_ = 0;
  Vector<Long> keys_, orders_, facts_;
  Vector<Long> ends_;  // for each member, where the run of equal sets ends that it is in
};

// Rows of upper halves: row i is values[offsets[i]:offsets[i + 1]], made without repeats[i] more hashes.
using Halves = std::tuple<Span<const std::uint32_t>, Longs, Longs>;

// The lowest 16 bits of the entries of a row: 8 KB, which stay in the nearest cache.
class Marks {
 public:
  void mark(Span<const std::uint32_t> entries) {
    for (const std::uint32_t entry : entries_) words_[word_of(entry)] = 0;
    for (const std::uint32_t entry : entries) words_[word_of(entry)] |= Word(1) << (entry & 63);
    entries_ = entries;
  }
  bool has(std::uint32_t entry) const { return words_[word_of(entry)] >> (entry & 63) & 1; }

 private:
  static std::size_t word_of(std::uint32_t entry) { return entry >> 6 & 1023; }
  std::array<Word, 1024> words_ = {};
  Span<const std::uint32_t> entries_;
};

// Tells for each pair of a row of `lefts` and one of `rights` whether their sets may reach a resemblance.
//
// Pairs of one left row that follow each other share a map of the lowest 16 bits of its entries: an entry of a right
// row that is not in the map has no equal, and most pairs are settled by these. The rest is merged.
Vector<std::uint8_t> sift_pairs(Longs left, Longs right, const Halves& lefts, const Halves& rights, double threshold) {
  constexpr Long AT_ONCE = 16;  // entries that are looked up before it is asked whether that will do
  const double share = share_of(threshold), lost = (1.0 - threshold) / (1.0 + threshold);
  Vector<std::uint8_t> may(left.size());
  Marks marks;
  Long marked = -1;
  for (Long pair = 0; pair < left.size(); pair++) {
    const auto row_of = [](const Halves& rows, Long row) {
      const auto& offsets = std::get<1>(rows);
      return std::get<0>(rows).part(offsets[row], offsets[row + 1] - offsets[row]);
    };
    const auto a = row_of(lefts, left[pair]), b = row_of(rights, right[pair]);
    const Long total = a.size() + b.size(), hidden = std::min(std::get<2>(lefts)[left[pair]], std::get<2>(rights)[right[pair]]);
    // The fewest entries in common that will do; a little less, or roundings would leave out pairs exactly at the threshold.
    const Long least = Long(std::ceil(share * double(total) - lost * double(hidden) - 1e-12 * double(total)));
    Long missing = a.size() - least, others = b.size() - least;  // entries that need no equal
    if (marked != left[pair] && pair + 1 < left.size() && left[pair + 1] == left[pair]) {
      marked = left[pair];
      marks.mark(a);
    }
    if (marked == left[pair]) {
      Long spare = others;
      const std::uint32_t* i = b.begin();
      for (; b.end() - i >= AT_ONCE && spare >= 0; i += AT_ONCE)
        for (Long k = 0; k < AT_ONCE; k++) spare -= !marks.has(i[k]);
      for (; i < b.end() && spare >= 0; i++) spare -= !marks.has(*i);
      if (spare < 0) {
        may[pair] = false;
        continue;
      }
    }
    const std::uint32_t *i = a.begin(), *j = b.begin();
    while (i < a.end() && j < b.end() && missing >= 0 && others >= 0) {
      const std::uint32_t x = *i, y = *j;
      i += x <= y;
      j += y <= x;
      missing -= x < y;
      others -= y < x;
    }
    may[pair] = missing >= a.end() - i && others >= b.end() - j;
  }
  return may;
}

// Moves the values of each row that stay to the front; returns the new offsets.
template <class T, class Stays>
Vector<Long> keep_in_rows(Span<T> values, Longs offsets, Stays stays) {
  Vector<Long> made{0};
  Long written = 0;
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    for (Long i = offsets[row]; i < offsets[row + 1]; i++) {
      const T value = values[i];
      values[written] = value;
      written += stays(value);
    }
    made.push_back(written);
  }
  return made;
}

// Values that are dropped from rows; 0 is none of them.
class Dropped {
 public:
  explicit Dropped(Values values)
      : table_(std::bit_ceil(Word(std::max<Long>(64, 4 * values.size())))), places_(Long(table_.size())) {
    for (const Word value : values) table_[places_.find(table_, value)] = value;
  }
  Vector<Long> drop(Span<Word> values, Longs offsets) const {
    return keep_in_rows(values, offsets,
                        [table = table_.data(), places = places_](Word value) { return !table[places.find(table, value)]; });
  }

 private:
  std::vector<Word> table_;
  Places places_;
};

// Drops the numbers that are marked; those beyond the end of the marks are not.
Vector<Long> drop_marked(Span<std::int32_t> numbers, Longs offsets, Span<const bool> marked) {
  return keep_in_rows(numbers, offsets, [marked](std::int32_t number) { return number >= marked.size() || !marked[number]; });
}

// Where the values stand in a table of a size: how they spread is tested.
Vector<Long> table_places(Values values, Long size) {
  const Places places(size);
  Vector<Long> made;
  for (const Word value : values) made.push_back(places(value));
  return made;
}

}  // namespace

void define_filters(nb::module_& m) {
  define(m, "count_members", &count_members);
  define(m, "rank_members", &rank_members);
  define(m, "sift_pairs", &sift_pairs);
  define(m, "drop_marked", &drop_marked);
  define(m, "table_places", &table_places);
  nb::class_<Dropped>(m, "Dropped").def(nb::init<Values>()).def("drop", &Dropped::drop, Unlocked());
  nb::class_<Prefixes>(m, "Prefixes")
      .def(nb::init<Held<Long>, Held<const Long>, Held<const Long>, Span<const std::int32_t>, int, double, bool>(), Unlocked())
      .def("next", &Prefixes::next, Unlocked());
  nb::class_<PrefixLinks>(m, "PrefixLinks")
      .def(nb::init<Longs, Longs, const std::vector<Longs>&, Long, double, bool>(), Unlocked())
      .def("next", &PrefixLinks::next, Unlocked());
}

}  // namespace lookalike
