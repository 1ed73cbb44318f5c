// A hash table of numbers that compares nothing itself: what a number stands for is kept, and compared, elsewhere.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include "arrays.h"

namespace lookalike {

// An entry is the upper half of a hash, the tag, and a number above 0; a free one is 0. Hashes are under a secret.
class TagTable {
 public:
  static constexpr std::uint64_t LOW = 0xFFFFFFFF;

  // Forgets all, and makes room for so many numbers; up to four times as many if it has the memory: to clear that costs less than to
  // grow.
  void reset(std::int64_t expected) {
    const std::uint64_t least = std::bit_ceil(std::uint64_t(std::max<std::int64_t>(2 * expected, 2)));
    const std::uint64_t size = std::clamp<std::uint64_t>(std::bit_floor(entries_.capacity()), least, 4 * least);
    entries_.clear();
    entries_.resize(size);
    std::fill(entries_.begin(), entries_.end(), 0);
    mask_ = size - 1;
  }

  // The entry of a hash whose number is the right one, or the free one where it belongs.
  template <class Right>
  std::uint64_t& find(std::uint64_t hash, Right right) {
    const std::uint64_t tag = hash & ~LOW;
    for (std::uint64_t place = hash >> 32 & mask_;; place = (place + 1) & mask_) {
      std::uint64_t& entry = entries_[place];
      if (!entry || ((entry & ~LOW) == tag && right(entry & LOW))) return entry;
    }
  }

  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&entries_[hash >> 32 & mask_]); }

  // Makes room for so many numbers in all: half of the entries stay free.
  void reserve(std::int64_t count) {
    while (2 * std::uint64_t(count) > entries_.size()) grow();
  }

  std::int64_t size() const { return std::int64_t(entries_.size()); }
  std::int64_t room() const { return size() / 2; }
  std::int64_t bytes() const { return std::int64_t(8 * entries_.capacity()); }

 private:
  static constexpr std::uint64_t LARGE = 1 << 20, MOST = 1ull << 32;  // from LARGE on it is doubled, no more

  void grow() {
    if (entries_.size() >= MOST) throw std::length_error("there are too many different shingles to number them");
    Vector<std::uint64_t> larger;
    larger.resize(entries_.size() * (entries_.size() < LARGE ? 4 : 2));
    std::fill(larger.begin(), larger.end(), 0);
    mask_ = larger.size() - 1;
    for (const std::uint64_t entry : entries_) {
      if (!entry) continue;
      std::uint64_t place = entry >> 32 & mask_;
      while (larger[place]) place = (place + 1) & mask_;
      larger[place] = entry;
    }
    entries_ = std::move(larger);
  }

  Vector<std::uint64_t> entries_;
  std::uint64_t mask_ = 0;
};

}  // namespace lookalike
