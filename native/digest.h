// Keyed digests of bytes and keyed hashes of shingles, with a proof: polynomials modulo p = 2^61 - 1 at a secret point.
//
// A digest is of blocks of 256 bytes. A block of words m and secret words k becomes the sum over i of (m[2i] + k[2i]) (m[2i+1]
// + k[2i+1]) modulo 2^128, sums in brackets modulo 2^64: two blocks of one length become the same with probability 2^-64 at
// most (NH of Black, Halevi, Krawczyk, Krovetz & Rogaway, "UMAC: fast and secure message authentication", 1999). These are the
// coefficients, three for a block, of a polynomial that begins with a one and ends with the number of bytes: two of degree d
// agree with probability d / p at most (Carter & Wegman, "Universal classes of hash functions", 1979). All that is done twice,
// with words that are shifted by two and another point, so that two different texts of up to n bytes have one digest with
// probability (2^-64 + (3 n / 256 + 7) / p)^2 at most, whoever wrote them, as long as the secret words are not known. `secret`:
// x, x^2, x^3 of both points, then the words.
//
// A token is two words (`token_key`), cut into three coefficients of 56, 56 and 16 bits. A shingle's polynomial begins with a
// one, and goes on with the coefficients of its tokens: shingles of different tokens, or of a different number of them, have
// different polynomials, of degree 3 m at most for m tokens, which have one value at 3 m points at most of the p there are. The
// value is mixed one to one. A token's coefficients make one number; shingles are rolled along these by powers of X = x^3.
// Their `secret`: x, x^2, x^3 and a word for the mixing.
#pragma once
#include <algorithm>
#include "arrays.h"
#include "hash.h"
#include "hash_table.h"

namespace lookalike {

constexpr Word P = (Word(1) << 61) - 1;
using Wide = unsigned __int128;

// Numbers modulo p, not quite reduced: below 2^61 + 8 of one word, below 2^62 of less than 2^122.
inline Word folded(Word total) { return (total & P) + (total >> 61); }
inline Word folded(Wide total) { return (Word(total) & P) + Word(total >> 61); }
inline Word times(Word a, Word b) { return folded(Wide(a) * b); }
inline Word reduced(Word value) { return value >= P ? value - P : value; }

struct Pair {
  Word a, b;
  bool operator==(const Pair&) const = default;
};

inline Word next_value(Word value, Wide sum, const Word* x) {
  constexpr Word LOW56 = (Word(1) << 56) - 1;
  const Wide total = Wide(value) * x[2] + Wide(Word(sum) & LOW56) * x[1] + Wide(Word(sum >> 56) & LOW56) * x[0];
  return folded(folded(total) + Word(sum >> 112));
}

// Up to seven bytes.
inline Word load_short(Bytes at, Long size) {
  Word word = 0;
  for (Long i = 0; i < size; i++) word |= Word(at[i]) << 8 * i;
  return word;
}

// Both values of some bytes, not quite reduced. No byte beside them is read.
inline Pair digest(Bytes at, Long size, const Word* secret) {
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
#pragma GCC unroll 4
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

// Two words that tell a token from all others: its bytes and their number, or of more than 15 bytes their digest. 16 bytes
// behind it may be read. The top bit of the second word marks a digest; of no other token it is set.
inline Pair token_key(Bytes at, Long size, const Word* secret) {
  if (size > 15) {
    const Pair value = digest(at, size, secret);
    return {reduced(value.a), reduced(value.b) | Word(1) << 63};
  }
  const Word low = load64(at), high = load64(at + 8), part = (Word(1) << 8 * (size & 7)) - 1;
  const bool whole = size >= 8;  // no branch: which tokens have eight bytes is unpredictable
  return {whole ? low : low & part, (whole ? high & part : 0) | Word(size) << 56};
}

// Number of a token's key at the point whose first powers are `secret`'s first words; below 2^61 + 2^58.
inline Word token_value(Pair key, const Word* secret) {
  constexpr Word LOW56 = (Word(1) << 56) - 1;
  const Word middle = (key.a >> 56 | key.b << 8) & LOW56;
  return folded(Wide(key.a & LOW56) * secret[1] + Wide(middle) * secret[0]) + (key.b >> 48);
}

// Writes the hashes of the shingles of tokens, by the two words of each one's key; returns how many
// there are. Fewer tokens than `width` make one shingle, none make none.
inline Long hash_keys(Values keys, Long width, Values secret, Span<Word> out) {
  thread_local Vector<Word> values;
  const Long count = keys.size() / 2, size = std::min(width, count);
  if (!count) return 0;
  values.resize(count);
  const Span<Word> tokens = values;
  const Word step = secret[2], word = secret[3];
  for (Long i = 0; i < count; i++) tokens[i] = token_value({keys[2 * i], keys[2 * i + 1]}, secret.begin());
  Word leading = 1, state = 0;  // the power of X of the one that comes first, and of the token that stood before the first
  for (Long i = 0; i < size; i++) leading = folded(times(leading, step)), state = folded(times(state, step) + tokens[i]);
  leading = reduced(leading);
  const Word leaving = P - leading;
  out[0] = fmix64(reduced(folded(state + leading)) ^ word);
  for (Long i = size; i < count; i++) {  // products are below 2^124 together
    state = folded(folded(Wide(state) * step + Wide(tokens[i - size]) * leaving) + tokens[i]);
    out[i - size + 1] = fmix64(reduced(folded(state + leading)) ^ word);
  }
  if (Long(8 * values.capacity()) > KEPT) values = {};
  return count - size + 1;
}

}  // namespace lookalike
