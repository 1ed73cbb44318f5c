// Search of fingerprints in sorted tables: by prefixes, some of whose bits may be flipped, any (Norouzi et al., CVPR 2012) or
// the likeliest (probabilistic SimHash matching, or query-directed probing: Lv et al., VLDB 2007), and by equal blocks (Manku
// et al., WWW 2007).
#include <atomic>
#include "hamming.h"

namespace lookalike {

constexpr Long IN_FLIGHT = 32;   // queries whose cache lines are on their way together
constexpr Long CACHE_LINES = 4;  // of a bucket that are asked for in advance; longer ones the processor sees by itself

// Bits of prefixes: table, first bit and number of each range.
using Ranges = Table<const Long>;

static Word prefix_of(const Word* row, Ranges ranges, Long table) {
  Word prefix = 0;
  for (Long r = 0; r < ranges.rows(); r++)
    if (ranges[r][0] == table) prefix = prefix << ranges[r][2] | bits_at(row, ranges[r][1], ranges[r][2]);
  return prefix;
}
static Long prefix_bits(Ranges ranges, Long table) {
  Long bits = 0;
  for (Long r = 0; r < ranges.rows(); r++) bits += ranges[r][0] == table ? ranges[r][2] : 0;
  return bits;
}

// Fingerprints in the order of each table's prefixes, table after table; their rows, or none where they stand in order; where
// buckets begin: that of a prefix of table t at offsets[bases[t] + prefix - low]; the bases; and the lowest prefix.
using Prefixed = std::tuple<Table<const Word>, Span<const std::uint32_t>, Span<const std::uint32_t>, Longs, Long>;
using MadePrefixed = std::tuple<Matrix<Word>, Vector<std::uint32_t>, Vector<std::uint32_t>, Vector<Long>, Long>;

// Sorts rows into buckets, those of one in order: writes where each begins, and puts the rows, the last first, into places.
template <class BucketOf, class Put>
static void sort_rows(Long rows, Span<std::uint32_t> begins, BucketOf bucket_of, Put put) {
  std::fill(begins.begin(), begins.end(), 0);
  for (Long row = 0; row < rows; row++) begins[bucket_of(row)]++;
  std::uint32_t total = 0;
  for (std::uint32_t& begin : begins) begin = total += begin;  // where each ends
  while (rows--) put(rows, --begins[bucket_of(rows)]);
}

// Sorts fingerprints by the prefixes of each table, equal ones by row.
static MadePrefixed prefix_tables(Table<const Word> words, Ranges ranges, Long tables) {
  const Long n = words.rows(), width = words.columns();
  Matrix<Word> sorted(tables * n, width);
  Vector<std::uint32_t> rows(std::size_t(tables * n)), offsets;
  Vector<Long> bases{0};
  for (Long table = 0; table < tables; table++) {
    const Long base = bases.back(), buckets = Long(1) << prefix_bits(ranges, table);
    bases.push_back(base + buckets + 1);
    offsets.resize(std::size_t(bases.back()));
    const Span<std::uint32_t> begins = Span<std::uint32_t>(offsets).part(std::size_t(base), std::size_t(buckets + 1));
    const auto bucket_of = [&](Long row) { return prefix_of(words[row].begin(), ranges, table); };
    sort_rows(n, begins, bucket_of, [&](Long row, Long place) {
      rows[table * n + place] = std::uint32_t(row);
      std::copy(words[row].begin(), words[row].end(), sorted[table * n + place].begin());
    });
  }
  return {std::move(sorted), std::move(rows), std::move(offsets), std::move(bases), 0};
}

// Where the prefixes that occur begin in fingerprints that ascend, and the lowest of them.
static std::pair<Vector<std::uint32_t>, Long> ascending_offsets(Table<const Word> words, Long first_bit, Long count) {
  const Long n = words.rows();
  const auto prefix = [&](Long row) { return Long(bits_at(words[row].begin(), first_bit, count)); };
  const Long low = n ? prefix(0) : 0, high = n ? prefix(n - 1) : 0;
  Vector<std::uint32_t> offsets(std::size_t(high - low + 2));
  Long row = 0;
  for (Long i = 0; i < Long(offsets.size()); i++) {
    while (row < n && prefix(row) < low + i) row++;
    offsets[i] = std::uint32_t(row);
  }
  return {std::move(offsets), low};
}

// Which queries have an answer and are left out, or none where all answers are wanted; threads may share it.
class Answered {
 public:
  explicit Answered(Span<bool> flags) : flags_(flags) {}
  bool operator[](Long query) const {
    return flags_.size() && std::atomic_ref<bool>(flags_[query]).load(std::memory_order_relaxed);
  }
  bool note(Long query) const {
    if (flags_.size()) std::atomic_ref<bool>(flags_[query]).store(true, std::memory_order_relaxed);
    return flags_.size();
  }

 private:
  Span<bool> flags_;
};

// Probes of a table: the query's own prefix, and those with a bit or two flipped, fewest first.
class Flips {
 public:
  Flips(Table<const Word> query, Ranges ranges, Longs most) : query_(query), ranges_(ranges), most_(most) {
    masks_.resize(std::size_t(most.size()));
    bits_.resize(std::size_t(most.size() * query.columns()));
    for (Long table = 0; table < most.size(); table++) {
      const Long bits = prefix_bits(ranges, table);
      for (Long size = 0; size <= std::min(most[table], bits); size++) flip(masks_[table], bits, size, 0, 0);
      for (Long r = 0; r < ranges.rows(); r++)
        for (Long bit = ranges[r][1]; ranges[r][0] == table && bit < ranges[r][1] + ranges[r][2]; bit++)
          bits_[table * query.columns() + bit / 64] |= Word(1) << (bit & 63);
    }
  }
  void begin(Long first, Long size, Long table) {
    for (Long b = 0; b < size; b++) own_[b] = prefix_of(query_[first + b].begin(), ranges_, table);
  }
  Long count(Long table) const { return Long(masks_[table].size()); }
  Long prefix(Long, Long b, Long table, Long i) const { return Long(own_[b] ^ masks_[table][i]); }
  // Tells whether a table before reports a pair, too.
  template <int W>
  bool reported(const Prints<W>& prints, const Word* a, const Word* b, Long table) const {
    for (Long t = 0; t < table; t++)
      if (prints.distance_under(&bits_[t * prints.words()], a, b) <= most_[t]) return true;
    return false;
  }

 private:
  // Adds all masks with `more` bits from a place on.
  static void flip(std::vector<Word>& masks, Long bits, Long more, Long from, Word chosen) {
    if (!more) return masks.push_back(chosen);
    for (; from + more <= bits; from++) flip(masks, bits, more - 1, from + 1, chosen | Word(1) << from);
  }

  Table<const Word> query_;
  Ranges ranges_;
  Longs most_;
  std::vector<std::vector<Word>> masks_;
  std::vector<Word> bits_;
  Word own_[IN_FLIGHT];
};

// Probes of a single table: given prefixes of each query.
class Given {
 public:
  Given(Table<const std::uint32_t> wanted, Long start) : wanted_(wanted), start_(start) {}
  void begin(Long, Long, Long) {}
  Long count(Long) const { return wanted_.columns(); }
  Long prefix(Long first, Long b, Long, Long i) const { return wanted_[first - start_ + b][i]; }
  template <int W>
  bool reported(const Prints<W>&, const Word*, const Word*, Long) const {
    return false;
  }

 private:
  Table<const std::uint32_t> wanted_;
  Long start_;
};

// Finds the stored fingerprints within the radius in the buckets that are probed. Queries go in blocks, each probe in three
// turns: the cache lines of one are on their way while the next query is looked at.
template <class Probes>
static Found search_tables(Table<const Word> queries, Long start, Long stop, const Prefixed& prefixed, Probes probes,
                           Long radius, bool self_join, const Answered& answered) {
  const auto& [words, rows, offsets, bases, low] = prefixed;
  const Long n_tables = bases.size() - 1, n = words.rows() / std::max<Long>(1, n_tables);
  Long asked[IN_FLIGHT], begins[IN_FLIGHT], ends[IN_FLIGHT];
  std::vector<Hit> found;
  Hits hits;
  with_words(queries.columns(), [&](auto width) {
    const Prints<width> query(queries), stored(words);
    const Long per_line = std::max<Long>(1, 8 / query.words());
    Long compared = 0;
    for (Long first = start; first < stop; first += IN_FLIGHT) {
      const Long size = std::min(IN_FLIGHT, stop - first);
      for (Long table = 0; table < n_tables; table++) {
        const Long base = bases[table], last = bases[table + 1] - base - 1;
        probes.begin(first, size, table);
        for (Long i = 0; i < probes.count(table); i++) {
          Long count = 0;
          for (Long b = 0; b < size; b++) {
            if (answered[first + b]) continue;
            const Long place = probes.prefix(first, b, table, i) - low;
            if (place < 0 || place >= last) continue;
            __builtin_prefetch(&offsets[base + place]);
            asked[count] = first + b;
            begins[count++] = base + place;
          }
          for (Long k = 0; k < count; k++) {
            ends[k] = table * n + offsets[begins[k] + 1];
            begins[k] = table * n + offsets[begins[k]];
            for (Long at = begins[k]; at < std::min(ends[k], begins[k] + CACHE_LINES * per_line); at += per_line)
              stored.prefetch(at);
          }
          for (Long k = 0; k < count; k++) {
            const Word* own = query[asked[k]];
            compared += ends[k] - begins[k];
            for (Long at = begins[k]; at < ends[k]; at++) {
              const Long d = stored.distance(own, stored[at]);
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
static Found multi_index_search(Table<const Word> query, Long start, Long stop, Prefixed tables, Ranges ranges, Longs most,
                                Long radius, bool first_only, bool self_join) {
  const std::size_t n = std::size_t(first_only ? query.rows() : 0);
  const auto flags = std::make_unique<bool[]>(n);
  return search_tables(query, start, stop, tables, Flips(query, ranges, most), radius, self_join, Answered({flags.get(), n}));
}

// Searches queries [start, stop) in a table at prefixes that are given for each of them. With `answered` those
// are left out that are, and noted with the first that is found.
static Found search_prefixes(Table<const Word> query, Table<const std::uint32_t> wanted, Long start, Long stop, Prefixed tables,
                             Long radius, bool self_join, Span<bool> answered) {
  return search_tables(query, start, stop, tables, Given(wanted, start), radius, self_join, Answered(answered));
}

// Finds the cheapest sets of at most `most` bits, as masks over ascending costs of up to 64. Each set comes once: the empty one
// first; from a set whose last bit is i come the set with i + 1 in its place and, while it has room, the set with i + 1 added.
// Neither is cheaper.
class FlipSets {
 public:
  // Writes as many sets as there are, and there is room for; returns how many.
  Long find(Span<const double> costs, Long most, Span<Word> out) {
    const Long n = costs.size();
    heap_.clear();
    Long written = 0;
    if (out.size()) out[written++] = 0;
    if (n && most > 0) heap_.push_back({costs[0], 1});
    while (written < out.size() && !heap_.empty()) {
      const Set best = heap_.front();
      out[written++] = best.flips;
      pop();
      const Long last = 63 - std::countl_zero(best.flips);
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
static void weak_prefixes(Table<const Word> query, Table<const float> margins, Long first_bit, Long bits, Long most,
                          Table<std::uint32_t> out) {
  const Long kept = std::max<Long>(1, std::min(bits, out.columns() - 1));
  std::vector<Long> order(std::size_t(kept), 0);
  std::vector<double> costs(std::size_t(kept), 1.0);
  std::vector<Word> sets(std::size_t(out.columns()));
  FlipSets flips;
  for (Long q = 0; q < query.rows(); q++) {
    if (margins.rows()) {
      const Span<const float> own = margins[q].part(std::size_t(first_bit), std::size_t(bits));
      for (Long i = 0; i < bits; i++) {  // the weakest in order, by insertion
        Long j = std::min(i, kept - 1);
        if (i >= kept && !(std::abs(own[order[j]]) > std::abs(own[i]))) continue;
        for (; j > 0 && std::abs(own[order[j - 1]]) > std::abs(own[i]); j--) order[j] = order[j - 1];
        order[j] = i;
      }
      for (Long i = 0; i < kept; i++) costs[i] = std::abs(own[order[i]]);
    } else {
      for (Long i = 0; i < kept; i++) order[i] = bits - 1 - i;
    }
    const Long n = flips.find({costs.data(), costs.size()}, most, sets);
    const Word prefix = bits_at(query[q].begin(), first_bit, bits);
    for (Long p = 0; p < out.columns(); p++) {
      Word flipped = prefix;
      for (Word chosen = p < n ? sets[p] : 0; chosen; chosen &= chosen - 1)
        flipped ^= Word(1) << order[std::countr_zero(chosen)];
      out[q][p] = p < n ? std::uint32_t(flipped) : ~std::uint32_t(0);  // no prefix
    }
  }
}

// The cheapest sets of at most so many bits, as masks over ascending costs.
static Vector<Word> cheapest_flip_sets(Span<const double> costs, Long most, Long count) {
  Vector<Word> sets(std::size_t(std::max<Long>(1, count)));
  sets.resize(std::size_t(FlipSets().find(costs, most, sets)));
  return sets;
}

// Sorted keys of each table, their rows, and where those with given upper bits begin.
static std::tuple<Matrix<Word>, Matrix<std::uint32_t>, Matrix<std::uint32_t>> manku_tables(Table<const Word> words,
                                                                                           Table<const Word> masks, Long bits) {
  const Long n = words.rows(), shift = 64 - bits, buckets = Long(1) << bits, tables = masks.rows();
  Matrix<Word> keys(tables, n);
  Matrix<std::uint32_t> rows(tables, n), offsets(tables, buckets + 1);
  std::vector<std::pair<Word, std::uint32_t>> bucket;
  for (Long table = 0; table < tables; table++) {
    const Vector<Word> own = keys_under(words, masks[table]);
    Word* const key = keys[table].begin();
    std::uint32_t* const row_of = rows[table].begin();
    const Span<std::uint32_t> begins = offsets[table];
    const auto bucket_of = [&](Long row) { return own[row] >> shift; };
    sort_rows(n, begins, bucket_of, [&](Long row, Long place) {
      key[place] = own[row];
      row_of[place] = std::uint32_t(row);
    });
    for (Long b = 0; b < buckets; b++) {
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
static Found manku_search(Table<const Word> queries, Long start, Long stop, Manku tables, bool binary, Long radius,
                          bool first_only, bool self_join) {
  const auto& [words, masks, keys, rows, offsets] = tables;
  const int shift = 64 - std::countr_zero(Word(offsets.columns() - 1));
  std::vector<Hit> found;
  Hits hits;
  with_words(queries.columns(), [&](auto width) {
    const Prints<width> query(queries), stored(words), mask(masks);
    for (Long q = start; q < stop; q++) {
      const Word* own = query[q];
      for (Long table = 0; table < mask.size() && !(first_only && !found.empty()); table++) {
        const Word key = query.key_under(mask[table], own);
        const Values of_table = keys[table];
        const Word* at =
            binary ? std::lower_bound(of_table.begin(), of_table.end(), key) : of_table.begin() + offsets[table][key >> shift];
        for (; at < of_table.end() && *at <= key; at++) {
          if (*at != key) continue;
          const Long row = rows[table][at - of_table.begin()];
          hits.compared++;
          const Long d = stored.distance(own, stored[row]);
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
