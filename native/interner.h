// Tokens and shingles numbered by first appearance: equal numbers mean equal tokens, equal shingles.
#pragma once
#include <tuple>
#include "arrays.h"
#include "digest.h"
#include "tag_table.h"

namespace lookalike {

// No hash decides: keys that hold a token's bytes are compared, and the numbers of a shingle's tokens; hashes, under a secret of four
// words, say only where to look. What followed a shingle last time, in near-duplicates mostly the same, is looked at before.
class Interner {
 public:
  Interner(std::int64_t width, Span<const Word> secret)
      : width_(width), multiplier_(secret[2] | 1), square_(multiplier_ * multiplier_), secret_{secret[0], secret[1], secret[3]} {}

  // Numbers the shingles of rows of token keys; fewer tokens than the width make one shingle, none make none.
  void add(Span<const std::int64_t> offsets, Table<const Word> keys) {
    if (!shingles_.size()) {
      tokens_.reset(std::max<std::int64_t>(keys.rows() / 16, 64));
      shingles_.reset(std::max<std::int64_t>(keys.rows() / 4, 256));
    }
    ids_.resize(keys.rows());
    make_room(numbers_, keys.rows());
    for (std::int64_t row = 0; row + 1 < offsets.size(); row++) {
      number(keys, offsets[row], offsets[row + 1]);
      offsets_.push_back(std::int64_t(numbers_.size()));
    }
  }

  // The numbers, repeats included, of the rows since the last time, and where those of each begin.
  std::tuple<Vector<std::int32_t>, Vector<std::int64_t>> take() {
    ids_ = {};
    return {std::exchange(numbers_, {}), std::exchange(offsets_, {0})};
  }

  // How many shingles have a number.
  std::int64_t size() const { return std::int64_t(known_.size()) - 1; }

 private:
  // A shingle by its number plus one: where its tokens begin in `known_ids_`, its last one, and what came after it last, or 0.
  struct Shingle {
    std::int64_t home;
    std::uint32_t last, after;
  };

  void number(Table<const Word> keys, std::int64_t begin, std::int64_t end) {
    const std::int64_t size = std::min(width_, end - begin);
    std::uint32_t previous = 0;
    for (std::int64_t i = begin; i < end; i++) {
      const Pair key{keys[i][0], keys[i][1]};
      if (const std::uint32_t after = known_[previous].after) {
        const std::uint32_t token = known_[after].last;
        if (is(token, key)) {
          ids_[i] = std::int32_t(token);
          numbers_.push_back(std::int32_t(after - 1));
          previous = after;
          continue;
        }
      }
      ids_[i] = std::int32_t(token_of(key));
      if (i + 1 - size < begin) continue;
      const std::uint32_t shingle = shingle_of({ids_.data() + i + 1 - size, std::size_t(size)}, previous);
      known_[previous].after = previous ? shingle : 0;
      numbers_.push_back(std::int32_t(shingle - 1));
      previous = shingle;
    }
  }

  bool is(std::uint64_t token, Pair key) const { return token_keys_[token].a == key.a && token_keys_[token].b == key.b; }

  std::uint32_t token_of(Pair key) {
    tokens_.reserve(std::int64_t(token_keys_.size()) + 1);
    const Word hash = fmix64(mum(key.a ^ secret_[0], key.b ^ secret_[1]));
    Word& entry = tokens_.find(hash, [&](std::uint64_t number) { return is(number - 1, key); });
    if (!entry) {
      token_keys_.push_back(key);
      entry = (hash & ~TagTable::LOW) | token_keys_.size();
    }
    return std::uint32_t(entry) - 1;
  }

  std::uint32_t shingle_of(Span<const std::int32_t> ids, std::uint32_t previous) {
    shingles_.reserve(std::int64_t(known_.size()));
    Word hash = secret_[2];
    std::int64_t i = 0;
    for (; i + 1 < ids.size(); i += 2)  // two at a time: multiplications wait for each other
      hash = hash * square_ + (Word(ids[i]) * multiplier_ + Word(ids[i + 1]));
    if (i < ids.size()) hash = hash * multiplier_ + Word(ids[i]);
    hash = fmix64(hash);
    Word& entry = shingles_.find(hash, [&](std::uint64_t number) { return same(known_[number].home, ids); });
    if (!entry) {
      entry = (hash & ~TagTable::LOW) | known_.size();
      remember(ids, previous);
    }
    return std::uint32_t(entry);
  }

  // Whether the tokens of a known shingle are these, and -1 from there to the width.
  bool same(std::int64_t home, Span<const std::int32_t> ids) const {
    for (std::int64_t i = 0; i < width_; i++)
      if (known_ids_[home + i] != (i < ids.size() ? ids[i] : -1)) return false;
    return true;
  }

  // Gives the next number to a shingle; its tokens overlap those of the one before where that was the last to get one.
  void remember(Span<const std::int32_t> ids, std::uint32_t previous) {
    const std::int64_t filled = std::int64_t(known_ids_.size());
    const bool goes_on = previous && known_[previous].home + width_ == filled;
    if (goes_on) {
      known_ids_.push_back(ids[ids.size() - 1]);
    } else {
      known_ids_.insert(known_ids_.end(), ids.begin(), ids.end());
      known_ids_.resize(filled + width_, -1);
    }
    known_.push_back({goes_on ? filled - width_ + 1 : filled, std::uint32_t(ids[ids.size() - 1]), 0});
  }

  const std::int64_t width_;
  const Word multiplier_, square_, secret_[3];
  TagTable tokens_, shingles_;
  Vector<Pair> token_keys_;
  Vector<Shingle> known_{{0, 0, 0}};
  Vector<std::int32_t> known_ids_, ids_, numbers_;
  Vector<std::int64_t> offsets_{0};
};

}  // namespace lookalike
