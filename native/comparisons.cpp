// Rows of a group of documents in the form in which they are compared, their exact scores, and the greedy walk.
//
// Shingles are numbered by first appearance, so that near-duplicates number common ones alike and densely. A set is a
// sparse bit map (ascending block numbers, 64 bits each: a pair costs one AND and one population count a block), a
// vector ascending numbers and their counts.
#include <algorithm>
#include <bit>
#include <cmath>
#include "arrays.h"
#include "hash.h"
#include "hash_table.h"
#include "known_text.h"

namespace lookalike {
namespace {

// Numbers values by first appearance. In near-duplicates the same value mostly follows again: that is looked at first.
class ValueNumbers {
 public:
  void number(Span<const Word> values, Span<std::int32_t> out) {
    if (entries_.empty()) lay_out(std::bit_ceil(Word(std::clamp<std::int64_t>(2 * values.size(), 64, 1 << 12))));
    std::int64_t expected = 0;
    for (std::int64_t i = 0; i < values.size(); i++) {
      if (0 < expected && expected < i && values[expected] == values[i]) {
        out[i] = out[expected++];
      } else {
        out[i] = find_or_insert(values[i]);
        expected = after_[out[i]];
      }
      after_[out[i]] = std::int32_t(i + 1);
    }
  }

 private:
  static constexpr std::size_t LARGE = 1 << 20;  // entries from which on a table is doubled, no more

  struct Entry {
    Word value;
    std::uint32_t number;  // from 1 on; 0: free
  };

  std::int32_t find_or_insert(Word value) {
    if (2 * after_.size() >= entries_.size()) lay_out((entries_.size() < LARGE ? 4 : 2) * entries_.size());
    Entry& entry = entry_of(value);
    if (!entry.number) {
      after_.push_back(0);
      entry = {value, std::uint32_t(after_.size())};
    }
    return std::int32_t(entry.number - 1);
  }

  // The entry of a value, or the free one where it belongs.
  Entry& entry_of(Word value) {
    std::size_t place = places_(value);
    while (entries_[place].number && entries_[place].value != value) place = (place + 1) & (entries_.size() - 1);
    return entries_[place];
  }

  void lay_out(std::size_t size) {
    if (size > Word(1) << 32) throw std::length_error("there are too many different values to number them");
    Vector<Entry> others;
    others.assign(size, Entry());
    entries_.swap(others);
    places_ = Places(std::int64_t(size));
    for (const Entry& entry : others)
      if (entry.number) entry_of(entry.value) = entry;
  }

  Vector<Entry> entries_;
  Vector<std::int32_t> after_;  // for each number, the place in the values behind its last one, of these or earlier ones
  Places places_;
};

enum Kind : std::int64_t { JACCARD = 0, COSINE = -1, FINGERPRINTS = -2, CONTAINMENT = -3, OVERLAP = -4 };

// Rows of a group: row i has the places from offsets[i] to offsets[i + 1] of blocks and words.
//
// kind          size                      blocks             words               score
// JACCARD       members                   ascending blocks   64 members each     common members / members of both
// CONTAINMENT   members                   ascending blocks   64 members each     common members / members of the second row
// OVERLAP       members                   ascending blocks   64 members each     common members / members of the smaller row
// slots > 0     slots                     none               two slots each      equal slots / slots
// COSINE        sum of squared counts, p  ascending numbers  counts              dot product / sqrt(p q)
// FINGERPRINTS  1                         none               the bits            scores[differing bits]
//
// Rows of CONTAINMENT and OVERLAP have a score only if common members / members of both are at least the floor.
class Rows {
 public:
  Rows(std::int64_t kind, double floor) : kind_(kind), floor_(floor) {}

  // Takes rows that are ready.
  Rows(std::int64_t kind, Span<const std::int64_t> sizes, Span<const std::int64_t> offsets, Span<const std::int32_t> blocks,
       Span<const Word> words, Span<const double> scores)
      : kind_(kind),
        scores_(scores.begin(), scores.end()),
        sizes_(sizes.begin(), sizes.end()),
        offsets_(offsets.begin(), offsets.end()),
        blocks_(blocks.begin(), blocks.end()),
        words_(words.begin(), words.end()) {}

  // Adds rows of any values.
  void add(Span<const Word> values, Span<const std::int64_t> offsets) {
    Vector<std::int32_t> numbers(values.size());
    of_values_.number(values, numbers);
    add_numbers(numbers, offsets);
  }

  // Adds rows of numbers from 0 on, with repeats.
  void add_numbers(Span<const std::int32_t> numbers, Span<const std::int64_t> offsets) {
    if (kind_ == COSINE && words_.empty()) words_.reserve(numbers.size()), blocks_.reserve(numbers.size());
    std::uint32_t last = 0;
    for (const std::int32_t number : numbers) last = std::max(last, std::uint32_t(number));
    if (last > INT32_MAX) throw std::out_of_range("a number is below 0");
    make_seen(kind_ == COSINE ? last : last >> 6);
    for (std::int64_t row = 0; row + 1 < offsets.size(); row++) {
      const auto some = numbers.part(offsets[row], offsets[row + 1] - offsets[row]);
      if (kind_ == COSINE) count_features(some);
      else pack_members(some);
    }
  }

  // Adds rows of texts, whose shingles are numbered by known text. Sets have the places at which shingles were new as members:
  // those of a run of known text mostly follow each other, and are added 64 at a time.
  void add_texts(KnownText& known, Data data, Longs offsets, int flags, const Characters& characters, const Forms& forms) {
    if (kind_ == COSINE) {
      auto [numbers, bounds] = known.number(data, offsets, flags, characters, forms);
      return add_numbers(numbers, bounds);
    }
    struct Members {
      Rows& rows;
      const KnownText& known;
      std::int32_t number(Long place) const { return std::int32_t(place); }
      void add(Long place, Long count) {
        const Long end = place + count;
        rows.make_seen(end >> 6);
        for (Long stop; place < end; place = stop) {
          const Long block = place >> 6;
          stop = std::min(end, (block + 1) << 6);
          const Word wanted = ~Word(0) << (place & 63) & ~Word(0) >> (-stop & 63), fresh = known.new_places(block) & wanted;
          if (fresh) rows.add_members(block, fresh);
          for (Word others = wanted & ~fresh; others; others &= others - 1) {
            const std::int32_t member = known.number_at(block << 6 | std::countr_zero(others));
            rows.add_members(member >> 6, Word(1) << (member & 63));
          }
        }
      }
      void end_text() { rows.end_set(); }
    } sink{*this, known};
    known.read(data, offsets, flags, characters, forms, sink);
  }

  // Lets go of what is needed only as long as rows are added.
  void close() {
    of_values_ = {};
    seen_ = {};
    touched_ = {};
  }

  std::int64_t size() const { return std::int64_t(sizes_.size()); }

  // Scores of pairs of rows; -1 where the sizes alone rule out the threshold.
  Vector<double> compare(Span<const std::int64_t> left, Span<const std::int64_t> right, double threshold) const {
    Vector<double> scores(left.size());
    for (std::int64_t pair = 0; pair < left.size(); pair++) scores[pair] = score(left[pair], right[pair], threshold);
    return scores;
  }

  // The greedy walk: a document is removed if and only if an earlier kept one matches it. Compares each row with its partners
  // that are kept, or with `all_pairs` also with removed ones, bundle after bundle; returns the matches: left, right, score.
  // Bundle i has the rows from bounds[i] to bounds[i + 1], ascending in orders; partners are orders of rows before in the
  // bundle. Orders below the boundary are references: kept, not compared with each other.
  std::tuple<Vector<std::int64_t>, Vector<std::int64_t>, Vector<double>> walk(
      Span<const std::int64_t> bounds, Span<const std::int64_t> orders, Span<const std::int64_t> partner_offsets,
      Span<const std::int64_t> partners, std::int64_t boundary, double threshold, bool all_pairs) const {
    Vector<std::int64_t> left, right;
    Vector<double> scores;
    std::vector<bool> removed(orders.size());
    for (std::int64_t bundle = 0; bundle + 1 < bounds.size(); bundle++) {
      const std::int64_t begin = bounds[bundle];
      for (std::int64_t row = begin; row < bounds[bundle + 1]; row++) {
        if (orders[row] < boundary) continue;
        const auto before = orders.part(begin, row - begin);
        for (std::int64_t p = partner_offsets[row]; p < partner_offsets[row + 1]; p++) {
          const auto* place = std::lower_bound(before.begin(), before.end(), partners[p]);
          if (place == before.end() || *place != partners[p]) throw std::logic_error("a partner is not in the bundle");
          const std::int64_t other = place - orders.begin();
          if (removed[other] && !all_pairs) continue;
          const double found = score(other, row, threshold);
          if (!(found >= threshold)) continue;
          left.push_back(orders[other]);
          right.push_back(orders[row]);
          scores.push_back(found);
          if (!removed[other]) removed[row] = true;
        }
      }
    }
    return {std::move(left), std::move(right), std::move(scores)};
  }

 private:
  void pack_members(Span<const std::int32_t> numbers) {
    for (const std::int32_t number : numbers) add_members(number >> 6, Word(1) << (number & 63));
    end_set();
  }

  void make_seen(std::size_t last) {
    if (seen_.size() <= last) seen_.resize(std::max(2 * seen_.size(), last + 1), 0);
  }

  // Adds members of a block to the row that is read.
  void add_members(std::int64_t block, Word members) {
    if (!seen_[block]) touched_.push_back(std::int32_t(block));
    seen_[block] |= members;
  }
  void end_set() {
    end_row([](Word members) { return Word(std::popcount(members)); });
  }

  // Sums are exact up to 3 * 10^9 numbers in a row.
  void count_features(Span<const std::int32_t> numbers) {
    for (const std::int32_t number : numbers)
      if (!seen_[number]++) touched_.push_back(number);
    end_row([](Word count) { return count * count; });
  }

  // Moves what was seen to the end of the rows, ascending.
  template <class SizeOf>
  void end_row(SizeOf size_of) {
    if (!std::is_sorted(touched_.begin(), touched_.end())) std::sort(touched_.begin(), touched_.end());
    append(blocks_, touched_.data(), touched_.data() + touched_.size());
    Word size = 0;
    for (const std::int32_t block : touched_) {
      words_.push_back(std::exchange(seen_[block], 0));
      size += size_of(words_.back());
    }
    touched_.clear();
    sizes_.push_back(std::int64_t(size));
    offsets_.push_back(std::int64_t(blocks_.size()));
  }

  // Adds up what `of_words` makes of the words of blocks, or numbers, that two rows have in common.
  template <class OfWords>
  Word sum_common(std::int64_t a, std::int64_t b, OfWords of_words) const {
    std::int64_t i = offsets_[a], j = offsets_[b];
    const std::int64_t i_end = offsets_[a + 1], j_end = offsets_[b + 1];
    Word total = 0;
    while (i < i_end && j < j_end) {
      if (blocks_[i] == blocks_[j]) total += of_words(words_[i++], words_[j++]);
      else if (blocks_[i] < blocks_[j]) i++;
      else j++;
    }
    return total;
  }

  double intersection(std::int64_t a, std::int64_t b) const {
    return double(sum_common(a, b, [](Word x, Word y) { return Word(std::popcount(x & y)); }));
  }

  // The root of a cosine is taken of one product in float64. So parallel vectors have a cosine of 1 and no cosine is
  // above it, as long as sums of squares are below 2^53 (each is rounded once beyond).
  double score(std::int64_t a, std::int64_t b, double threshold) const {
    check(0 <= a && a < size() && 0 <= b && b < size());
    if (kind_ == COSINE) {
      if (!sizes_[a] || !sizes_[b]) return -1.0;
      const Word dot_product = sum_common(a, b, [](Word x, Word y) { return x * y; });
      return double(dot_product) / std::sqrt(double(sizes_[a]) * double(sizes_[b]));
    }
    if (kind_ == FINGERPRINTS) {
      std::int64_t differing = 0;
      for (std::int64_t i = offsets_[a], j = offsets_[b]; i < offsets_[a + 1]; i++, j++)
        differing += std::popcount(words_[i] ^ words_[j]);
      return scores_[differing];
    }
    if (kind_ > 0) {
      std::int64_t equal = -(kind_ % 2);  // half of the last word is no slot
      for (std::int64_t i = offsets_[a], j = offsets_[b]; i < offsets_[a + 1]; i++, j++) {
        const Word differing = words_[i] ^ words_[j];
        equal += !std::uint32_t(differing) + !(differing >> 32);
      }
      return double(equal) / double(kind_);
    }
    const auto smaller = double(std::min(sizes_[a], sizes_[b])), larger = double(std::max(sizes_[a], sizes_[b]));
    if (kind_ <= CONTAINMENT) {
      const double whole = kind_ == CONTAINMENT ? double(sizes_[b]) : smaller;
      if (smaller == 0 || smaller / whole < threshold || smaller / larger < floor_) return -1.0;
      const double common = intersection(a, b);
      return common / (smaller + larger - common) >= floor_ ? common / whole : -1.0;
    }
    if (larger == 0 || smaller / larger < threshold) return -1.0;
    const double common = intersection(a, b);
    return common / (smaller + larger - common);
  }

  std::int64_t kind_;
  double floor_ = 0.0;
  Vector<double> scores_;
  Vector<std::int64_t> sizes_, offsets_{0};
  Vector<std::int32_t> blocks_;
  Vector<Word> words_;
  ValueNumbers of_values_;
  Vector<Word> seen_;  // zeros between rows: a word for each block, or a count for each number
  std::vector<std::int32_t> touched_;
};

// Tells which matches, left < right and sorted by right, have a kept left; matches come in as many parts as one
// likes. References, orders below the boundary, are never removed.
class Resolver {
 public:
  explicit Resolver(std::int64_t boundary) : boundary_(boundary) {}

  Vector<std::uint8_t> resolve(Span<const std::int64_t> left, Span<const std::int64_t> right) {
    Vector<std::uint8_t> kept(left.size());
    if (!left.size()) return kept;
    const std::size_t words = std::size_t(right[right.size() - 1]) / 64 + 1;
    if (words > removed_.size()) removed_.resize(std::max(words, 2 * removed_.size()), 0);
    const Span<Word> removed = removed_;
    for (std::int64_t pair = 0; pair < left.size(); pair++) {
      const std::int64_t a = left[pair], b = right[pair];
      const Word kept_left = ~(removed[a >> 6] >> (a & 63)) & 1;
      kept[pair] = std::uint8_t(kept_left);
      removed[b >> 6] |= (b >= boundary_ ? kept_left : 0) << (b & 63);
    }
    return kept;
  }

 private:
  std::int64_t boundary_;
  Vector<Word> removed_;  // a bit for each order
};

// Cosines of pairs of rows, each of which holds ascending columns and their weights; at most 1.
Vector<double> compare_vectors(Span<const std::int64_t> left, Span<const std::int64_t> right, Span<const std::int64_t> offsets,
                               Span<const Word> columns, Span<const double> weights) {
  Vector<double> cosines(left.size());
  for (std::int64_t pair = 0; pair < left.size(); pair++) {
    std::int64_t i = offsets[left[pair]], j = offsets[right[pair]];
    const std::int64_t i_end = offsets[left[pair] + 1], j_end = offsets[right[pair] + 1];
    double total = 0.0;
    while (i < i_end && j < j_end) {
      if (columns[i] == columns[j]) total += weights[i++] * weights[j++];
      else if (columns[i] < columns[j]) i++;
      else j++;
    }
    cosines[pair] = std::min(total, 1.0);
  }
  return cosines;
}

}  // namespace

void define_comparisons(nb::module_& m) {
  using Free = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Rows>(m, "Rows")
      .def(nb::init<std::int64_t, double>(), nb::arg("kind"), nb::arg("floor") = 0.0)
      .def(nb::init<std::int64_t, Span<const std::int64_t>, Span<const std::int64_t>, Span<const std::int32_t>,
                    Span<const Word>, Span<const double>>())
      .def("add", &Rows::add, Free())
      .def("add", &Rows::add_numbers, Free())
      .def("add", &Rows::add_texts, Free())
      .def("close", &Rows::close, Free())
      .def("__len__", &Rows::size)
      .def("compare", &Rows::compare, Free())
      .def("walk", &Rows::walk, Free());
  nb::class_<Resolver>(m, "Resolver").def(nb::init<std::int64_t>()).def("resolve", &Resolver::resolve, Free());
  define(m, "compare_vectors", &compare_vectors);
}

}  // namespace lookalike
