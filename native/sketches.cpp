// Sketches of sets: minwise hashing in its kinds, densified bins, true permutations, SimHash, weighted sets.
#include <cmath>
#include <limits>
#include <numeric>
#include "arrays.h"
#include "lanes.h"
#include "sign.h"

namespace lookalike {

using Slots = std::uint32_t;
constexpr Word FULL = ~Word(0);

// A place in [0, size) from the upper half of a mixed word.
static Long place_of(Word mixed, Word size) { return Long((mixed >> 32) * size >> 32); }

// Makes a row of so many columns of each row of values; those without any keep what an empty slot is.
template <class T, class Sign>
static Matrix<T> each_row(Values values, Longs offsets, Long columns, Sign sign) {
  const Long rows = offsets.size() - 1;
  Matrix<T> out{Vector<T>(rows * columns, T(-1)), std::size_t(columns)};
  for (Long row = 0; row < rows; row++) sign(values.part(offsets[row], offsets[row + 1] - offsets[row]), out[row]);
  return out;
}

// The minima of k multiply-shift hashes of the upper 32 bits of well-mixed values. Those of 64 bits are compared, as signed
// numbers, whose upper halves are the slots.
static Matrix<Slots> minhash(Values values, Longs offsets, Values multipliers, Values increments) {
  typedef Long Minima __attribute__((vector_size(8 * WORD_LANES)));
  constexpr Long SIDE = 4 * WORD_LANES, TOP = std::numeric_limits<Long>::min();
  const Long k = multipliers.size(), padded = (k + SIDE - 1) / SIDE * SIDE;
  std::vector<Word> a(padded), b(padded), minima(padded);
  std::copy(multipliers.begin(), multipliers.end(), a.begin());
  for (Long j = 0; j < k; j++) b[j] = increments[j] ^ Word(TOP);
  return each_row<Slots>(values, offsets, k, [&](Values of_row, Span<Slots> slots) {
    for (Long j = 0; j < padded; j += SIDE) {
      Words factors[4], added[4];
      Minima least[4];
      for (int i = 0; i < 4; i++) {
        factors[i] = load(&a[j + i * WORD_LANES]), added[i] = load(&b[j + i * WORD_LANES]);
        least[i] = Minima{} + ~TOP;
      }
      for (const Word value : of_row)
        for (int i = 0; i < 4; i++) {
          const Words key = Words{} + (value >> 32);
#if defined(__AVX512BW__)
          const Words product = factors[i] * key;
#else
          const Words product = (multiply_halves(factors[i] >> 32, key) << 32) + multiply_halves(factors[i], key);
#endif
          const Minima found = Minima(product + added[i]);
          least[i] = found < least[i] ? found : least[i];
        }
      for (int i = 0; i < 4; i++) store(&minima[j + i * WORD_LANES], Words(least[i]));
    }
    for (Long j = 0; j < k; j++) slots[j] = Slots((minima[j] ^ Word(TOP)) >> 32);
  });
}

// Fast similarity sketches of well-mixed values, with or without repeats.
static Matrix<Slots> fast_similarity(Values values, Longs offsets, Long k, Word seed) {
  Signer signer(int(k), seed);
  return each_row<Slots>(values, offsets, k,
                         [&](Values of_row, Span<Slots> slots) { signer.sign(of_row.begin(), of_row.size(), slots.begin()); });
}

// The least value of each bin of one permutation.
static Matrix<Slots> one_permutation(Values values, Longs offsets, Long bins, Word seed) {
  const Word salt = fmix64(seed);
  return each_row<Slots>(values, offsets, bins, [&](Values of_row, Span<Slots> slots) {
    for (const Word value : of_row) {
      const Word mixed = (value ^ salt) * ODD;
      Slots& slot = slots[place_of(mixed, bins)];
      slot = std::min(slot, Slots(mixed & 0x7FFFFFFF));
    }
  });
}

// The least place within each bin of so many places.
static Matrix<Word> cut_places(Values places, Longs offsets, Long bins, Word width) {
  return each_row<Word>(places, offsets, bins, [&](Values of_row, Span<Word> slots) {
    for (const Word place : of_row) slots[place / width] = std::min(slots[place / width], place % width);
  });
}

// Fills empty bins of each row, by a function of the row and a copy of it.
template <class Fill>
static Matrix<Slots> densify(Table<const Slots> bins, Fill fill) {
  const std::size_t columns = bins.columns();
  Matrix<Slots> out{Vector<Slots>(bins.begin(), bins.begin() + bins.rows() * columns), columns};
  for (Long row = 0; row < bins.rows(); row++) fill(bins[row], out[row]);
  return out;
}

// Fills each empty bin from the next filled one on the circle, mixed with the distance to it: two steps a bin.
static Matrix<Slots> densify_rotation(Table<const Slots> bins) {
  return densify(bins, [](Span<const Slots> slots, Span<Slots> out) {
    const Long size = slots.size(), first = std::find_if(slots.begin(), slots.end(), is_filled) - slots.begin();
    if (first == size) return;
    Word source = slots[first], distance = 0;
    for (Long step = 1; step < size; step++) {
      const Long j = first - step + (step > first) * size;
      if (is_filled(slots[j])) source = slots[j], distance = 0;
      else out[j] = Slots(fmix64(source | ++distance << 32) >> 32);
    }
  });
}

// The bin that a bin tries, or writes into, at an attempt.
static Long other_bin(Long bin, Word attempt, Word seed, Long bins) {
  return place_of(fmix64(seed + (attempt << 32) + Word(bin) * GOLDEN), bins);
}

// Lets each empty bin try random bins until it meets a filled one, whose value it copies. Time: bins / filled tries for each
// empty bin; with one filled bin there is nothing to try.
static Matrix<Slots> densify_optimal(Table<const Slots> bins, Word seed) {
  return densify(bins, [seed](Span<const Slots> slots, Span<Slots> out) {
    const Long filled = std::count_if(slots.begin(), slots.end(), is_filled);
    if (filled == 1) std::fill(out.begin(), out.end(), *std::find_if(slots.begin(), slots.end(), is_filled));
    for (Long j = 0; filled > 1 && j < slots.size(); j++) {
      Long source = j;
      for (Word attempt = 1; !is_filled(slots[source]); attempt++) source = other_bin(j, attempt, seed, slots.size());
      out[j] = slots[source];
    }
  });
}

// Lets filled bins write into random bins, round after round in the order of bins, until none is empty. Time: about t ln t
// writes a row of t bins, however many are filled.
static Matrix<Slots> densify_reverse(Table<const Slots> bins, Word seed) {
  std::vector<Long> filled;
  return densify(bins, [&](Span<const Slots> slots, Span<Slots> out) {
    filled.clear();
    for (Long j = 0; j < slots.size(); j++)
      if (is_filled(slots[j])) filled.push_back(j);
    std::size_t missing = filled.empty() ? 0 : slots.size() - filled.size();
    for (Word attempt = 1; missing; attempt++)
      for (std::size_t i = 0; missing && i < filled.size(); i++) {
        Slots& target = out[other_bin(filled[i], attempt, seed, slots.size())];
        if (is_filled(target)) continue;
        target = slots[filled[i]];
        missing--;
      }
  });
}

// A keyed permutation of [0, universe), without a table: a Feistel network, walked until it lands inside. The network permutes
// [0, 4^half_bits), at most four times the universe (0 stands for 2^64).
static Word permuted(Word value, Word universe, Word half_bits, Values round_keys) {
  const Word mask = (Word(1) << half_bits) - 1;
  do {
    Word left = value >> half_bits, right = value & mask;
    for (const Word key : round_keys) left = std::exchange(right, left ^ (fmix64(right ^ key) & mask));
    value = left << half_bits | right;
  } while (universe && value >= universe);
  return value;
}

static Vector<Word> feistel_permute(Values keys, Word universe, Word half_bits, Values round_keys) {
  Vector<Word> out(keys.size());
  for (Long i = 0; i < keys.size(); i++) out[i] = permuted(keys[i], universe, half_bits, round_keys);
  return out;
}

// The least image of each row under each of k keyed permutations.
static Matrix<Word> permutation_minhash(Values values, Longs offsets, Word universe, Word half_bits,
                                        Table<const Word> round_keys) {
  return each_row<Word>(values, offsets, round_keys.rows(), [&](Values of_row, Span<Word> slots) {
    for (Long j = 0; j < slots.size(); j++)
      for (const Word value : of_row) slots[j] = std::min(slots[j], permuted(value, universe, half_bits, round_keys[j]));
  });
}

// Counters of the bits of words in all places: bit j of each counter is a word, a plane, of which the lowest comes first.
// Full adders add sixteen words to four planes, and the carry ripples through the others.
class BitCounters {
 public:
  // Forgets what was counted, and counts the hashes of a set.
  void count(Values values, Word mask) {
    used_ = 4;
    while (values.size() >> used_) used_++;
    std::fill_n(planes_, used_, Words{});
    const Word* at = values.begin();
    Long left = values.size();
    for (; left >= GROUP; left -= GROUP, at += GROUP) {
      for (int i = 0; i < 16; i++) mixed_[i] = fmix64(load(at + i * WORD_LANES) ^ mask);
      add();
    }
    if (left) {
      Word last[GROUP] = {};  // a word of zeros counts nothing
      for (Long i = 0; i < left; i++) last[i] = fmix64(at[i] ^ mask);
      for (int i = 0; i < 16; i++) mixed_[i] = load(last + i * WORD_LANES);
      add();
    }
    for (int plane = 0; plane < used_; plane++) totals_[plane] = planes_[plane][0];
    for (int lane = 1; lane < WORD_LANES; lane++) {
      Word carry = 0;
      for (int plane = 0; plane < used_; plane++) carry = full_add(totals_[plane], planes_[plane][lane], carry);
    }
  }

  // The bits whose counters are above a number, and those whose counters are equal to it.
  std::pair<Word, Word> compare(Word number) const {
    Word more = 0, equal = FULL;
    for (int plane = used_ - 1; plane >= 0; plane--) {
      const Word set = equal & totals_[plane];
      if (number >> plane & 1) {
        equal = set;
      } else {
        more |= set;
        equal ^= set;
      }
    }
    return {more, equal};
  }

  Long operator[](int bit) const {
    Word counter = 0;
    for (int plane = 0; plane < used_; plane++) counter += (totals_[plane] >> bit & 1) << plane;
    return Long(counter);
  }

 private:
  static constexpr int GROUP = 16 * WORD_LANES;

  // Adds two bits to a sum of one in each place; returns the carries.
  template <class W>
  static W full_add(W& sum, W a, W b) {
    const W half = sum ^ a, carry = (sum & a) | (half & b);
    sum = half ^ b;
    return carry;
  }

  // Adds 2^(level + 1) words to the planes up to a level; returns the carries.
  template <int level>
  Words add(const Words* some) {
    if constexpr (level == 0) {
      return full_add(planes_[0], some[0], some[1]);
    } else {
      const Words a = add<level - 1>(some), b = add<level - 1>(some + (1 << level));
      return full_add(planes_[level], a, b);
    }
  }

  void add() {
    Words carry = add<3>(mixed_);
    for (int plane = 4; plane < used_; plane++) {
      const Words full = planes_[plane] & carry;
      planes_[plane] ^= carry;
      carry = full;
    }
  }

  Words planes_[64], mixed_[16];
  Word totals_[64];
  int used_ = 0;
};

using Fingerprints = std::pair<Matrix<Word>, Matrix<float>>;

// Fingerprints, and if `margins` the sums of their bits. A function makes the word of a number of the features from some place
// on, which it mixes with a mask, and writes that many sums, if it is told where.
template <class WordOf>
static Fingerprints prints_of(Longs offsets, Long bits, Word salt, bool margins, WordOf word_of) {
  const Long rows = offsets.size() - 1, words = (bits + 63) / 64;
  Fingerprints out{{Vector<Word>(rows * words), std::size_t(words)},
                   {Vector<float>(margins ? rows * bits : 0), std::size_t(bits)}};
  for (Long row = 0; row < rows; row++)
    for (Long word = 0; word < words; word++) {
      float* const sums = margins ? out.second.elements.data() + row * bits + word * 64 : nullptr;
      const int wanted = int(std::min<Long>(64, bits - word * 64));
      const Word mask = fmix64(salt + Word(word) * GOLDEN),
                 made = word_of(offsets[row], offsets[row + 1], word, mask, wanted, sums);
      out.first.elements[row * words + word] = made & FULL >> (64 - wanted);
    }
  return out;
}

// SimHash (Charikar, STOC 2002) of sets, all features of weight 1: fingerprints, and the sums whose signs they are; a sum of
// zero takes its bit from `ties`.
static Fingerprints simhash(Values values, Longs offsets, Long bits, Word salt, Values ties, bool margins) {
  BitCounters counters;
  const auto word_of = [&](Long begin, Long end, Long word, Word mask, int wanted, float* sums) {
    const Long n = end - begin;
    counters.count(values.part(begin, n), mask);
    for (int j = 0; sums && j < wanted; j++) sums[j] = float(2 * counters[j] - n);
    const auto [more, equal] = counters.compare(Word(n / 2));  // the sum is twice the counter less n
    return more | (n % 2 ? 0 : equal & ties[word]);
  };
  return prints_of(offsets, bits, salt, margins, word_of);
}

// The same of weighted features.
static Fingerprints weighted_simhash(Values values, Span<const double> weights, Longs offsets, Long bits, Word salt,
                                     Values ties, bool margins) {
  typedef double Doubles __attribute__((vector_size(8 * WORD_LANES)));
  Words lanes;
  for (int lane = 0; lane < WORD_LANES; lane++) lanes[lane] = lane;
  const auto word_of = [&](Long begin, Long end, Long word, Word mask, int wanted, float* margin) {
    double sums[64] = {};
    for (Long i = begin; i < end; i++) {
      const Words opposite = Words{} + ~fmix64(values[i] ^ mask), weight = Words{} + std::bit_cast<Word>(weights[i]);
      for (int j = 0; j < 64; j += WORD_LANES) {
        const Doubles more = Doubles(weight ^ (opposite >> (lanes + Word(j)) << 63));
        Doubles sum;
        std::memcpy(&sum, sums + j, sizeof sum);
        sum += more;
        std::memcpy(sums + j, &sum, sizeof sum);
      }
    }
    Word value = 0;
    for (int j = 0; j < wanted; j++) value |= (sums[j] > 0 ? 1 : sums[j] < 0 ? 0 : ties[word] >> j & 1) << j;
    if (margin) std::copy_n(sums, wanted, margin);
    return value;
  };
  return prints_of(offsets, bits, salt, margins, word_of);
}

// A number in (0, 1) for a key and a turn.
static double uniform(Word key, Word turn) {
  constexpr double UNIT = 0x1p-53;
  return std::min((double(fmix64(key + turn * GOLDEN) >> 11) + 0.5) * UNIT, 1 - UNIT);
}

// DartMinHash (Christiani, 2020): a slot is the first dart to hit it below the weights. Darts of an element are a Poisson
// process over weight and rank, in strips of weight [0, 2^-40), [2^-40, 2^-36), ... [2^-4, 1), [1, 2), [2, 4) and so on, by
// rank in each. Those of ranks below a limit are thrown, which doubles until all slots are hit.
static Matrix<Word> dart_minhash(Values values, Span<const double> weights, Longs offsets, Long k, Word seed) {
  constexpr double NEVER = std::numeric_limits<double>::infinity();
  std::vector<double> ranks(k);
  return each_row<Word>(values, offsets, k, [&](Values of_row, Span<Word> slots) {
    const Span<const double> heights = weights.part(of_row.begin() - values.begin(), of_row.size());
    const double total = std::accumulate(heights.begin(), heights.end(), 0.0);
    if (total == 0) return;
    Long hit = 0;
    for (double limit = (std::log(double(k)) + 2) * double(k) / total; hit < k; limit *= 2) {
      std::fill(ranks.begin(), ranks.end(), NEVER);
      hit = 0;
      for (Long i = 0; i < of_row.size(); i++) {
        const Word key = fmix64(of_row[i] ^ seed);
        double low = 0, high = 0x1p-40;
        for (Word strip = 1; low < heights[i]; strip++) {
          const Word strip_key = fmix64(key + strip * GOLDEN);
          double rank = 0;
          for (Word turn = 1;; turn++) {
            const Word dart = fmix64(strip_key + turn * GOLDEN);
            rank -= std::log(uniform(dart, 1)) / (high - low);
            if (rank >= limit) break;
            if (low + uniform(dart, 2) * (high - low) >= heights[i]) continue;
            const Long slot = place_of(fmix64(dart + 3 * GOLDEN), k);
            hit += ranks[slot] == NEVER;
            if (rank < ranks[slot]) ranks[slot] = rank, slots[slot] = dart;
          }
          low = high;
          high *= high < 1 ? 16 : 2;
        }
      }
    }
  });
}

void define_sketches(nb::module_& m) {
  define(m, "minhash", &minhash);
  define(m, "fast_similarity", &fast_similarity);
  define(m, "one_permutation", &one_permutation);
  define(m, "cut_places", &cut_places);
  define(m, "densify_rotation", &densify_rotation);
  define(m, "densify_optimal", &densify_optimal);
  define(m, "densify_reverse", &densify_reverse);
  define(m, "feistel_permute", &feistel_permute);
  define(m, "permutation_minhash", &permutation_minhash);
  define(m, "simhash", &simhash);
  define(m, "weighted_simhash", &weighted_simhash);
  define(m, "uniform", &uniform);
  define(m, "dart_minhash", &dart_minhash);
}

}  // namespace lookalike
