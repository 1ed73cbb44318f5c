// Candidates: keys of bands, the rows that share one, links of the members of buckets, rare codes, and the cut of links.
#include <algorithm>
#include <array>
#include <bit>
#include "arrays.h"
#include "hash.h"
#include "hash_table.h"

namespace lookalike {

using Codes = Table<const std::uint16_t>;
using Counts = Table<const std::int32_t>;
using Pairs = std::tuple<Vector<Long>, Vector<Long>>;

// Pairs that grow in number.
class Growing {
 public:
  explicit Growing(std::size_t expected = 0) : left_(expected), right_(expected) {}

  // Where the next ones are to be written, at most so many; and that so many were.
  std::pair<Long*, Long*> room(Long more) {
    if (size_ + more > Long(left_.size())) grow(left_, size_ + more), right_.resize(left_.size());
    return {left_.data() + size_, right_.data() + size_};
  }
  void advance(Long by) { size_ += by; }
  void add(Long left, Long right) {
    const auto [to_left, to_right] = room(1);
    *to_left = left;
    *to_right = right;
    advance(1);
  }
  Long size() const { return size_; }
  // The pairs, in little more memory than they need.
  Pairs finished() {
    cut_off(left_, size_);
    cut_off(right_, size_);
    return {std::move(left_), std::move(right_)};
  }

 private:
  Vector<Long> left_, right_;
  Long size_ = 0;
};

// ----------------------------------------------------------------------------------- keys of bands

// A 64-bit key of each band of each document, of what a function makes of both.
template <class StateOf>
static Matrix<Word> keys_of(Long documents, Long bands, StateOf state_of) {
  Matrix<Word> keys(documents, bands);
  Word* out = keys.begin();
  for (Long document = 0; document < documents; document++)
    for (Long band = 0; band < bands; band++) *out++ = fmix64(state_of(document, band));
  return keys;
}

// Keys of bands of `rows` slots; those of different groups are different.
template <class Slot>
static Matrix<Word> band_keys(Table<const Slot> slots, Values groups, Long bands, Long rows) {
  return keys_of(slots.rows(), bands, [&](Long document, Long band) {
    Word state = K0 ^ groups[document];
    for (const Slot slot : slots[document].part(band * rows, rows)) state = mum(state ^ slot, K0 + Word(band));
    return state;
  });
}

// Keys of bands of packed slots. `places` has of each slot word and bit of its first plane, its planes, and the words from one
// plane to the next.
static Matrix<Word> packed_band_keys(Table<const Word> words, Table<const Long> places, Long bands, Long rows) {
  return keys_of(words.rows(), bands, [&](Long document, Long band) {
    const Values own = words[document];
    Word state = K0, code = 0;
    Long used = 0;
    for (Long i = band * rows; i < (band + 1) * rows; i++) {
      const Long first = places[i][0], bit = places[i][1], planes = places[i][2], step = places[i][3];
      if (used + planes > 64) {
        state = mum(state ^ code, K0 + Word(band));
        code = 0;
        used = 0;
      }
      for (Long b = 0; b < planes; b++) code = code << 1 | (own[first + b * step] >> bit & 1);
      used += planes;
    }
    return state ^ code;
  });
}

// Keys of bands, and a 16-bit code of each of their slots; both differ between groups. The two products of a slot do not wait
// for each other, so that the codes cost little beside the keys.
static std::tuple<Matrix<Word>, Matrix<std::uint16_t>> keys_and_codes(Table<const std::uint32_t> slots, Values groups,
                                                                      Long bands, Long rows) {
  Matrix<std::uint16_t> codes(slots.rows(), bands * rows);
  std::uint16_t* code = codes.begin();
  Matrix<Word> keys = keys_of(slots.rows(), bands, [&](Long document, Long band) {
    const Span<const std::uint32_t> own = slots[document];
    const Word group = groups[document];
    Word state = K0 ^ group;
    for (Long i = band * rows; i < (band + 1) * rows; i++) {
      state = mum(state ^ own[i], K0 + Word(band));
      *code++ = std::uint16_t(mum(own[i] ^ group, K0 + Word(i)) >> 48);
    }
    return state;
  });
  return {std::move(keys), std::move(codes)};
}

// --------------------------------------------------------------------------- rows that share a key

// Rows of equal keys, found part by part. Keys are divided by their upper bits, so that a part stays in the nearest cache.
// There an entry is what follows in the key, its lowest bits replaced by the row: it lacks some of the key's lowest bits, and
// rows whose keys differ only there are told apart by the keys.
class EqualKeys {
 public:
  EqualKeys(Table<const Word> keys, Long band)
      : keys_(keys),
        band_(band),
        row_bits_(std::max(1, int(std::bit_width(Word(keys.rows()))))),
        part_bits_(std::max(0, row_bits_ - DIGIT)),
        entries_(keys.rows()),
        ends_(std::size_t(1) << part_bits_, 0),
        places_(1 << DIGIT),
        sorted_(LARGE) {
    const Word mask = (Word(1) << row_bits_) - 1;
    const auto part_of = [this](Word key) { return (key >> 1) >> (63 - part_bits_); };
    for (Long row = 0; row < keys.rows(); row++) ends_[part_of(key(row))]++;
    begin_places(ends_);
    for (Long row = 0; row < keys.rows(); row++)
      entries_[ends_[part_of(key(row))]++] = (key(row) << part_bits_ & ~mask) | Word(row);
  }

  // Visits the ascending rows of each key of the next part that two or more have; returns whether there was a part.
  template <class Visit>
  bool next_part(Visit visit) {
    if (part_ == ends_.size()) return false;
    const Long begin = part_ ? ends_[part_ - 1] : 0;
    const Span<Word> some = sorted(Span<Word>(entries_).part(begin, ends_[part_++] - begin));
    const auto row_of = [mask = (Word(1) << row_bits_) - 1](Word entry) { return Long(entry & mask); };
    for (Word *at = some.begin(), *stop; at < some.end(); at = stop) {
      for (stop = at + 1; stop < some.end() && !((*stop ^ *at) >> row_bits_);) stop++;
      if (stop - at < 2) continue;
      rows_.resize(stop - at);
      std::transform(at, stop, rows_.begin(), row_of);
      if (std::any_of(rows_.begin(), rows_.end(), [&](Long row) { return key(row) != key(rows_[0]); }))
        std::stable_sort(rows_.begin(), rows_.end(), [this](Long a, Long b) { return key(a) < key(b); });
      for (std::size_t from = 0, to; from < rows_.size(); from = to) {
        for (to = from + 1; to < rows_.size() && key(rows_[to]) == key(rows_[from]);) to++;
        if (to - from > 1) visit(Longs(rows_.data() + from, to - from));
      }
    }
    return true;
  }

 private:
  static constexpr int DIGIT = 12;  // bits; as many rows are the mean of a part
  static constexpr Long LARGE = 16 << DIGIT;

  Word key(Long row) const { return keys_[row][band_]; }
  static void begin_places(Span<Long> counts) {
    Long sum = 0;
    for (Long& count : counts) sum += std::exchange(count, sum);
  }

  Span<Word> sorted(Span<Word> part) {
    if (part.size() > LARGE) {
      if (!std::is_sorted(part.begin(), part.end())) std::sort(part.begin(), part.end());
      return part;
    }
    const auto digit = [](Word entry) { return entry >> (64 - DIGIT); };
    std::fill(places_.begin(), places_.end(), 0);
    for (const Word entry : part) places_[digit(entry)]++;
    begin_places(places_);
    for (const Word entry : part) sorted_[places_[digit(entry)]++] = entry;
    const Span<Word> out = Span<Word>(sorted_).part(0, part.size());
    Long begin = 0;
    for (const Long end : places_) {  // hardly ever more than one entry, but those of equal keys, which are in order
      const Span<Word> some = out.part(begin, end - begin);
      if (end - begin > 1 && !std::is_sorted(some.begin(), some.end())) std::sort(some.begin(), some.end());
      begin = end;
    }
    return out;
  }

  const Table<const Word> keys_;
  const Long band_;
  const int row_bits_, part_bits_;
  Vector<Word> entries_;
  Vector<Long> ends_, places_;
  Vector<Word> sorted_;
  Vector<Long> rows_;
  std::size_t part_ = 0;
};

// The pairs of rows that share a key of a band, left < right, but those that share one of an earlier band.
static Pairs band_pairs(Table<const Word> keys, Long band) {
  Growing found;
  EqualKeys groups(keys, band);
  const auto link = [&](Longs rows) {
    for (Long j = 1; j < rows.size(); j++) {
      const Values b = keys[rows[j]];
      const auto [left, right] = found.room(j);
      Long made = 0;
      for (Long i = 0; i < j; i++) {
        const Values a = keys[rows[i]];
        Long first = 0;
        while (first < band && a[first] != b[first]) first++;
        left[made] = rows[i];
        right[made] = rows[j];
        made += first == band;
      }
      found.advance(made);
    }
  };
  while (groups.next_part(link)) {}
  return found.finished();
}

// Rows of equal keys, group after group, for Python.
class KeyGroups {
 public:
  explicit KeyGroups(Held<const Word> keys) : keys_(keys), groups_({keys.begin(), std::size_t(keys.size()), 1}, 0) {}

  // The rows of the next groups of two or more, about so many; none: that is all.
  Vector<Long> next(Long most) {
    Vector<Long> out;
    const auto add = [&](Longs rows) { out.insert(out.end(), rows.begin(), rows.end()); };
    while (Long(out.size()) < most && groups_.next_part(add)) {}
    return out;
  }

 private:
  const Held<const Word> keys_;
  EqualKeys groups_;
};

// Leaves out numbers that came before, those that a table still has: what repeats often is not worth sorting.
static Span<Long> without_repeats(Span<Long> values) {
  const Word size = std::bit_ceil(Word(values.size() / 4 + 2));
  const Places places{Long(size)};
  Vector<Long> latest(size, values.size() ? values[0] : 0);
  Long kept = std::min<Long>(values.size(), 1);
  for (Long i = 1; i < values.size(); i++) {
    const Long value = values[kept] = values[i];
    kept += std::exchange(latest[places(Word(value))], value) != value;
  }
  return values.part(0, kept);
}

// Sorts numbers by digits of those bits that differ anywhere; returns how many are distinct, which then come first.
static Long sort_distinct(Span<Long> all) {
  constexpr int DIGIT = 11;
  const Span<Long> values = without_repeats(all);
  Word differing = 0;
  for (const Long value : values) differing |= Word(value ^ values[0]);
  Vector<Long> held(values.size()), places(1 << DIGIT);
  Span<Long> from = values, to = held;
  while (differing) {
    const int lowest = std::countr_zero(differing);
    const Word last = lowest + DIGIT > 63 ? Word(1) << (63 - lowest) : 0;  // the sign: numbers below 0 come first
    const auto digit = [=](Long value) { return ((Word(value) >> lowest) ^ last) & ((1 << DIGIT) - 1); };
    places.assign(places.size(), 0);
    for (const Long value : from) places[digit(value)]++;
    Long sum = 0;
    for (Long& count : places) sum += std::exchange(count, sum);
    for (const Long value : from) to[places[digit(value)]++] = value;
    std::swap(from, to);
    differing = differing >> lowest >> DIGIT << DIGIT << lowest;
  }
  if (from.begin() != values.begin()) std::copy(from.begin(), from.end(), values.begin());
  return std::unique(values.begin(), values.end()) - values.begin();
}

// The root of a row, the smallest of its component; on the way every second parent is shortened.
static Long find_root(Span<Long> parents, Long row) {
  for (; parents[row] != row; row = parents[row]) parents[row] = parents[parents[row]];
  return row;
}

// Brings the two rows of each pair into one component.
static void join_pairs(Longs left, Longs right, Span<Long> parents) {
  for (Long pair = 0; pair < left.size(); pair++) {
    const Long a = find_root(parents, left[pair]), b = find_root(parents, right[pair]);
    parents[std::max(a, b)] = std::min(a, b);
  }
}

// Replaces each row's parent, which is never larger than the row, by the root of its component.
static void find_roots(Span<Long> parents) {
  for (Long& parent : parents) parent = parents[parent];
}

// --------------------------------------------------------------------------------- links of groups

// Words of 16 nibbles each that hold those of some slots.
static Long nibble_words(Long slots) { return (slots + 15) / 16; }

// In how many of some slots nibbles are equal.
static Long equal_nibbles(Bytes a, Bytes b, Long slots) {
  Long same = slots;
  for (Long word = 0; word < nibble_words(slots); word++) {
    Word x = load64(a + 8 * word) ^ load64(b + 8 * word);
    x |= x >> 1;
    x |= x >> 2;
    same -= std::popcount(x & 0x1111111111111111);
  }
  return same;
}

// With whom a member of a group is linked: the first `near` members, and those after `skipped` more, `count` together; and
// perhaps with itself.
struct Partners {
  Long near, skipped, count;
  bool itself;
};

// Links of the members of groups with earlier members. Groups come in pieces, of equal keys that follow each other, and links
// go in portions of at most so many. A group holds orders, ascending, so that references, those below a boundary, come first. A
// rule has
//   bool grow(group, begin, end)     called when these rows came to the group; whether members can be linked at once
//   Partners partners(group, member)
//   void trim(group)                 leaves those members that later ones may be linked with
//   void clear()                     called when a group is done with
template <class Rule>
class GroupLinks {
 public:
  template <class... Of>
  explicit GroupLinks(Of... of) : rule{of...} {}

  // Goes on with the next piece, once the links of the one before were fetched.
  void add(Held<const Long> keys, Held<const Long> orders) {
    keys_ = std::move(keys);
    orders_ = std::move(orders);
    row_ = 0;
  }
  void end() {
    ended_ = true;
    add({}, {});
  }

  // From now on two are linked only if `least` of some slots agree in their nibbles, which each order has a row of.
  void compare(Held<const Word> nibbles, Long slots, Long least) {
    nibbles_ = std::move(nibbles);
    slots_ = slots;
    least_ = least;
  }

  // The next links of what was added, at most so many; no link: these were all.
  Pairs next(Long most) {
    Growing out(std::min(expected_, most));
    while (out.size() < most && (linkable_ ? link(out, most) : take())) {}
    if (out.size()) expected_ = out.size();
    return out.finished();
  }

  Rule rule;

 private:
  // Takes what the piece has of a group; returns whether there was anything.
  bool take() {
    const Longs keys = keys_;
    const Long begin = row_;
    if (begin == keys.size() && !(ended_ && open_)) return false;
    if (open_ && (begin == keys.size() || keys[begin] != key_)) {
      complete_ = linkable_ = true;
      return true;
    }
    key_ = keys[begin];
    do row_++;
    while (row_ < keys.size() && keys[row_] == key_);
    complete_ = row_ < keys.size();
    if (complete_ && row_ - begin == 1 && !open_) return true;  // it is alone
    open_ = true;
    const Longs orders = orders_, more = orders.part(begin, row_ - begin);
    for (Long at = begin + AHEAD; least_ && at < std::min(row_ + AHEAD, orders.size()); at++)
      __builtin_prefetch(row(orders[at]));
    append(group_, more.begin(), more.end());
    linkable_ = rule.grow(group_, begin, row_) || complete_;
    return true;
  }

  // Links members of the group until all are, or the portion is full.
  bool link(Growing& out, Long most) {
    for (; member_ < Long(group_.size()); member_++, partner_ = 0) {
      const auto [near, skipped, count, itself] = rule.partners(group_, member_);
      const Long total = count + itself, end = std::min(total, partner_ + most - out.size());
      const auto [left, right] = out.room(end - partner_);
      const Long* const group = group_.data();
      Long made = 0;
      for (; partner_ < end; partner_++) {
        left[made] = partner_ < near ? group[partner_] : partner_ < count ? group[partner_ + skipped] : group[member_];
        right[made] = group[member_];
        made += !least_ || agree(left[made], right[made]);
      }
      out.advance(made);
      if (end < total) return true;
    }
    linkable_ = false;
    open_ = !complete_;
    if (complete_) {
      group_.clear();
      rule.clear();
    } else {
      rule.trim(group_);
    }
    member_ = group_.size();
    return true;
  }

  bool agree(Long one, Long other) const { return equal_nibbles(row(one), row(other), slots_) >= least_; }
  Bytes row(Long order) const { return Bytes(nibbles_.part(order * nibble_words(slots_), nibble_words(slots_)).begin()); }

  Held<const Long> keys_, orders_;
  static constexpr Long AHEAD = 32;  // rows of nibbles that are fetched meanwhile
  Held<const Word> nibbles_;
  Long slots_ = 0, least_ = 0;
  Vector<Long> group_;
  Long row_ = 0, key_ = 0, member_ = 0, partner_ = 0;                        // the next row, and what is linked next
  Long expected_ = 0;                                                        // as many links as the portion before had
  bool open_ = false, linkable_ = false, complete_ = false, ended_ = false;  // open: the piece before had some of the group
};

constexpr Long NO_CROWDS = INT64_MAX;

// Of a small bucket all pairs but those of two references. One of more than `crowd` members is a crowd, of which the first
// `heads` references and the first others are linked with all after them, and each member with itself.
struct BucketRule {
  const Long crowd, heads, boundary;
  Long references = 0;
  bool crowded = false;

  bool grow(Longs group, Long, Long) {
    while (references < group.size() && group[references] < boundary) references++;
    crowded |= group.size() > crowd;
    return crowded || crowd == NO_CROWDS;
  }
  Partners partners(Longs, Long member) const {
    if (member < references) return {0, 0, 0, crowded};
    if (!crowded) return {member, 0, member, false};
    const Long near = std::min(references, heads);
    return {near, references - near, near + std::min(member - references, heads), true};
  }
  void trim(Vector<Long>& group) {
    if (!crowded) return;
    const Long kept = std::min(references, heads);
    group.resize(std::min(Long(group.size()), references + heads));
    group.erase(group.begin() + kept, group.begin() + references);
    references = kept;
  }
  void clear() {
    references = 0;
    crowded = false;
  }
};
using BucketLinks = GroupLinks<BucketRule>;

// Each holder of a code with earlier ones: with all if the code is within its budget, else with the first `heads`; references
// with none. The first `kept` holders of a code that goes on are kept. `added`: whether the code of each row of the piece is
// within.
struct HolderRule {
  const Long heads, boundary, kept;
  Held<const bool> added = {};
  Vector<std::uint8_t> within = {};

  bool grow(Longs, Long begin, Long end) {
    const Span<const bool> more = added.part(begin, end - begin);
    within.insert(within.end(), more.begin(), more.end());
    return true;
  }
  Partners partners(Longs group, Long member) const {
    const Long count = group[member] < boundary ? 0 : within[member] ? member : std::min(member, heads);
    return {count, 0, count, false};
  }
  void trim(Vector<Long>& group) {
    group.resize(std::min(Long(group.size()), kept));
    within.resize(group.size());
  }
  void clear() { within.clear(); }
};
using HolderLinks = GroupLinks<HolderRule>;

// Links of the members of two groups each, but those of two references: group i has the orders from `offsets[i]` on, ascending.
class CrossLinks {
 public:
  CrossLinks(Held<const Long> orders, Held<const Long> offsets, Held<const Long> first, Held<const Long> second, Long boundary)
      : orders_(orders), offsets_(offsets), first_(first), second_(second), boundary_(boundary) {}

  // The next links, at most so many.
  Pairs next(Long most) {
    Growing out;
    const auto members = [&](Long group) { return orders_.part(offsets_[group], offsets_[group + 1] - offsets_[group]); };
    for (; pair_ < first_.size(); pair_++, i_ = 0) {
      const Longs ours = members(first_[pair_]), theirs = members(second_[pair_]);
      for (; i_ < ours.size(); i_++, j_ = 0) {
        const Long a = ours[i_];
        if (a < boundary_) j_ = std::max<Long>(j_, std::lower_bound(theirs.begin(), theirs.end(), boundary_) - theirs.begin());
        for (; j_ < theirs.size(); j_++) {
          if (out.size() == most) return out.finished();
          out.add(std::min(a, theirs[j_]), std::max(a, theirs[j_]));
        }
      }
    }
    return out.finished();
  }

 private:
  const Held<const Long> orders_, offsets_, first_, second_;
  const Long boundary_;
  Long pair_ = 0, i_ = 0, j_ = 0;
};

// -------------------------------------------------------------------------------------- rare codes

// Adds the codes of each row to a table of counts, slot by slot: a slot's counts stay in a cache.
static void count_codes(Codes codes, Table<std::int32_t> counts) {
  for (Long slot = 0; slot < codes.columns(); slot++) {
    const Span<std::int32_t> own = counts[slot];
    const std::uint16_t* code = codes.begin() + slot;
    Long row = 0;
    for (; row + 4 <= codes.rows(); row += 4, code += 4 * codes.columns()) {
      const Long a = code[0], b = code[codes.columns()], c = code[2 * codes.columns()], d = code[3 * codes.columns()];
      own[a]++;
      own[b]++;
      own[c]++;
      own[d]++;
    }
    for (; row < codes.rows(); row++) own[codes[row][slot]]++;
  }
}

// The codes of a row with the smallest counts from 2 on.
class RarestCodes {
 public:
  RarestCodes(Counts counts, Long chosen) : counts_(counts), own_(counts.rows()), best_(chosen) {}

  // Looks up the counts of the codes of a row, all at once: most are in no cache.
  Span<const std::int32_t> look(Span<const std::uint16_t> codes) {
    for (Long slot = 0; slot < codes.size(); slot++) own_[slot] = counts_[slot][codes[slot]];
    return {own_.data(), own_.size()};
  }

  // Those of a count of at most `most`: (count << 20 | slot), ascending.
  Longs up_to(Long most) {
    std::size_t used = 0;
    for (std::size_t slot = 0; slot < own_.size(); slot++) {
      const Long count = own_[slot], entry = count << 20 | Long(slot);
      if (count < 2 || count > most || (used == best_.size() && (!used || entry >= best_[used - 1]))) continue;
      if (used < best_.size()) used++;
      std::size_t place = used - 1;
      for (; place > 0 && best_[place - 1] > entry; place--) best_[place] = best_[place - 1];
      best_[place] = entry;
    }
    return {best_.data(), used};
  }
  static Long slot(Long entry) { return entry & 0xFFFFF; }
  static Long count(Long entry) { return entry >> 20; }

 private:
  Counts counts_;
  Vector<std::int32_t> own_;
  Vector<Long> best_;
};

// The codes that each row holds, the rarest first: (code, order, count, whether it is within the budget).
static std::tuple<Vector<Long>, Vector<Long>, Vector<Long>, Vector<std::uint8_t>> choose_codes(Codes codes, Longs orders,
                                                                                               Counts counts, Long chosen,
                                                                                               Long budget) {
  Vector<Long> keys, holders, sizes;
  Vector<std::uint8_t> within;
  RarestCodes rarest(counts, chosen);
  for (Long row = 0; row < codes.rows(); row++) {
    Long spent = 0;
    rarest.look(codes[row]);
    for (const Long entry : rarest.up_to(INT64_MAX)) {
      const Long slot = rarest.slot(entry), count = rarest.count(entry);
      spent += count;
      keys.push_back(slot << 16 | codes[row][slot]);
      holders.push_back(orders[row]);
      sizes.push_back(count);
      within.push_back(spent <= budget);
    }
  }
  return {std::move(keys), std::move(holders), std::move(sizes), std::move(within)};
}

// Couples of the codes of each row: (32 bits of a hash, order). Those of the first `chosen` codes that are within the budget
// enter none, nor does one of a count above `most`; `taken` of the others do.
static Pairs choose_couples(Codes codes, Longs orders, Counts counts, Long chosen, Long budget, Long taken, Long most) {
  Growing found;
  RarestCodes rarest(counts, chosen + taken);
  for (Long row = 0; row < codes.rows(); row++) {
    rarest.look(codes[row]);
    const Longs best = rarest.up_to(std::max(most, budget));  // no other code matters
    Long begin = 0, spent = 0;
    for (; begin < std::min(best.size(), chosen) && spent + rarest.count(best[begin]) <= budget; begin++)
      spent += rarest.count(best[begin]);
    Long end = begin;
    while (end < std::min(best.size(), begin + taken) && rarest.count(best[end]) <= most) end++;
    for (Long i = begin; i < end; i++) {
      for (Long j = begin; j < end; j++) {
        const Word first = rarest.slot(best[i]), second = rarest.slot(best[j]);
        if (first >= second) continue;
        const Word couple = (first << 16 | codes[row][first]) << 32 | second << 16 | codes[row][second];
        found.add(Long(mum(couple, K0) >> 32), orders[row]);
      }
    }
  }
  return found.finished();
}

// Which codes of each row are single or within its budget, and which bands may be crowds: those of more than `most` members, so
// that each code of the band is in as many rows.
static std::tuple<Matrix<std::uint8_t>, Matrix<std::uint8_t>> mark_own(Codes codes, Counts counts, Long bands, Long chosen,
                                                                       Long budget, Long most) {
  const Long slots = counts.rows(), rows = slots / bands;
  Matrix<std::uint8_t> own(codes.rows(), slots), crowded(codes.rows(), bands);
  RarestCodes rarest(counts, chosen);
  for (Long document = 0; document < codes.rows(); document++) {
    const Span<std::uint8_t> mine = own[document];
    const Span<const std::int32_t> found = rarest.look(codes[document]);
    for (Long band = 0; band < bands; band++) {
      bool all = true;
      for (Long slot = band * rows; slot < (band + 1) * rows; slot++) {
        mine[slot] = found[slot] < 2;
        all &= found[slot] > most;
      }
      crowded[document][band] = all;
    }
    Long spent = 0;
    for (const Long entry : rarest.up_to(budget)) {
      spent += rarest.count(entry);
      if (spent <= budget) mine[rarest.slot(entry)] = 1;
    }
  }
  return {std::move(own), std::move(crowded)};
}

// ------------------------------------------------------------------------------------ cut of links

// The nibbles of each row, the lowest four bits of its codes: that of slot i at bit 4 (i mod 16) of word i / 16.
static Matrix<Word> pack_nibbles(Codes codes) {
  Matrix<Word> out(codes.rows(), nibble_words(codes.columns()));
  Word* to = out.begin();
  for (Long row = 0; row < codes.rows(); row++) {
    const Span<const std::uint16_t> own = codes[row];
    for (Long first = 0; first < own.size(); first += 16) {
      Word packed = 0;
      for (Long slot = std::min(own.size(), first + 16); slot-- > first;) packed = packed << 4 | (own[slot] & 15);
      *to++ = packed;
    }
  }
  return out;
}

// The bytes of both documents of each pair: a flat array, and where in it those of a pair begin.
using Sides = std::tuple<Data, Longs, Data, Longs>;

// The pairs that stay: none that is the one before, `before` at first, or of one document, or of two references, or whose
// `withins`, of so many bytes, differ, or of whose nibbles fewer than `least` agree. Without slots, or bytes, these are not
// compared.
static Pairs cut_pairs(Longs left, Longs right, std::pair<Long, Long> before, Long boundary, Sides withins, Long bytes,
                       Sides codes, Long slots, Long least) {
  const auto [left_withins, left_within, right_withins, right_within] = withins;
  const auto [left_codes, left_code, right_codes, right_code] = codes;
  const Long width = 8 * nibble_words(slots);
  Growing found;
  auto [to_left, to_right] = found.room(left.size());
  for (Long pair = 0; pair < left.size(); pair++) {
    const auto now = std::pair(left[pair], right[pair]);
    if (std::exchange(before, now) == now || now.first == now.second || now.second < boundary) continue;
    if (bytes && std::memcmp(left_withins.part(left_within[pair], bytes).begin(),
                             right_withins.part(right_within[pair], bytes).begin(), bytes))
      continue;
    if (slots) {
      const Bytes a = left_codes.part(left_code[pair], width).begin(), b = right_codes.part(right_code[pair], width).begin();
      if (equal_nibbles(a, b, slots) < least) continue;
    }
    *to_left++ = now.first;
    *to_right++ = now.second;
  }
  found.advance(to_left - found.room(0).first);
  return found.finished();
}

void define_candidates(nb::module_& m) {
  define(m, "band_keys", &band_keys<std::uint32_t>);
  define(m, "band_keys", &band_keys<std::uint64_t>);
  define(m, "packed_band_keys", &packed_band_keys);
  define(m, "keys_and_codes", &keys_and_codes);
  define(m, "sort_distinct", &sort_distinct);
  define(m, "band_pairs", &band_pairs);
  define(m, "join_pairs", &join_pairs);
  define(m, "find_roots", &find_roots);
  define(m, "count_codes", &count_codes);
  define(m, "choose_codes", &choose_codes);
  define(m, "choose_couples", &choose_couples);
  define(m, "mark_own", &mark_own);
  define(m, "pack_nibbles", &pack_nibbles);
  define(m, "cut_pairs", &cut_pairs);
  using Array = Held<const Long>;
  nb::class_<KeyGroups>(m, "KeyGroups").def(nb::init<Held<const Word>>(), Unlocked()).def("next", &KeyGroups::next, Unlocked());
  nb::class_<BucketLinks>(m, "BucketLinks")
      .def(nb::init<Long, Long, Long>())
      .def("add", &BucketLinks::add)
      .def("end", &BucketLinks::end)
      .def("compare", &BucketLinks::compare)
      .def("next", &BucketLinks::next, Unlocked());
  nb::class_<HolderLinks>(m, "HolderLinks")
      .def(nb::init<Long, Long, Long>())
      .def("add",
           [](HolderLinks& links, Array codes, Array orders, Held<const bool> within) {
             links.rule.added = std::move(within);
             links.add(std::move(codes), std::move(orders));
           })
      .def("compare", &HolderLinks::compare)
      .def("next", &HolderLinks::next, Unlocked());
  nb::class_<CrossLinks>(m, "CrossLinks")
      .def(nb::init<Array, Array, Array, Array, Long>())
      .def("next", &CrossLinks::next, Unlocked());
}

}  // namespace lookalike
