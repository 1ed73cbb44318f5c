// Hashes and digests of rows of bytes, of tokens and of integers.
#include "arrays.h"
#include "digest.h"
#include "hash.h"

namespace lookalike {

// Mixes integers of any structure into 64-bit hashes; a bijection, so that different ones stay different.
static Vector<Word> mix_keys(Values keys) {
  Vector<Word> mixed(keys.size());
  std::transform(keys.begin(), keys.end(), mixed.begin(), [](Word key) { return fmix64(key + K0); });
  return mixed;
}

static Word hash_text(Bytes at, Long size) {
  Word state = K0 ^ Word(size);
  const Bytes end = at + size;
  for (; at + 16 <= end; at += 16) state = mum(state ^ load64(at), load64(at + 8) ^ K1);
  for (; at < end; at += 8) state = mum(state ^ load_short(at, std::min<Long>(8, end - at)), K1);
  return fmix64(state ^ K2);
}

// Hashes the bytes of each row.
static Vector<Word> hash_texts(Data data, Longs offsets) {
  Vector<Word> hashes(offsets.size() - 1);
  for (std::size_t row = 0; row < hashes.size(); row++) {
    const auto text = data.part(offsets[row], offsets[row + 1] - offsets[row]);
    hashes[row] = hash_text(text.begin(), text.size());
  }
  return hashes;
}

// Makes two words of the bytes of each row.
template <class PairOf>
static Matrix<Word> pairs_of_rows(Data data, Longs offsets, PairOf pair_of) {
  Matrix<Word> pairs(offsets.size() - 1, 2);
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    const Pair pair = pair_of(row, data.part(offsets[row], offsets[row + 1] - offsets[row]));
    pairs.elements[2 * row] = pair.a;
    pairs.elements[2 * row + 1] = pair.b;
  }
  return pairs;
}

// Keyed digests of the bytes of each row, two words of 61 bits; `withins`, numbers below p for each
// row, are two more coefficients, if there are any.
static Matrix<Word> digest_documents(Data data, Longs offsets, Values secret, Table<const Word> withins) {
  return pairs_of_rows(data, offsets, [&](Long row, Data text) {
    Pair value = digest(text.begin(), text.size(), secret.begin());
    if (withins.rows())
      for (const Word within : withins[row])
        value = {folded(times(value.a, secret[0]) + within), folded(times(value.b, secret[3]) + within)};
    return Pair{reduced(value.a), reduced(value.b)};
  });
}

// The keys of rows, each a token: see `token_key`.
static Matrix<Word> token_keys(Data data, Longs offsets, Values secret) {
  return pairs_of_rows(data, offsets, [&](Long, Data token) {
    std::uint8_t padded[16] = {};
    Bytes at = token.begin();
    if (token.size() <= 15 && data.end() - at < 16) std::copy(at, token.end(), padded), at = padded;
    return token_key(at, token.size(), secret.begin());
  });
}

// Writes the hashes of the shingles of rows of token keys, with repeats: see `hash_keys`. Returns where those of rows begin.
static Vector<Long> hash_key_rows(Table<const Word> keys, Longs offsets, Long width, Values secret, Span<Word> out) {
  Vector<Long> bounds(offsets.size());
  bounds[0] = 0;
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    const auto [begin, end] = std::pair(offsets[row], offsets[row + 1]);
    const Values some{keys.begin() + 2 * begin, std::size_t(2 * (end - begin))};
    bounds[row + 1] = bounds[row] + hash_keys(some, width, secret, out.part(bounds[row], end - begin));
  }
  return bounds;
}

void define_hashes(nb::module_& m) {
  define(m, "mix_keys", &mix_keys);
  define(m, "hash_texts", &hash_texts);
  define(m, "digest_documents", &digest_documents);
  define(m, "digest_documents",
         [](Data data, Longs offsets, Values secret) { return digest_documents(data, offsets, secret, {}); });
  define(m, "token_keys", &token_keys);
  define(m, "hash_keys", &hash_key_rows);
}

}  // namespace lookalike
