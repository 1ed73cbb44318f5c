// Hashes: mixers, tokens, shingles.
#pragma once
#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <vector>
#include "arrays.h"
#include "simd.h"

namespace lookalike {

using Word = std::uint64_t;
using Values = Span<const Word>;
constexpr Word K0 = 0xA0761D6478BD642F, K1 = 0xE7037ED1A0B428DB, K2 = 0x8EBC6AF09C88C6E3, K3 = 0x589965CC75374CC3;
constexpr Word GOLDEN = 0x9E3779B97F4A7C15, ODD = 0xD6E8FEB86659FD93;
constexpr Word MULTIPLIER = 0x9FB21C651E98DF25;  // odd, and neither 1 nor -1 modulo 8

// The finaliser of MurmurHash3, of a word or of several side by side.
template <class W>
inline W fmix64(W x) {
  x = product(x ^ x >> 33, 0xFF51AFD7ED558CCD);
  x = product(x ^ x >> 33, 0xC4CEB9FE1A85EC53);
  return x ^ x >> 33;
}
inline Word mum(Word a, Word b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return Word(product) ^ Word(product >> 64);
}

// The bytes of a word that belong to a token of so many bytes.
constexpr auto LAST_BYTES = [] {
  std::array<Word, 16> masks;
  for (int size = 0; size < 16; size++) masks[size] = (Word(1) << 8 * (size & 7)) - 1;
  return masks;
}();

[[gnu::noinline, gnu::cold]] inline Word hash_long_token(Bytes at, Word size) {
  Word state = K0;
  Bytes last = at;
  for (; last + 8 <= at + size; last += 8) state = mum(state ^ load64(last), K2);
  return mum(state ^ (load64(last) & LAST_BYTES[size & 7]), K1 ^ size);
}
inline Word hash_token(Bytes at, Word size) {
  if (size >= 16) return hash_long_token(at, size);
  // Without a branch, nor one that a compiler makes of a choice: which tokens have eight bytes is unpredictable.
  const Word state = K0 ^ ((mum(K0 ^ load64(at), K2) ^ K0) & (Word(0) - (size >> 3)));
  return mum(state ^ (load64(at + (size & 8)) & LAST_BYTES[size]), K1 ^ size);
}

// Several words, where they are multiplied faster than one after the other.
using LongWords = std::conditional_t<(WORD_LANES > 2), Words, Word>;

constexpr Word power_of_multiplier(int n) { return n ? MULTIPLIER * power_of_multiplier(n - 1) : 1; }
constexpr int SHORT = sizeof(LongWords) == 64 ? 8 : 5;  // shingles of that many tokens are not rolled

// Writes the hashes of `n` short shingles, a lane for each; returns whether they are short.
template <int WIDTH = 1>
inline bool hash_short_shingles(const Word* tokens, Long width, Long n, Word* out) {
  if (width != WIDTH) {
    if constexpr (WIDTH < SHORT) return hash_short_shingles<WIDTH + 1>(tokens, width, n, out);
    return false;
  }
  const auto hash = [&](Long i, auto state) {
    using All = decltype(state);
    const auto token = [&](int j) {
      All lanes;
      std::memcpy(&lanes, tokens + i + j, sizeof(All));
      return lanes;
    };
    [&]<int... j>(std::integer_sequence<int, j...>) {
      Products<All> products;
      (products.add(token(j), power_of_multiplier(WIDTH - 1 - j)), ...);
      state = products.value() + WIDTH * K3;
    }(std::make_integer_sequence<int, WIDTH>{});
    state = fmix64(state);
    std::memcpy(out + i, &state, sizeof(All));
  };
  constexpr Long AT_ONCE = sizeof(LongWords) / sizeof(Word);
  Long i = 0;
  for (; i + AT_ONCE <= n; i += AT_ONCE) hash(i, LongWords{});
  for (; i < n; i++) hash(i, Word{});
  return true;
}

// Hashes shingles of tokens; fewer tokens than the width make one, none make none. Returns how many there are.
inline Long hash_shingles(const Word* tokens, Long count, Long width, Word* out) {
  if (!count) return 0;
  width = std::min(width, count);
  const Long n = count - width + 1;
  if (hash_short_shingles(tokens, width, n, out)) return n;
  const Word length = Word(width) * K3;
  Word leaving = 1, state = 0;
  for (Long i = 0; i < width; i++) leaving *= MULTIPLIER, state = state * MULTIPLIER + tokens[i];
  out[0] = fmix64(state + length);
  for (Long i = width; i < count; i++) {
    state = state * MULTIPLIER + (tokens[i] - tokens[i - width] * leaving);
    out[i - width + 1] = fmix64(state + length);
  }
  return n;
}

}  // namespace lookalike
