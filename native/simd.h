// Blocks of 64 bytes, and which of their bytes have a property as the bits of one word: by what the level offers.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace lookalike {

using Bytes = const std::uint8_t*;

inline std::uint64_t load64(Bytes at) {
  std::uint64_t word;
  std::memcpy(&word, at, 8);
  return word;
}
inline void store64(std::uint8_t* at, std::uint64_t word) { std::memcpy(at, &word, 8); }

#if defined(__AVX512BW__)
struct Block {
  __m512i all;
  static Block load(Bytes at) { return {_mm512_loadu_si512(at)}; }
  void store(std::uint8_t* at) const { _mm512_storeu_si512(at, all); }
  std::uint64_t tops() const { return _mm512_movepi8_mask(all); }
  std::uint64_t equal(char c) const { return _mm512_cmpeq_epi8_mask(all, _mm512_set1_epi8(c)); }
  std::uint64_t unequal(const Block& other) const { return _mm512_cmpneq_epi8_mask(all, other.all); }
  std::uint64_t at_least(std::uint8_t c) const { return _mm512_cmpge_epu8_mask(all, _mm512_set1_epi8(char(c))); }
  // Letters and digits of ASCII, lower-cased if asked for; blanks elsewhere.
  Block words(bool fold_case) const {
    const __m512i lower = _mm512_or_si512(all, _mm512_set1_epi8(32));
    const __mmask64 letters = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(lower, _mm512_set1_epi8('a')), _mm512_set1_epi8(26));
    const __mmask64 digits = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(all, _mm512_set1_epi8('0')), _mm512_set1_epi8(10));
    return {_mm512_mask_mov_epi8(_mm512_set1_epi8(32), letters | digits, fold_case ? lower : all)};
  }
  // Capital letters of ASCII lower-cased.
  Block lower() const {
    const __mmask64 upper = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(all, _mm512_set1_epi8('A')), _mm512_set1_epi8(26));
    return {_mm512_mask_add_epi8(all, upper, all, _mm512_set1_epi8(32))};
  }
};
#elif defined(__AVX2__)
struct Block {
  __m256i low, high;
  static Block load(Bytes at) {
    return {_mm256_loadu_si256((const __m256i*)at), _mm256_loadu_si256((const __m256i*)(at + 32))};
  }
  void store(std::uint8_t* at) const {
    _mm256_storeu_si256((__m256i*)at, low);
    _mm256_storeu_si256((__m256i*)(at + 32), high);
  }
  static std::uint64_t bits(__m256i low, __m256i high) {
    return std::uint32_t(_mm256_movemask_epi8(low)) | std::uint64_t(std::uint32_t(_mm256_movemask_epi8(high))) << 32;
  }
  std::uint64_t tops() const { return bits(low, high); }
  std::uint64_t equal(char c) const {
    const __m256i wanted = _mm256_set1_epi8(c);
    return bits(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted));
  }
  std::uint64_t unequal(const Block& other) const {
    return ~bits(_mm256_cmpeq_epi8(low, other.low), _mm256_cmpeq_epi8(high, other.high));
  }
  std::uint64_t at_least(std::uint8_t c) const {
    const __m256i least = _mm256_set1_epi8(char(c));
    return bits(_mm256_cmpeq_epi8(_mm256_max_epu8(low, least), low), _mm256_cmpeq_epi8(_mm256_max_epu8(high, least), high));
  }
  static __m256i words(__m256i x, bool fold_case) {
    const __m256i blank = _mm256_set1_epi8(32), lower = _mm256_or_si256(x, blank);
    const __m256i a = _mm256_sub_epi8(lower, _mm256_set1_epi8('a')), d = _mm256_sub_epi8(x, _mm256_set1_epi8('0'));
    const __m256i letters = _mm256_cmpeq_epi8(_mm256_min_epu8(a, _mm256_set1_epi8(25)), a);
    const __m256i digits = _mm256_cmpeq_epi8(_mm256_min_epu8(d, _mm256_set1_epi8(9)), d);
    return _mm256_blendv_epi8(blank, fold_case ? lower : x, _mm256_or_si256(letters, digits));
  }
  Block words(bool fold_case) const { return {words(low, fold_case), words(high, fold_case)}; }
  static __m256i lower(__m256i x) {
    const __m256i a = _mm256_sub_epi8(x, _mm256_set1_epi8('A'));
    const __m256i upper = _mm256_cmpeq_epi8(_mm256_min_epu8(a, _mm256_set1_epi8(25)), a);
    return _mm256_or_si256(x, _mm256_and_si256(upper, _mm256_set1_epi8(32)));
  }
  Block lower() const { return {lower(low), lower(high)}; }
};
#else
struct Block {
  std::uint64_t part[8];
  static constexpr std::uint64_t TOPS = 0x8080808080808080, ONES = 0x0101010101010101;
  static Block load(Bytes at) {
    Block made;
    std::memcpy(made.part, at, 64);
    return made;
  }
  void store(std::uint8_t* at) const { std::memcpy(at, part, 64); }
  static std::uint64_t gather(std::uint64_t tops) { return ((tops >> 7) * 0x0102040810204080) >> 56; }
  template <class F>
  std::uint64_t each(F tops_of) const {
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; i++) bits |= gather(tops_of(part[i]) & TOPS) << 8 * i;
    return bits;
  }
  static std::uint64_t from(std::uint64_t x, std::uint8_t c) {  // top bits of bytes that are c or more, 0 < c <= 128 or above
    const std::uint64_t low = (x & ~TOPS) + ONES * (0x80 - (c & 0x7F));
    return c < 0x80 ? low | x : low & x;
  }
  std::uint64_t tops() const {
    return each([](std::uint64_t x) { return x; });
  }
  std::uint64_t equal(char c) const {
    return each([c](std::uint64_t x) {
      x ^= ONES * std::uint8_t(c);
      return ~(((x & ~TOPS) + ~TOPS) | x);
    });
  }
  std::uint64_t unequal(const Block& other) const {
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; i++) {
      const std::uint64_t x = part[i] ^ other.part[i];
      bits |= gather((((x & ~TOPS) + ~TOPS) | x) & TOPS) << 8 * i;
    }
    return bits;
  }
  std::uint64_t at_least(std::uint8_t c) const {
    return each([c](std::uint64_t x) { return from(x, c); });
  }
  Block words(bool fold_case) const {
    Block made;
    for (int i = 0; i < 8; i++) {
      const std::uint64_t x = part[i], lower = x | ONES * 32;
      std::uint64_t chosen = (from(lower, 'a') & ~from(lower, 'z' + 1)) | (from(x, '0') & ~from(x, '9' + 1));
      chosen &= ~x & TOPS;
      const std::uint64_t mask = (chosen - (chosen >> 7)) | chosen;
      made.part[i] = ((fold_case ? lower : x) & mask) | (ONES * 32 & ~mask);
    }
    return made;
  }
  Block lower() const {
    Block made;
    for (int i = 0; i < 8; i++) made.part[i] = part[i] | (from(part[i], 'A') & ~from(part[i], 'Z' + 1) & ~part[i] & TOPS) >> 2;
    return made;
  }
};
#endif

}  // namespace lookalike
