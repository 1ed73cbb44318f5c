// Keyed digests with a proof: polynomials modulo 2^61 - 1 at a secret point over sums of products (NH) of blocks of 256 bytes.
#pragma once
#include <algorithm>
#include "hash.h"

namespace lookalike {

constexpr Word P = (Word(1) << 61) - 1;
using Wide = unsigned __int128;

// Products modulo p, not quite reduced.
inline Word times(Word a, Word b) {
  const Wide product = Wide(a) * b;
  return (Word(product) & P) + Word(product >> 61);
}
inline Word folded(Word total) { return (total & P) + (total >> 61); }
inline Word reduced(Word value) { return value >= P ? value - P : value; }

struct Pair {
  Word a, b;
};

inline Word next_value(Word value, Wide sum, const Word* x) {
  constexpr Word LOW56 = (Word(1) << 56) - 1;
  return folded(times(value, x[2]) + times(Word(sum) & LOW56, x[1]) + times(Word(sum >> 56) & LOW56, x[0]) + Word(sum >> 112));
}

// Up to seven bytes.
inline Word load_short(Bytes at, std::int64_t size) {
  Word word = 0;
  for (std::int64_t i = 0; i < size; i++) word |= Word(at[i]) << 8 * i;
  return word;
}

// Both values of some bytes, not quite reduced. No byte beside them is read.
inline Pair digest(Bytes at, std::int64_t size, const Word* secret) {
  Pair value{1, 1};
  for (Bytes end = at + size; at < end;) {
    const Bytes stop = std::min(at + 256, end);
    Wide a = 0, b = 0;
    const Word* k = secret + 6;
    const auto add = [&](Word first, Word second) {
      a += Wide(first + k[0]) * (second + k[1]);
      b += Wide(first + k[2]) * (second + k[3]);
      k += 2;
    };
    for (; at + 16 <= stop; at += 16) add(load64(at), load64(at + 8));
    if (const int rest = int(stop - at); rest > 8) {
      add(load64(at), load64(stop - 8) >> 8 * (16 - rest));
    } else if (rest == 8) {
      add(load64(at), 0);
    } else if (rest) {
      add(size < 8 ? load_short(at, rest) : load64(stop - 8) >> 8 * (8 - rest), 0);
    }
    at = stop;
    value.a = next_value(value.a, a, secret);
    value.b = next_value(value.b, b, secret + 3);
  }
  return {folded(times(value.a, secret[0]) + Word(size)), folded(times(value.b, secret[3]) + Word(size))};
}

// Two words that tell a token from all others: its bytes and their number, or of more than 15 bytes their digest. 16 bytes behind
// it may be read. The top bit of the second word marks a digest; of no other token it is set.
inline Pair token_key(Bytes at, std::int64_t size, const Word* secret) {
  if (size > 15) {
    const Pair value = digest(at, size, secret);
    return {reduced(value.a), reduced(value.b) | Word(1) << 63};
  }
  const Word low = load64(at), high = load64(at + 8), part = (Word(1) << 8 * (size & 7)) - 1;
  const bool whole = size >= 8;  // no branch: which tokens have eight bytes is unpredictable
  return {whole ? low : low & part, (whole ? high & part : 0) | Word(size) << 56};
}

// Number of a token's key at the point whose first powers are `secret`'s first words; below 2^62 + 2^58.
inline Word token_value(Pair key, const Word* secret) {
  constexpr Word LOW56 = (Word(1) << 56) - 1;
  const Word middle = (key.a >> 56 | key.b << 8) & LOW56;
  return times(key.a & LOW56, secret[1]) + times(middle, secret[0]) + (key.b >> 48);
}

}  // namespace lookalike
