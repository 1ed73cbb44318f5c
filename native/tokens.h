// Tokens between separators in folded bytes.
#pragma once
#include "arrays.h"
#include "digest.h"
#include "fold.h"

namespace lookalike {

// Which of 64 bytes are no separators, as bits.
inline Word token_bytes(Bytes at, char separator) { return ~Block::load(at).equal(separator); }

// Edges of tokens that there is room for: those of a stretch of bytes, so many that they stay in the nearest cache.
constexpr Long STRETCH = 4096, EDGES = STRETCH + 72;

// Calls with begin and size of each token of folded bytes, behind which stand 128 separators. `edges`: room for EDGES.
template <class See>
void each_token(Bytes folded, Long size, char separator, std::uint32_t* edges, See see) {
  Long open = -1;  // where a token begins that an earlier stretch has not ended
  Word carry = 0;
  for (Long begin = 0; begin <= size; begin += STRETCH) {
    const int until = int(std::min(STRETCH, size + 1 - begin));
    Long n = 0;
    for (int base = 0; base < until; base += 64) {
      const Word tokens = token_bytes(folded + begin + base, separator), found = tokens ^ (tokens << 1 | carry);
      carry = tokens >> 63;
      std::uint32_t* to = edges + n;
      n += std::popcount(found);
#pragma GCC unroll 8
      for (int i = 0; i < 64; i += 8) to += number_bits(found >> i & 255, base + i, to);
    }
    Bytes stretch = folded + begin;
    Long i = 0;
    if (open >= 0 && n) see(folded + open, begin + edges[i++] - open), open = -1;
    for (; i + 1 < n; i += 2) see(stretch + edges[i], edges[i + 1] - edges[i]);
    if (i < n) open = begin + edges[i];
  }
}

}  // namespace lookalike
