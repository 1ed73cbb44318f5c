// Search of fingerprints in sorted tables: by prefixes, some of whose bits may be flipped, any (Norouzi et al., CVPR 2012) or
// the likeliest (probabilistic SimHash matching, or query-directed probing: Lv et al., VLDB 2007), and by equal blocks (Manku
// et al., WWW 2007).
#include <atomic>
#include "hamming.h"

namespace lookalike {

constexpr std::int64_t IN_FLIGHT = 32;   // queries whose cache lines are on their way together
constexpr std::int64_t CACHE_LINES = 4;  // of a bucket that are asked for in advance; longer ones the processor sees by itself

// Bits of prefixes: table, first bit and number of each range.
using Ranges = Table<const std::int64_t>;

static Word prefix_of(const Word* row, Ranges ranges, std::int64_t table) {
  Word prefix = 0;
  for (std::int64_t r = 0; r < ranges.rows(); r++)
    if (ranges[r][0] == table) prefix = prefix << ranges[r][2] | bits_at(row, ranges[r][1], ranges[r][2]);
  return prefix;
}
static std::int64_t prefix_bits(Ranges ranges, std::int64_t table) {
  std::int64_t bits = 0;
  for (std::int64_t r = 0; r < ranges.rows(); r++) bits += ranges[r][0] == table ? ranges[r][2] : 0;
  return bits;
}

// Fingerprints in the order of each table's prefixes, table after table; their rows, or none where they stand in order; where
// buckets begin: that of a prefix of table t at offsets[bases[t] + prefix - low]; the bases; and the lowest prefix.
using Prefixed =
    std::tuple<Table<const Word>, Span<const std::uint32_t>, Span<const std::uint32_t>, Span<const std::int64_t>, std::int64_t>;
using MadePrefixed = std::tuple<Matrix<Word>, Vector<std::uint32_t>, Vector<std::uint32_t>, Vector<std::int64_t>, std::int64_t>;

// Sorts rows into buckets, those of one in order: writes where each begins, and puts the rows, the last first, into places.
template <class BucketOf, class Put>
static void sort_rows(std::int64_t rows, Span<std::uint32_t> begins, BucketOf bucket_of, Put put) {
  std::fill(begins.begin(), begins.end(), 0);
  for (std::int64_t row = 0; row < rows; row++) begins[bucket_of(row)]++;
  std::uint32_t total = 0;
  for (std::uint32_t& begin : begins) begin = total += begin;  // where each ends
  while (rows--) put(rows, --begins[bucket_of(rows)]);
}

// Sorts fingerprints by the prefixes of each table, equal ones by row.
static MadePrefixed prefix_tables(Table<const Word> words, Ranges ranges, std::int64_t tables) {
  const std::int64_t n = words.rows(), width = words.columns();
  Matrix<Word> sorted(tables * n, width);
  Vector<std::uint32_t> rows(std::size_t(tables * n)), offsets;
  Vector<std::int64_t> bases{0};
  for (std::int64_t table = 0; table < tables; table++) {
    const std::int64_t base = bases.back(), buckets = std::int64_t(1) << prefix_bits(ranges, table);
    bases.push_back(base + buckets + 1);
    offsets.resize(std::size_t(bases.back()));
    const Span<std::uint32_t> begins = Span<std::uint32_t>(offsets).part(std::size_t(base), std::size_t(buckets + 1));
    const auto bucket_of = [&](std::int64_t row) { return prefix_of(words[row].begin(), ranges, table); };
    sort_rows(n, begins, bucket_of, [&](std::int64_t row, std::int64_t place) {
      rows[table * n + place] = std::uint32_t(row);
      std::copy(words[row].begin(), words[row].end(), sorted[table * n + place].begin());
    });
  }
  return {std::move(sorted), std::move(rows), std::move(offsets), std::move(bases), 0};
}

// Where the prefixes that occur begin in fingerprints that ascend, and the lowest of them.
static std::pair<Vector<std::uint32_t>, std::int64_t> ascending_offsets(Table<const Word> words, std::int64_t first_bit,
                                                                        std::int64_t count) {
  const std::int64_t n = words.rows();
  const auto prefix = [&](std::int64_t row) { return std::int64_t(bits_at(words[row].begin(), first_bit, count)); };
  const std::int64_t low = n ? prefix(0) : 0, high = n ? prefix(n - 1) : 0;
  Vector<std::uint32_t> offsets(std::size_t(high - low + 2));
  std::int64_t row = 0;
  for (std::int64_t i = 0; i < std::int64_t(offsets.size()); i++) {
    while (row < n && prefix(row) < low + i) row++;
    offsets[i] = std::uint32_t(row);
  }
  return {std::move(offsets), low};
}

// Which queries have an answer and are left out, or none where all answers are wanted; threads may share it.
class Answered {
 public:
  explicit Answered(Span<bool> flags) : flags_(flags) {}
  bool operator[](std::int64_t query) const {
    return flags_.size() && std::atomic_ref<bool>(flags_[query]).load(std::memory_order_relaxed);
  }
  bool note(std::int64_t query) const {
    if (flags_.size()) std::atomic_ref<bool>(flags_[query]).store(true, std::memory_order_relaxed);
    return flags_.size();
  }

 private:
  Span<bool> flags_;
};

// Probes of a table: the query's own prefix, and those with a bit or two flipped, fewest first.
class Flips {
 public:
  Flips(Table<const Word> query, Ranges ranges, Span<const std::int64_t> most) : query_(query), ranges_(ranges), most_(most) {
    masks_.resize(std::size_t(most.size()));
    bits_.resize(std::size_t(most.size() * query.columns()));
    for (std::int64_t table = 0; table < most.size(); table++) {
      const std::int64_t bits = prefix_bits(ranges, table);
      for (std::int64_t size = 0; size <= std::min(most[table], bits); size++) flip(masks_[table], bits, size, 0, 0);
      for (std::int64_t r = 0; r < ranges.rows(); r++)
        for (std::int64_t bit = ranges[r][1]; ranges[r][0] == table && bit < ranges[r][1] + ranges[r][2]; bit++)
          bits_[table * query.columns() + bit / 64] |= Word(1) << (bit & 63);
    }
  }
  void begin(std::int64_t first, std::int64_t size, std::int64_t table) {
    for (std::int64_t b = 0; b < size; b++) own_[b] = prefix_of(query_[first + b].begin(), ranges_, table);
  }
  std::int64_t count(std::int64_t table) const { return std::int64_t(masks_[table].size()); }
  std::int64_t prefix(std::int64_t, std::int64_t b, std::int64_t table, std::int64_t i) const {
    return std::int64_t(own_[b] ^ masks_[table][i]);
  }
  // Tells whether a table before reports a pair, too.
  template <int W>
  bool reported(const Prints<W>& prints, const Word* a, const Word* b, std::int64_t table) const {
    for (std::int64_t t = 0; t < table; t++)
      if (prints.distance_under(&bits_[t * prints.words()], a, b) <= most_[t]) return true;
    return false;
  }

 private:
  // Adds all masks with `more` bits from a place on.
  static void flip(std::vector<Word>& masks, std::int64_t bits, std::int64_t more, std::int64_t from, Word chosen) {
    if (!more) return masks.push_back(chosen);
    for (; from + more <= bits; from++) flip(masks, bits, more - 1, from + 1, chosen | Word(1) << from);
  }

  Table<const Word> query_;
  Ranges ranges_;
  Span<const std::int64_t> most_;
  std::vector<std::vector<Word>> masks_;
  std::vector<Word> bits_;
  Word own_[IN_FLIGHT];
};

// Probes of a single table: given prefixes of each query.
class Given {
 public:
  Given(Table<const std::uint32_t> wanted, std::int64_t start) : wanted_(wanted), start_(start) {}
  void begin(std::int64_t, std::int64_t, std::int64_t) {}
  std::int64_t count(std::int64_t) const { return wanted_.columns(); }
  std::int64_t prefix(std::int64_t first, std::int64_t b, std::int64_t, std::int64_t i) const {
    return wanted_[first - start_ + b][i];
  }
  template <int W>
  bool reported(const Prints<W>&, const Word*, const Word*, std::int64_t) const {
    return false;
  }

 private:
  Table<const std::uint32_t> wanted_;
  std::int64_t start_;
};

// Finds the stored fingerprints within the radius in the buckets that are probed. Queries go in blocks, each probe in three
// turns: the cache lines of one are on their way while the next query is looked at.
template <class Probes>
static Found search_tables(Table<const Word> queries, std::int64_t start, std::int64_t stop, const Prefixed& prefixed,
                           Probes probes, std::int64_t radius, bool self_join, const Answered& answered) {
  const auto& [words, rows, offsets, bases, low] = prefixed;
  const std::int64_t n_tables = bases.size() - 1, n = words.rows() / std::max<std::int64_t>(1, n_tables);
  std::int64_t asked[IN_FLIGHT], begins[IN_FLIGHT], ends[IN_FLIGHT];
  std::vector<Hit> found;
  Hits hits;
  with_words(queries.columns(), [&](auto width) {
    const Prints<width> query(queries), stored(words);
    const std::int64_t per_line = std::max<std::int64_t>(1, 8 / query.words());
    std::int64_t compared = 0;
    for (std::int64_t first = start; first < stop; first += IN_FLIGHT) {
      const std::int64_t size = std::min(IN_FLIGHT, stop - first);
      for (std::int64_t table = 0; table < n_tables; table++) {
        const std::int64_t base = bases[table], last = bases[table + 1] - base - 1;
        probes.begin(first, size, table);
        for (std::int64_t i = 0; i < probes.count(table); i++) {
          std::int64_t count = 0;
          for (std::int64_t b = 0; b < size; b++) {
            if (answered[first + b]) continue;
            const std::int64_t place = probes.prefix(first, b, table, i) - low;
            if (place < 0 || place >= last) continue;
            __builtin_prefetch(&offsets[base + place]);
            asked[count] = first + b;
            begins[count++] = base + place;
          }
          for (std::int64_t k = 0; k < count; k++) {
            ends[k] = table * n + offsets[begins[k] + 1];
            begins[k] = table * n + offsets[begins[k]];
            for (std::int64_t at = begins[k]; at < std::min(ends[k], begins[k] + CACHE_LINES * per_line); at += per_line)
              stored.prefetch(at);
          }
          for (std::int64_t k = 0; k < count; k++) {
            const Word* own = query[asked[k]];
            compared += ends[k] - begins[k];
            for (std::int64_t at = begins[k]; at < ends[k]; at++) {
              const std::int64_t d = stored.distance(own, stored[at]);
              if (d > radius || probes.reported(stored, own, stored[at], table)) continue;
              if (rows.size()) __builtin_prefetch(&rows[at]);
              found.push_back({asked[k], at, d});
              if (answered.note(asked[k])) {
                compared -= ends[k] - at - 1;
                break;
              }
            }
          }
        }
      }
      if (rows.size())
        for (Hit& hit : found) hit.right = rows[hit.right];
      if (self_join) std::erase_if(found, [](const Hit& hit) { return hit.right <= hit.left; });
      hits.add_sorted(found);
    }
    hits.compared += compared;
  });
  return hits.taken();
}

// Searches queries [start, stop) in tables of which each flips at most so many bits; the first of each query, or all.
static Found multi_index_search(Table<const Word> query, std::int64_t start, std::int64_t stop, Prefixed tables, Ranges ranges,
                                Span<const std::int64_t> most, std::int64_t radius, bool first_only, bool self_join) {
  const std::size_t n = std::size_t(first_only ? query.rows() : 0);
  const auto flags = std::make_unique<bool[]>(n);
  return search_tables(query, start, stop, tables, Flips(query, ranges, most), radius, self_join, Answered({flags.get(), n}));
}

// Searches queries [start, stop) in a table at prefixes that are given for each of them. With `answered` those
// are left out that are, and noted with the first that is found.
static Found search_prefixes(Table<const Word> query, Table<const std::uint32_t> wanted, std::int64_t start, std::int64_t stop,
                             Prefixed tables, std::int64_t radius, bool self_join, Span<bool> answered) {
  return search_tables(query, start, stop, tables, Given(wanted, start), radius, self_join, Answered(answered));
}

// Finds the cheapest sets of at most `most` bits, as masks over ascending costs of up to 64. Each set comes once: the empty one
// first; from a set whose last bit is i come the set with i + 1 in its place and, while it has room, the set with i + 1 added.
// Neither is cheaper.
class FlipSets {
 public:
  // Writes as many sets as there are, and there is room for; returns how many.
  std::int64_t find(Span<const double> costs, std::int64_t most, Span<Word> out) {
    const std::int64_t n = costs.size();
    heap_.clear();
    std::int64_t written = 0;
    if (out.size()) out[written++] = 0;
    if (n && most > 0) heap_.push_back({costs[0], 1});
    while (written < out.size() && !heap_.empty()) {
      const Set best = heap_.front();
      out[written++] = best.flips;
      pop();
      const std::int64_t last = 63 - std::countl_zero(best.flips);
      if (last + 1 == n) continue;
      const Word own = Word(1) << last, next = own << 1;
      const double cost = best.cost + costs[last + 1];
      push({cost - costs[last], (best.flips ^ own) | next});
      if (popcount(best.flips) < most) push({cost, best.flips | next});
    }
    return written;
  }

 private:
  struct Set {
    double cost;
    Word flips;
  };
  void pop() {
    const Set moved = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (!size) return;
    std::size_t i = 0;
    for (std::size_t child; (child = 2 * i + 1) < size; i = child) {
      if (child + 1 < size && heap_[child + 1].cost < heap_[child].cost) child++;
      if (heap_[child].cost >= moved.cost) break;
      heap_[i] = heap_[child];
    }
    heap_[i] = moved;
  }
  void push(Set set) {
    std::size_t i = heap_.size();
    heap_.push_back(set);
    for (; i && heap_[(i - 1) / 2].cost > set.cost; i = (i - 1) / 2) heap_[i] = heap_[(i - 1) / 2];
    heap_[i] = set;
  }

  std::vector<Set> heap_;
};

// Writes the prefixes of some queries to probe, likeliest first, as many as a row of `out` holds. A prefix has `bits` bits from
// `first_bit` on, of which up to `most` are flipped, those of small margin first; without margins (no rows) bits are flipped in
// the order of their places, the last first. Fewer probes than bits flip the weakest only, one less than there are probes.
static void weak_prefixes(Table<const Word> query, Table<const float> margins, std::int64_t first_bit, std::int64_t bits,
                          std::int64_t most, Table<std::uint32_t> out) {
  const std::int64_t kept = std::max<std::int64_t>(1, std::min(bits, out.columns() - 1));
  std::vector<std::int64_t> order(std::size_t(kept), 0);
  std::vector<double> costs(std::size_t(kept), 1.0);
  std::vector<Word> sets(std::size_t(out.columns()));
  FlipSets flips;
  for (std::int64_t q = 0; q < query.rows(); q++) {
    if (margins.rows()) {
      const Span<const float> own = margins[q].part(std::size_t(first_bit), std::size_t(bits));
      for (std::int64_t i = 0; i < bits; i++) {  // the weakest in order, by insertion
        std::int64_t j = std::min(i, kept - 1);
        if (i >= kept && !(std::abs(own[order[j]]) > std::abs(own[i]))) continue;
        for (; j > 0 && std::abs(own[order[j - 1]]) > std::abs(own[i]); j--) order[j] = order[j - 1];
        order[j] = i;
      }
      for (std::int64_t i = 0; i < kept; i++) costs[i] = std::abs(own[order[i]]);
    } else {
      for (std::int64_t i = 0; i < kept; i++) order[i] = bits - 1 - i;
    }
    const std::int64_t n = flips.find({costs.data(), costs.size()}, most, sets);
    const Word prefix = bits_at(query[q].begin(), first_bit, bits);
    for (std::int64_t p = 0; p < out.columns(); p++) {
      Word flipped = prefix;
      for (Word chosen = p < n ? sets[p] : 0; chosen; chosen &= chosen - 1)
        flipped ^= Word(1) << order[std::countr_zero(chosen)];
      out[q][p] = p < n ? std::uint32_t(flipped) : ~std::uint32_t(0);  // no prefix
    }
  }
}

// The cheapest sets of at most so many bits, as masks over ascending costs.
static Vector<Word> cheapest_flip_sets(Span<const double> costs, std::int64_t most, std::int64_t count) {
  Vector<Word> sets(std::size_t(std::max<std::int64_t>(1, count)));
  sets.resize(std::size_t(FlipSets().find(costs, most, sets)));
  return sets;
}

// Sorted keys of each table, their rows, and where those with given upper bits begin.
static std::tuple<Matrix<Word>, Matrix<std::uint32_t>, Matrix<std::uint32_t>> manku_tables(Table<const Word> words,
                                                                                           Table<const Word> masks,
                                                                                           std::int64_t bits) {
  const std::int64_t n = words.rows(), shift = 64 - bits, buckets = std::int64_t(1) << bits, tables = masks.rows();
  Matrix<Word> keys(tables, n);
  Matrix<std::uint32_t> rows(tables, n), offsets(tables, buckets + 1);
  std::vector<std::pair<Word, std::uint32_t>> bucket;
  for (std::int64_t table = 0; table < tables; table++) {
    const Vector<Word> own = keys_under(words, masks[table]);
    Word* const key = keys[table].begin();
    std::uint32_t* const row_of = rows[table].begin();
    const Span<std::uint32_t> begins = offsets[table];
    const auto bucket_of = [&](std::int64_t row) { return own[row] >> shift; };
    sort_rows(n, begins, bucket_of, [&](std::int64_t row, std::int64_t place) {
      key[place] = own[row];
      row_of[place] = std::uint32_t(row);
    });
    for (std::int64_t b = 0; b < buckets; b++) {
      const std::uint32_t begin = begins[b], end = begins[b + 1];
      if (std::is_sorted(key + begin, key + end)) continue;
      bucket.clear();
      for (std::uint32_t i = begin; i < end; i++) bucket.push_back({key[i], row_of[i]});
      std::sort(bucket.begin(), bucket.end());
      for (std::uint32_t i = begin; i < end; i++) std::tie(key[i], row_of[i]) = bucket[i - begin];
    }
  }
  return {std::move(keys), std::move(rows), std::move(offsets)};
}

using Manku =
    std::tuple<Table<const Word>, Table<const Word>, Table<const Word>, Table<const std::uint32_t>, Table<const std::uint32_t>>;

// Finds stored fingerprints by tables of equal blocks: (stored, masks of blocks, and what `manku_tables` makes of them). With
// `binary` keys are searched by bisection, else by the offsets. A pair is told in the first table whose blocks agree.
static Found manku_search(Table<const Word> queries, std::int64_t start, std::int64_t stop, Manku tables, bool binary,
                          std::int64_t radius, bool first_only, bool self_join) {
  const auto& [words, masks, keys, rows, offsets] = tables;
  const int shift = 64 - std::countr_zero(Word(offsets.columns() - 1));
  std::vector<Hit> found;
  Hits hits;
  with_words(queries.columns(), [&](auto width) {
    const Prints<width> query(queries), stored(words), mask(masks);
    for (std::int64_t q = start; q < stop; q++) {
      const Word* own = query[q];
      for (std::int64_t table = 0; table < mask.size() && !(first_only && !found.empty()); table++) {
        const Word key = query.key_under(mask[table], own);
        const Span<const Word> of_table = keys[table];
        const Word* at =
            binary ? std::lower_bound(of_table.begin(), of_table.end(), key) : of_table.begin() + offsets[table][key >> shift];
        for (; at < of_table.end() && *at <= key; at++) {
          if (*at != key) continue;
          const std::int64_t row = rows[table][at - of_table.begin()];
          hits.compared++;
          const std::int64_t d = stored.distance(own, stored[row]);
          if (d > radius || (self_join && row <= q) || !mask.first_agree(table, own, stored[row])) continue;
          found.push_back({q, row, d});
          if (first_only) break;
        }
      }
      hits.add_sorted(found);
    }
  });
  return hits.taken();
}

void define_search(nb::module_& m) {
  define(m, "prefix_tables", &prefix_tables);
  define(m, "ascending_offsets", &ascending_offsets);
  define(m, "multi_index_search", &multi_index_search);
  define(m, "search_prefixes", &search_prefixes);
  define(m, "weak_prefixes", &weak_prefixes);
  define(m, "cheapest_flip_sets", &cheapest_flip_sets);
  define(m, "manku_keys", &keys_under);
  define(m, "manku_tables", &manku_tables);
  define(m, "manku_search", &manku_search);
}

}  // namespace lookalike
