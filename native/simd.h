// Blocks of 64 bytes, and which of their bytes have a property as the bits of one word.
#pragma once
#include <bit>
#include "lanes.h"

namespace lookalike {

using Bytes = const std::uint8_t*;

inline std::uint64_t load64(Bytes at) {
  std::uint64_t word;
  std::memcpy(&word, at, 8);
  return word;
}
inline void store64(std::uint8_t* at, std::uint64_t word) { std::memcpy(at, &word, 8); }

typedef std::uint8_t Octets __attribute__((vector_size(8 * WORD_LANES)));

// The top bits of bytes.
inline std::uint64_t tops_of(Octets x) {
#if defined(__AVX512BW__)
  return _mm512_movepi8_mask((__m512i)x);
#elif defined(__AVX2__)
  return std::uint32_t(_mm256_movemask_epi8((__m256i)x));
#elif defined(__SSE2__)
  return std::uint32_t(_mm_movemask_epi8((__m128i)x));
#else
  const Words tops = (Words)x >> 7 & 0x0101010101010101;
  return (tops[0] * 0x0102040810204080) >> 56 | (tops[1] * 0x0102040810204080) >> 56 << 8;
#endif
}

struct Block {
  static constexpr int SIZE = sizeof(Octets), PARTS = 64 / SIZE;
  Octets part[PARTS];

  static Block load(Bytes at) {
    Block made;
#pragma GCC unroll 4
    for (int i = 0; i < PARTS; i++) std::memcpy(&made.part[i], at + i * SIZE, SIZE);
    return made;
  }
  void store(std::uint8_t* at) const {
#pragma GCC unroll 4
    for (int i = 0; i < PARTS; i++) std::memcpy(at + i * SIZE, &part[i], SIZE);
  }
  std::uint64_t tops() const {
    return bits_where([this](int i) { return part[i]; });
  }
#if defined(__AVX512BW__)  // whose comparisons have bits as results
  std::uint64_t equal(char c) const { return _mm512_cmpeq_epi8_mask((__m512i)part[0], _mm512_set1_epi8(c)); }
  std::uint64_t unequal(const Block& other) const { return _mm512_cmpneq_epi8_mask((__m512i)part[0], (__m512i)other.part[0]); }
  std::uint64_t at_least(std::uint8_t c) const { return _mm512_cmpge_epu8_mask((__m512i)part[0], _mm512_set1_epi8(char(c))); }
#else
  std::uint64_t equal(char c) const {
    return bits_where([this, c](int i) { return part[i] == std::uint8_t(c); });
  }
  std::uint64_t unequal(const Block& other) const {
    return ~bits_where([&](int i) { return part[i] == other.part[i]; });
  }
  std::uint64_t at_least(std::uint8_t c) const {
#if defined(__AVX2__)  // GCC takes more instructions for >=
    const __m256i least = _mm256_set1_epi8(char(c));
    return bits_where([&](int i) { return (Octets)_mm256_max_epu8((__m256i)part[i], least) == part[i]; });
#else
    return ~bits_where([this, c](int i) { return part[i] < c; });
#endif
  }
#endif
  // Letters and digits of ASCII, lower-cased if asked for; blanks elsewhere.
  Block words(bool fold_case) const {
    return made_of([this, fold_case](int i) {
      const Octets x = part[i], lower = x | 32;
      const auto in_word = (lower - 'a' < 26) | (x - '0' < 10);
      return in_word ? (fold_case ? lower : x) : Octets{} + 32;
    });
  }
  // Capital letters of ASCII lower-cased.
  Block lower() const {
    return made_of([this](int i) { return part[i] | ((Octets)(part[i] - 'A' < 26) & 32); });
  }

 private:
  template <class F>
  static Block made_of(F part_of) {
    Block made;
#pragma GCC unroll 4
    for (int i = 0; i < PARTS; i++) made.part[i] = part_of(i);
    return made;
  }
  template <class F>
  static std::uint64_t bits_where(F holds) {
    std::uint64_t bits = 0;
#pragma GCC unroll 4
    for (int i = 0; i < PARTS; i++) bits |= tops_of((Octets)holds(i)) << i * SIZE;
    return bits;
  }
};

// Eight places of the bits of a byte, and how many there are.
struct BitPlaces {
  std::uint64_t of[256];
  constexpr BitPlaces() : of() {
    for (int byte = 0; byte < 256; byte++)
      for (int i = 0, k = 0; i < 8; i++)
        if (byte >> i & 1) of[byte] |= std::uint64_t(i) << 8 * k++;
  }
};
inline constexpr BitPlaces BIT_PLACES;

// Writes eight numbers, of which the first are those of the bits of a byte, counted from `base` on; returns how many these are.
// Without a branch: which bits are set is unpredictable.
inline int number_bits(unsigned byte, std::uint32_t base, std::uint32_t* to) {
  const std::uint64_t places = BIT_PLACES.of[byte];
#if defined(__AVX2__)
  const __m256i wide = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(std::int64_t(places)));
  _mm256_storeu_si256((__m256i*)to, _mm256_add_epi32(wide, _mm256_set1_epi32(int(base))));
#else
  for (int i = 0; i < 8; i++) to[i] = base + (places >> 8 * i & 255);
#endif
  return std::popcount(byte);
}

}  // namespace lookalike
