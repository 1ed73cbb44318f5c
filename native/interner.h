// Tokens and shingles numbered by first appearance: equal numbers mean equal tokens, equal shingles.
#pragma once
#include <tuple>
#include "arrays.h"
#include "digest.h"
#include "tag_table.h"

namespace lookalike {

// No hash decides: keys that hold a token's bytes are compared, and the numbers of a shingle's tokens; hashes, under a secret
// of four words, say only where to look.
class Interner {
 public:
  Interner(Long width, Values secret)
      : width_(width),
        multiplier_(secret[2] | 1),
        square_(multiplier_ * multiplier_),
        secret_{secret[0], secret[1], secret[3]} {}

  // Numbers the shingles of rows of token keys; fewer tokens than the width make one shingle, none make none.
  void add(Longs offsets, Table<const Word> keys) {
    if (!shingles_.size()) {
      tokens_.reset(std::max<Long>(keys.rows() / 16, 64));
      shingles_.reset(std::max<Long>(keys.rows() / 4, 256));
    }
    make_room(numbers_, keys.rows());
    for (Long row = 0; row + 1 < offsets.size(); row++) {
      const Long begin = offsets[row], count = offsets[row + 1] - begin;
      ids_.resize(count);
      for (Long i = 0; i < count; i++) ids_[i] = token({keys[begin + i][0], keys[begin + i][1]});
      if (count && count < width_) ids_.push_back(-1);  // no token has this number
      if (count) number(ids_);
      offsets_.push_back(Long(numbers_.size()));
    }
  }

  // The numbers, repeats included, of the rows since the last time, and where those of each begin.
  std::tuple<Vector<std::int32_t>, Vector<Long>> take() {
    ids_ = {};
    return {std::exchange(numbers_, {}), std::exchange(offsets_, {0})};
  }

 private:
  static constexpr Long TOGETHER = 64;  // shingles whose look-ups do not wait for each other

  // The number of a token.
  std::int32_t token(Pair key) {
    const Word hash = fmix64(mum(key.a ^ secret_[0], key.b ^ secret_[1]));
    tokens_.reserve(Long(token_keys_.size()) + 1);
    auto& entry = tokens_.find(hash, [&](const auto& found) { return token_keys_[found.number() - 1] == key; });
    if (entry.free()) {
      token_keys_.push_back(key);
      entry = {hash, token_keys_.size()};
    }
    return std::int32_t(entry.number() - 1);
  }

  // Numbers the shingles of a row's tokens.
  void number(Span<const std::int32_t> ids) {
    const Long size = std::min(width_, ids.size()), n = ids.size() - size + 1;
    Word hashes[TOGETHER];
    Long before = -1;
    for (Long first = 0; first < n; first += TOGETHER) {
      const Long some = std::min(n - first, TOGETHER);
      shingles_.reserve(size_ + some);
      for (Long i = 0; i < some; i++) {
        hashes[i] = hash(ids.part(first + i, size));
        shingles_.prefetch(hashes[i]);
      }
      for (Long i = 0; i < some; i++) __builtin_prefetch(known_ids_.data() + shingles_.first(hashes[i]).home());
      for (Long i = 0; i < some; i++) {
        const Span<const std::int32_t> own = ids.part(first + i, size);
        auto& entry = shingles_.find(hashes[i], [&](const auto& found) { return same(found.home(), own); });
        if (entry.free()) entry = {hashes[i], Word(++size_), remember(own, before)};
        before = entry.home();
        numbers_.push_back(std::int32_t(entry.number() - 1));
      }
    }
  }

  Word hash(Span<const std::int32_t> ids) const {
    Word hash = secret_[2];
    Long i = 0;
    for (; i + 1 < ids.size(); i += 2)  // two at a time: multiplications wait for each other
      hash = hash * square_ + (Word(ids[i]) * multiplier_ + Word(ids[i + 1]));
    if (i < ids.size()) hash = hash * multiplier_ + Word(ids[i]);
    return fmix64(hash);
  }

  // Whether the tokens of a known shingle are these.
  bool same(Long home, Span<const std::int32_t> ids) const {
    if (home + ids.size() > Long(known_ids_.size())) return false;
    const std::int32_t* known = &known_ids_[home];
    std::int32_t unequal = 0;
    for (Long i = 0; i < ids.size(); i++) unequal |= known[i] ^ ids[i];
    return !unequal;
  }

  // Keeps the tokens of a shingle; they overlap those of the one before where that was the last to be kept.
  Long remember(Span<const std::int32_t> ids, Long before) {
    const Long filled = Long(known_ids_.size());
    if (before >= 0 && before + width_ == filled) {
      known_ids_.push_back(ids[ids.size() - 1]);
      return before + 1;
    }
    append(known_ids_, ids.begin(), ids.end());
    return filled;
  }

  const Long width_;
  const Word multiplier_, square_, secret_[3];
  TagTable<Tagged> tokens_;
  TagTable<Housed> shingles_;
  Long size_ = 0;
  Vector<Pair> token_keys_;
  Vector<std::int32_t> known_ids_;  // tokens of shingles, which overlap where these do in a text
  Vector<std::int32_t> ids_, numbers_;
  Vector<Long> offsets_{0};
};

}  // namespace lookalike
