// Tokens of folded bytes, and their keys.
#pragma once
#include "arrays.h"
#include "digest.h"
#include "fold.h"

namespace lookalike {

// Which of 64 bytes are no separators, as bits.
inline Word token_bytes(Bytes at, char separator) { return ~Block::load(at).equal(separator); }

// Writes the keys of the tokens that stand between separators in so many folded bytes, behind which stand 80 separators;
// returns how many there are: half as many as there are bytes, rounded up, at most.
inline std::int64_t key_separated(Bytes folded, std::int64_t size, char separator, const Word* points, Word* out) {
  const Word* const first = out;
  std::int64_t start = 0;
  bool inside = false;
  Word carry = 0;
  for (std::int64_t base = 0; base <= size; base += 64) {
    const Word tokens = token_bytes(folded + base, separator);
    Word edges = tokens ^ (tokens << 1 | carry);
    carry = tokens >> 63;
    for (; edges; edges &= edges - 1) {
      const std::int64_t edge = base + std::countr_zero(edges);
      if (inside) {
        const Pair key = token_key(folded + start, edge - start, points);
        out[0] = key.a, out[1] = key.b;
        out += 2;
      }
      start = edge;
      inside = !inside;
    }
  }
  return (out - first) / 2;
}

}  // namespace lookalike
