// Numbers side by side: as many as a register of the level holds.
#pragma once
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace lookalike {

#if defined(__AVX512BW__)
constexpr int LANES = 16;
#elif defined(__AVX2__)
constexpr int LANES = 8;
#else
constexpr int LANES = 4;
#endif
constexpr int WORD_LANES = LANES / 2;  // of 64 bits
typedef std::uint32_t Lanes __attribute__((vector_size(4 * LANES)));
typedef std::int32_t Signed __attribute__((vector_size(4 * LANES)));
typedef std::uint64_t Words __attribute__((vector_size(8 * WORD_LANES)));

inline Lanes load(const std::uint32_t* at) {
  Lanes made;
  std::memcpy(&made, at, sizeof made);
  return made;
}

// Which lanes of a comparison hold, as bits.
inline std::uint32_t bits_of(Signed x) {
#if defined(__AVX512BW__)
  return _mm512_movepi32_mask((__m512i)x);
#elif defined(__AVX2__)
  return std::uint32_t(_mm256_movemask_ps((__m256)x));
#elif defined(__SSE2__)
  return std::uint32_t(_mm_movemask_ps((__m128)x));
#else
  std::uint32_t bits = 0;
  for (int i = 0; i < LANES; i++) bits |= (std::uint32_t(x[i]) >> 31) << i;
  return bits;
#endif
}

inline Words load(const std::uint64_t* at) {
  Words made;
  std::memcpy(&made, at, sizeof made);
  return made;
}
inline void store(std::uint64_t* at, Words x) { std::memcpy(at, &x, sizeof x); }

// The top bits of words.
inline unsigned tops_of(Words x) {
#if defined(__AVX512BW__)
  return _mm512_movepi64_mask((__m512i)x);
#elif defined(__AVX2__)
  return unsigned(_mm256_movemask_pd((__m256d)x));
#elif defined(__SSE2__)
  return unsigned(_mm_movemask_pd((__m128d)x));
#else
  return unsigned(x[0] >> 63 | x[1] >> 63 << 1);
#endif
}

// The products of the lower halves of words.
inline Words multiply_halves(Words a, Words b) {
#if defined(__AVX512BW__)
  return (Words)_mm512_maskz_mul_epu32(0xFF, (__m512i)a, (__m512i)b);  // without a mask GCC 12 warns in vain
#elif defined(__AVX2__)
  return (Words)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
  return (Words)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu);
#endif
}
inline std::uint64_t multiply_halves(std::uint64_t a, std::uint64_t b) { return (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF); }

// A sum of products of words by numbers. Where only halves are multiplied, products of lower by upper ones are added up apart.
template <class W>
struct Products {
  W sum{};
  void add(W x, std::uint64_t factor) { sum += x * factor; }
  W value() const { return sum; }
};
#if defined(__AVX2__) && !defined(__AVX512DQ__)
template <>
struct Products<Words> {
  Words sum{};
  Lanes crosswise{};
  void add(Words x, std::uint64_t factor) {
    sum += multiply_halves(x, Words{} + factor);
    crosswise += (Lanes)x * (Lanes)(Words{} + (factor >> 32 | factor << 32));
  }
  Words value() const { return sum + (((Words)crosswise + ((Words)crosswise >> 32)) << 32); }
};
#endif
template <class W>
inline W product(W x, std::uint64_t factor) {
  Products<W> products;
  products.add(x, factor);
  return products.value();
}

}  // namespace lookalike
