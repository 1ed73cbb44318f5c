// All pairs: of fingerprints and of packed sketches, each compared with each, and of fingerprints that agree under a mask.
//
// For packed sketches a block of rows is turned on its side: word w of all its rows lies together, so that one row is compared
// with several at once; where all have too many mismatches, the rest of their words is left out.
#include "hamming.h"

namespace lookalike {

constexpr Long BLOCK = 256, AHEAD = 16;
constexpr Long MOST_SUMMED = 31;  // words whose bits a byte counts

// Finds the stored fingerprints within the radius of queries [start, stop), the first of each or all; in a self-join, those
// behind a query's own row.
static Found search_all(Table<const Word> queries, Long start, Long stop, Table<const Word> all, Long radius, bool first_only,
                        bool self_join) {
  Hits hits;
  with_words(queries.columns(), [&](auto width) {
    const Prints<width> query(queries), stored(all);
    const Long n = stored.size();
    for (Long q = start; q < stop; q++) {
      const Word* own = query[q];
      Long s = self_join ? q + 1 : 0;
      hits.compared += n;
      for (bool done = false; s < n && !done;) {
        Long end = n;
        if constexpr (width == 1) {  // steps of 32 rows in which no distance is small are passed over
          constexpr int STEP = 32;
          for (; s + STEP <= n; s += STEP) {
            Words beyond = ~Words{};
            for (int k = 0; k < STEP; k += WORD_LANES)
              beyond &= Word(radius) - byte_sums(byte_counts(load(stored[s + k]) ^ *own));
            if (!all_negative(beyond)) break;
          }
          end = std::min(n, s + STEP);
        }
        for (; s < end && !done; s++) {
          const Long d = query.distance(own, stored[s]);
          if (d > radius) continue;
          hits.add({q, s, d});
          done = first_only;
        }
      }
    }
  });
  return hits.taken();
}

// What a pair must have: `most` slots that differ, or, where rows have densities, what follows from theirs.
struct Reach {
  Table<const Long> layout;  // first word, slots and bits of each part
  Longs combined;            // how many slots each bit of a part is the XOR of
  Long most;
  double early;  // words before which hardly a pair is decided
  double threshold;
  Span<const double> densities;
  Table<const double> chances;  // A of each row and part (Theorem 1)

  // Writes how many slots of a row and of each row of a block may differ: slots less those that must match, C1 + (1 - C2) R of
  // whole ones. Combined ones tell nothing where single bits match in half of all cases or fewer: all of them may differ.
  void allow(Long row, Long begin, Long size, Word* allowed) const {
    for (Long j = 0; j < size; j++) {
      const double left = densities[row], right = densities[begin + j];
      const double share = left + right > 0.0 ? left / (left + right) : 0.5;
      double more = 0.0;
      for (Long p = 0; p < layout.rows(); p++) {
        const double a = chances[row][p], b = chances[begin + j][p];
        double matching = a * (1.0 - share) + b * share + (1.0 - a * share - b * (1.0 - share)) * threshold;
        if (combined[p] > 1) {
          const double rho = 2.0 * matching - 1.0;
          double power = 1.0;
          for (Long i = 0; i < combined[p]; i++) power *= rho;
          matching = rho < 1e-9 ? -1e18 : (1.0 + power) / 2.0;
        }
        more += double(layout[p][1]) * (1.0 - matching);
      }
      allowed[j] = more + 1e-6 < 1e9 ? Word(Long(more + 1e-6)) : Word(1000000000);
    }
  }
};
using Reaching = std::tuple<Table<const Long>, Longs, Long, double, double, Span<const double>, Table<const double>>;

// Compares a block of rows with all rows before their ends.
class BlockPairs {
 public:
  BlockPairs(Table<const Word> words, const Reach& reach, Hits& hits)
      : words_(words), reach_(reach), hits_(hits), columns_(std::size_t(words.columns() * BLOCK)) {
    for (Long p = 0; p < reach.layout.rows(); p++) slots_ += reach.layout[p][1];
    step_ = std::max<Long>(1, slots_ / 512);
    first_ = std::max(step_, Long(std::min(reach.early, 1e6)) + 1);
  }

  void find(Long begin, Long size) {
    std::fill(columns_.begin(), columns_.end(), 0);
    for (Long j = 0; j < size; j++)
      for (Long w = 0; w < words_.columns(); w++) columns_[w * BLOCK + j] = words_[begin + j][w];
    for (Long j = 0; j < BLOCK; j++) allowed_[j] = j < size ? Word(reach_.most) : ~Word(0);
    for (Long i = 0; i < begin + size; i++) {
      if (reach_.densities.size()) reach_.allow(i, begin, size, allowed_);
      if (count(i)) continue;
      for (Long j = std::max<Long>(0, i + 1 - begin); j < size; j++)
        if (Long(totals_[j]) <= Long(allowed_[j])) hits_.add({i, begin + j, slots_ - Long(totals_[j])});
    }
  }

 private:
  // Counts in how many slots a row differs from each of the block; returns whether from each in too many.
  bool count(Long i) {
    std::fill(totals_, totals_ + BLOCK, 0);
    Long done = 0;
    bool beyond = false;
    for (Long p = 0; p < reach_.layout.rows() && !beyond; p++) {
      const Long first = reach_.layout[p][0], width = width_of(reach_.layout[p][1]), bits = reach_.layout[p][2];
      for (Long begun = 0; begun < width && !beyond;) {
        const Long stop = std::min({width, begun + std::max(step_, first_ - done), begun + MOST_SUMMED});
        beyond = bits == 1 ? add<1>(words_[i], first + begun, first + stop, 1, width)
                           : add<0>(words_[i], first + begun, first + stop, bits, width);
        done += stop - begun;
        begun = stop;
      }
    }
    return beyond;
  }
  // Adds the slots of some words of a part, `width` words to a bit; returns whether each row of the block is beyond.
  template <int BITS>
  bool add(Values row, Long begin, Long end, Long bits, Long width) {
    constexpr Long TOGETHER = 4;
    Words beyond = ~Words{};
    for (Long j = 0; j < BLOCK; j += TOGETHER * WORD_LANES) {
      Words counts[TOGETHER] = {};
      for (Long w = begin; w < end; w++) {
        Words differ[TOGETHER] = {};
        for (Long b = 0; b < (BITS ? BITS : bits); b++) {
          const Word own = row[w + b * width];
          const Word* column = &columns_[(w + b * width) * BLOCK + j];
#pragma GCC unroll 4
          for (Long k = 0; k < TOGETHER; k++) differ[k] |= own ^ load(column + k * WORD_LANES);
        }
#pragma GCC unroll 4
        for (Long k = 0; k < TOGETHER; k++) counts[k] += byte_counts(differ[k]);
      }
#pragma GCC unroll 4
      for (Long k = 0; k < TOGETHER; k++) {
        const Long at = j + k * WORD_LANES;
        const Words total = load(totals_ + at) + byte_sums(counts[k]);
        store(totals_ + at, total);
        beyond &= load(allowed_ + at) - total;
      }
    }
    return all_negative(beyond);
  }

  Table<const Word> words_;
  const Reach& reach_;
  Hits& hits_;
  Vector<Word> columns_;
  Long slots_ = 0, step_, first_;  // words that are added before it is looked whether all are beyond; of the first time
  alignas(64) Word totals_[BLOCK], allowed_[BLOCK];
};

// Finds the pairs of rows [begin, end) with rows before them and each other of which no more slots differ than may; counts the
// slots that match.
static Found block_pairs(Table<const Word> words, Long begin, Long end, Reaching reaching) {
  const auto [layout, combined, most, early, threshold, densities, chances] = reaching;
  const Reach reach{layout, combined, most, early, threshold, densities, chances};
  Hits hits;
  BlockPairs pairs(words, reach, hits);
  for (; begin < end; begin += BLOCK) pairs.find(begin, std::min(BLOCK, end - begin));
  return hits.taken();
}

// The same where slots may be empty, which a last plane tells: of N slots filled in a pair, M of them in both,
// M / 2^b + (1 - 2^-b) R N must match.
static Found filled_pairs(Table<const Word> words, Long begin, Long end, Long slots, Long bits, double threshold) {
  const double chance = 1.0 / double(Word(1) << bits);
  Hits hits;
  for (Long i = 0; i < end; i++)
    for (Long j = std::max(i + 1, begin); j < end; j++) {
      const auto [equal, both, one] = compare_filled(words[i], words[j], slots, bits);
      if (double(equal) + 1e-6 >= double(both) * chance + threshold * (1.0 - chance) * double(both + one))
        hits.add({i, j, equal});
    }
  return hits.taken();
}

// For each row the upper bits of its key under a mask, over its number in the lower `row_bits`.
static Vector<Word> join_entries(Table<const Word> words, Values mask, Long row_bits) {
  Vector<Word> entries = keys_under(words, mask);
  Word row = 0;
  for (Word& entry : entries) entry = (entry & ~low_bits(row_bits)) | row++;
  return entries;
}

// Finds the pairs within the radius among sorted entries of equal keys, at most `limit` of them. A pair is told for the first
// of the masks (tables, words) under which it agrees: all tables tell it once.
static Found join_runs(Table<const Word> words, Values entries, Long row_bits, Table<const Word> masks, Long table, Long radius,
                       Long limit) {
  const Word low = low_bits(row_bits);
  const Long n = entries.size();
  Hits hits;
  with_words(words.columns(), [&](auto width) {
    const Prints<width> prints(words), mask(masks);
    for (Long i = 0; i + 1 < n; i++) {
      if (i + AHEAD + 1 < n && (entries[i + AHEAD] ^ entries[i + AHEAD + 1]) <= low) {
        prints.prefetch(Long(entries[i + AHEAD] & low));
        prints.prefetch(Long(entries[i + AHEAD + 1] & low));
      }
      for (Long j = i + 1; j < n && (entries[i] ^ entries[j]) <= low; j++) {
        const Long a = Long(entries[i] & low), b = Long(entries[j] & low);
        hits.compared++;
        const Long d = prints.distance(prints[a], prints[b]);
        if (d > radius || !mask.first_agree(table, prints[a], prints[b])) continue;
        hits.add({std::min(a, b), std::max(a, b), d});
        if (hits.size() >= limit) return;
      }
    }
  });
  return hits.taken();
}

void define_all_pairs(nb::module_& m) {
  define(m, "search_all", &search_all);
  define(m, "block_pairs", &block_pairs);
  define(m, "filled_pairs", &filled_pairs);
  define(m, "join_entries", &join_entries);
  define(m, "join_runs", &join_runs);
}

}  // namespace lookalike
