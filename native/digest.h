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

// Both values of some bytes, not quite reduced. 16 bytes behind them may be read.
inline Pair digest(Bytes at, std::int64_t size, const Word* secret) {
  Pair value{1, 1};
  for (Bytes end = at + size; at < end;) {
    Bytes stop = std::min(at + 256, end);
    Wide a = 0, b = 0;
    const Word* k = secret + 6;
    const auto add = [&](Word first, Word second) {
      a += Wide(first + k[0]) * (second + k[1]);
      b += Wide(first + k[2]) * (second + k[3]);
      k += 2;
    };
    for (; at + 16 <= stop; at += 16) add(load64(at), load64(at + 8));
    if (const int rest = int(stop - at)) {
      Word first = load64(at), second = 0;
      if (rest < 8) first &= (Word(1) << 8 * rest) - 1;
      else second = load64(at + 8) & ((Word(1) << 8 * (rest - 8)) - 1);
      add(first, second);
      at = stop;
    }
    value.a = next_value(value.a, a, secret);
    value.b = next_value(value.b, b, secret + 3);
  }
  return {folded(times(value.a, secret[0]) + Word(size)), folded(times(value.b, secret[3]) + Word(size))};
}

}  // namespace lookalike
