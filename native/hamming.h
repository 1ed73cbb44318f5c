// Fingerprints and packed sketches as rows of 64-bit words: distances, vectors of words, and what a search finds.
#pragma once
#include <algorithm>
#include <tuple>
#include <type_traits>
#include "arrays.h"
#include "hash.h"

namespace lookalike {

// How many bits of each byte are set, and the sum of all bytes.
constexpr Word bytes_counted(Word x) {
  x -= x >> 1 & 0x5555555555555555;
  x = (x & 0x3333333333333333) + (x >> 2 & 0x3333333333333333);
  return (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F;
}
constexpr Word bytes_summed(Word x) {
  constexpr Word EVEN = 0x00FF00FF00FF00FF;
  return ((x & EVEN) + (x >> 8 & EVEN)) * 0x0001000100010001 >> 48;
}
inline std::int64_t popcount(Word x) {
#if defined(__x86_64__) && !defined(__POPCNT__)
  return std::int64_t(bytes_counted(x) * 0x0101010101010101 >> 56);
#else
  return std::popcount(x);
#endif
}
constexpr Word low_bits(std::int64_t count) { return count < 64 ? (Word(1) << count) - 1 : ~Word(0); }

// Some words that are worked on at a time. `byte_counts` counts the bits of each byte, `sums` adds up the bytes of each word.
#if defined(__AVX512BW__)
struct WordLanes {
  static constexpr int N = 8;
  __m512i all;
  static WordLanes load(const Word* at) { return {_mm512_loadu_si512(at)}; }
  static WordLanes of(Word x) { return {_mm512_set1_epi64(std::int64_t(x))}; }
  void store(Word* at) const { _mm512_storeu_si512(at, all); }
  WordLanes operator^(WordLanes b) const { return {_mm512_xor_si512(all, b.all)}; }
  WordLanes operator|(WordLanes b) const { return {_mm512_or_si512(all, b.all)}; }
  WordLanes operator&(WordLanes b) const { return {_mm512_and_si512(all, b.all)}; }
  WordLanes operator+(WordLanes b) const { return {_mm512_add_epi64(all, b.all)}; }
  WordLanes operator-(WordLanes b) const { return {_mm512_sub_epi64(all, b.all)}; }
  bool negative() const { return _mm512_movepi64_mask(all) == 0xFF; }
  WordLanes byte_counts() const {
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m512i counts = _mm512_maskz_broadcast_i32x4(0xFFFF, _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m512i low = _mm512_shuffle_epi8(counts, _mm512_and_si512(all, nibble));
    const __m512i high = _mm512_shuffle_epi8(counts, _mm512_and_si512(_mm512_srli_epi16(all, 4), nibble));
    return {_mm512_add_epi8(low, high)};
  }
  WordLanes sums() const { return {_mm512_sad_epu8(all, _mm512_setzero_si512())}; }
};
#elif defined(__AVX2__)
struct WordLanes {
  static constexpr int N = 4;
  __m256i all;
  static WordLanes load(const Word* at) { return {_mm256_loadu_si256((const __m256i*)at)}; }
  static WordLanes of(Word x) { return {_mm256_set1_epi64x(std::int64_t(x))}; }
  void store(Word* at) const { _mm256_storeu_si256((__m256i*)at, all); }
  WordLanes operator^(WordLanes b) const { return {_mm256_xor_si256(all, b.all)}; }
  WordLanes operator|(WordLanes b) const { return {_mm256_or_si256(all, b.all)}; }
  WordLanes operator&(WordLanes b) const { return {_mm256_and_si256(all, b.all)}; }
  WordLanes operator+(WordLanes b) const { return {_mm256_add_epi64(all, b.all)}; }
  WordLanes operator-(WordLanes b) const { return {_mm256_sub_epi64(all, b.all)}; }
  bool negative() const { return _mm256_movemask_pd(_mm256_castsi256_pd(all)) == 15; }
  WordLanes byte_counts() const {
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i counts = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m256i low = _mm256_shuffle_epi8(counts, _mm256_and_si256(all, nibble));
    const __m256i high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16(all, 4), nibble));
    return {_mm256_add_epi8(low, high)};
  }
  WordLanes sums() const { return {_mm256_sad_epu8(all, _mm256_setzero_si256())}; }
};
#else
struct WordLanes {
  static constexpr int N = 1;
  Word all;
  static WordLanes load(const Word* at) { return {*at}; }
  static WordLanes of(Word x) { return {x}; }
  void store(Word* at) const { *at = all; }
  WordLanes operator^(WordLanes b) const { return {all ^ b.all}; }
  WordLanes operator|(WordLanes b) const { return {all | b.all}; }
  WordLanes operator&(WordLanes b) const { return {all & b.all}; }
  WordLanes operator+(WordLanes b) const { return {all + b.all}; }
  WordLanes operator-(WordLanes b) const { return {all - b.all}; }
  bool negative() const { return all >> 63; }
  WordLanes byte_counts() const { return {bytes_counted(all)}; }
  WordLanes sums() const { return {bytes_summed(all)}; }
};
#endif

// Rows of W words, or of as many as their table says where W is 0.
template <int W>
class Prints {
 public:
  explicit Prints(Table<const Word> all) : all_(all) {}
  std::int64_t words() const { return W ? W : all_.columns(); }
  std::int64_t size() const { return all_.rows(); }
  const Word* operator[](std::int64_t row) const { return check(row >= 0 && row < size()), all_.begin() + row * words(); }
  void prefetch(std::int64_t row) const { __builtin_prefetch(all_.begin() + row * words()); }
  std::int64_t distance(const Word* a, const Word* b) const {
    std::int64_t d = 0;
    for (std::int64_t w = 0; w < words(); w++) d += popcount(a[w] ^ b[w]);
    return d;
  }
  std::int64_t distance_under(const Word* mask, const Word* a, const Word* b) const {
    std::int64_t d = 0;
    for (std::int64_t w = 0; w < words(); w++) d += popcount((a[w] ^ b[w]) & mask[w]);
    return d;
  }
  bool agree_under(const Word* mask, const Word* a, const Word* b) const {
    Word differ = 0;
    for (std::int64_t w = 0; w < words(); w++) differ |= (a[w] ^ b[w]) & mask[w];
    return !differ;
  }

 private:
  Table<const Word> all_;
};

// Calls a function with the number of words as a constant, where it is one of the usual.
template <class F>
auto with_words(std::int64_t words, F f) {
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

// Up to 63 bits of a row from bit `start` on.
inline Word bits_at(const Word* row, std::int64_t start, std::int64_t count) {
  Word value = row[start / 64] >> (start & 63);
  if ((start & 63) + count > 64) value |= row[start / 64 + 1] << (64 - (start & 63));
  return value & low_bits(count);
}

struct Hit {
  std::int64_t left, right, counted;
};
// Pairs of rows, what was counted for each (a distance, matching slots), and how many pairs were compared.
using Found = std::tuple<Vector<std::int64_t>, Vector<std::int64_t>, Vector<std::int64_t>, std::int64_t>;

class Hits {
 public:
  std::int64_t compared = 0;
  std::int64_t size() const { return std::int64_t(left_.size()); }
  void add(Hit hit) {
    left_.push_back(hit.left);
    right_.push_back(hit.right);
    counted_.push_back(hit.counted);
  }
  // Adds some in ascending order, and empties them.
  void add_sorted(std::vector<Hit>& some) {
    if (some.size() > 1)
      std::sort(some.begin(), some.end(),
                [](const Hit& a, const Hit& b) { return a.left != b.left ? a.left < b.left : a.right < b.right; });
    for (const Hit& hit : some) add(hit);
    some.clear();
  }
  Found taken() { return {std::move(left_), std::move(right_), std::move(counted_), compared}; }

 private:
  Vector<std::int64_t> left_, right_, counted_;
};

}  // namespace lookalike
