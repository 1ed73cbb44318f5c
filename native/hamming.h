// Fingerprints and packed sketches as rows of 64-bit words: bits that are set or differ, keys, and what a search finds.
#pragma once
#include <algorithm>
#include <bit>
#include <compare>
#include <tuple>
#include <type_traits>
#include "arrays.h"
#include "hash.h"
#include "lanes.h"

namespace lookalike {

// How many bits of each byte are set, in a word or in several.
template <class T>
constexpr T bytes_counted(T x) {
  x -= x >> 1 & 0x5555555555555555;
  x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
  return (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F;
}
inline Words byte_counts(Words x) {
#if defined(__AVX512BW__)
  const __m512i nibble = _mm512_set1_epi8(15), high = _mm512_and_si512(_mm512_srli_epi16((__m512i)x, 4), nibble);
  const __m512i counts = _mm512_maskz_broadcast_i32x4(0xFFFF, _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m512i low = _mm512_and_si512((__m512i)x, nibble);
  return (Words)_mm512_add_epi8(_mm512_shuffle_epi8(counts, low), _mm512_shuffle_epi8(counts, high));
#elif defined(__AVX2__)
  const __m256i nibble = _mm256_set1_epi8(15), high = _mm256_and_si256(_mm256_srli_epi16((__m256i)x, 4), nibble);
  const __m256i counts = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
  const __m256i low = _mm256_and_si256((__m256i)x, nibble);
  return (Words)_mm256_add_epi8(_mm256_shuffle_epi8(counts, low), _mm256_shuffle_epi8(counts, high));
#else
  return bytes_counted(x);
#endif
}
// The sum of the bytes of each word.
inline Words byte_sums(Words x) {
#if defined(__AVX512BW__)
  return (Words)_mm512_sad_epu8((__m512i)x, _mm512_setzero_si512());
#elif defined(__AVX2__)
  return (Words)_mm256_sad_epu8((__m256i)x, _mm256_setzero_si256());
#elif defined(__SSE2__)
  return (Words)_mm_sad_epu8((__m128i)x, _mm_setzero_si128());
#else
  constexpr Word EVEN = 0x00FF00FF00FF00FF;
  return ((x & EVEN) + (x >> 8 & EVEN)) * 0x0001000100010001 >> 48;
#endif
}
inline bool all_negative(Words x) { return tops_of(x) == (1u << WORD_LANES) - 1; }

inline Long popcount(Word x) {
#if defined(__x86_64__) && !defined(__POPCNT__)
  return Long(bytes_counted(x) * 0x0101010101010101 >> 56);
#else
  return std::popcount(x);
#endif
}
constexpr Word low_bits(Long count) { return count < 64 ? (Word(1) << count) - 1 : ~Word(0); }

// Rows of W words, or of as many as their table says where W is 0.
template <int W>
class Prints {
 public:
  explicit Prints(Table<const Word> all) : all_(all) {}
  Long words() const { return W ? W : all_.columns(); }
  Long size() const { return all_.rows(); }
  const Word* operator[](Long row) const { return check(row >= 0 && row < size()), all_.begin() + row * words(); }
  void prefetch(Long row) const { __builtin_prefetch(all_.begin() + row * words()); }
  Long distance(const Word* a, const Word* b) const {
    Long d = 0;
    for (Long w = 0; w < words(); w++) d += popcount(a[w] ^ b[w]);
    return d;
  }
  Long distance_under(const Word* mask, const Word* a, const Word* b) const {
    Long d = 0;
    for (Long w = 0; w < words(); w++) d += popcount((a[w] ^ b[w]) & mask[w]);
    return d;
  }
  // The bits of a row under a mask, mixed to one key.
  Word key_under(const Word* mask, const Word* row) const {
    constexpr Word M1 = 0xFF51AFD7ED558CCD, M2 = 0xC4CEB9FE1A85EC53;
    Word key = 0;
    for (Long w = 0; w < words(); w++) {
      Word value = row[w] & mask[w];
      value = (value ^ value >> 33) * M1;
      key = (key ^ value ^ value >> 33) * M2;
      key ^= key >> 29;
    }
    return key;
  }
  // Of masks: tells whether two rows agree under one of them, and under none before it.
  bool first_agree(Long mask, const Word* a, const Word* b) const {
    Long first = 0;
    while (first <= mask && distance_under((*this)[first], a, b)) first++;
    return first == mask;
  }

 private:
  Table<const Word> all_;
};

// Calls a function with the number of words as a constant, where it is one of the usual.
template <class F>
auto with_words(Long words, F f) {
  switch (words) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 4:
      return f(std::integral_constant<int, 4>());
    default:
      return f(std::integral_constant<int, 0>());
  }
}

// The keys of all rows under a mask.
inline Vector<Word> keys_under(Table<const Word> words, Values mask) {
  Vector<Word> keys(std::size_t(words.rows()));
  with_words(words.columns(), [&](auto width) {
    const Prints<width> prints(words);
    for (Long row = 0; row < words.rows(); row++) keys[row] = prints.key_under(mask.begin(), prints[row]);
  });
  return keys;
}

// Up to 63 bits of a row from bit `start` on.
inline Word bits_at(const Word* row, Long start, Long count) {
  Word value = row[start / 64] >> (start & 63);
  if ((start & 63) + count > 64) value |= row[start / 64 + 1] << (64 - (start & 63));
  return value & low_bits(count);
}

// Words that hold a bit of each of so many slots.
inline Long width_of(Long slots) { return (slots + 63) / 64; }

// The slots of one word in which two rows differ in any of the planes, each so many words from the one before.
inline Word differing(const Word* left, const Word* right, Long width, Long bits) {
  Word differ = 0;
  for (Long b = 0; b < bits; b++) differ |= left[b * width] ^ right[b * width];
  return differ;
}

// Slots of two rows that are equal and filled in both, filled in both, and filled in one; the plane after the `bits` planes
// tells which are filled.
struct Filled {
  Long equal, both, one;
};
inline Filled compare_filled(Values left, Values right, Long slots, Long bits) {
  const Long width = width_of(slots), plane = bits * width;
  const Word *a = left.part(0, plane + width).begin(), *b = right.part(0, plane + width).begin();
  Long equal = 0, both = 0, one = 0;
  for (Long w = 0; w < width; w++) {
    const Word own = a[w + plane], other = b[w + plane];
    equal += popcount(own & other & ~differing(a + w, b + w, width, bits));
    both += popcount(own & other);
    one += popcount(own ^ other);
  }
  return {equal, both, one};
}

struct Hit {
  Long left, right, counted;
  auto operator<=>(const Hit&) const = default;
};
// Pairs of rows, what was counted for each (a distance, matching slots), and how many pairs were compared.
using Found = std::tuple<Vector<Long>, Vector<Long>, Vector<Long>, Long>;

class Hits {
 public:
  Long compared = 0;
  Long size() const { return Long(left_.size()); }
  void add(Hit hit) {
    left_.push_back(hit.left);
    right_.push_back(hit.right);
    counted_.push_back(hit.counted);
  }
  // Adds some in ascending order, and empties them.
  void add_sorted(std::vector<Hit>& some) {
    std::sort(some.begin(), some.end());
    for (const Hit& hit : some) add(hit);
    some.clear();
  }
  Found taken() { return {std::move(left_), std::move(right_), std::move(counted_), compared}; }

 private:
  Vector<Long> left_, right_, counted_;
};

}  // namespace lookalike
