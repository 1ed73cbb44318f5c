// A hash table of numbers that compares nothing itself: what a number stands for is kept, and compared, elsewhere.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include "arrays.h"

namespace lookalike {

// The upper half of a hash, the tag, and a number above 0; 0: free. Hashes are under a secret.
class Tagged {
 public:
  static constexpr std::uint64_t MOST = 0xFFFFFFFF;
  Tagged() = default;
  Tagged(std::uint64_t hash, std::uint64_t number) : word_((hash & ~MOST) | number) {}
  bool free() const { return !word_; }
  bool has_tag(std::uint64_t hash) const { return (word_ ^ hash) <= MOST; }
  std::uint64_t tag() const { return word_ >> 32; }
  std::uint64_t number() const { return word_ & MOST; }

 private:
  std::uint64_t word_ = 0;
};

// The same, and where what it stands for is kept.
class Housed : public Tagged {
 public:
  Housed() = default;
  Housed(std::uint64_t hash, std::uint64_t number, Long home) : Tagged(hash, number), home_(home) {}
  Long home() const { return home_; }

 private:
  Long home_ = 0;
};

template <class Entry>
class TagTable {
 public:
  // Forgets all, and makes room for so many numbers; up to four times as many if it has the memory: to clear that costs less
  // than to grow.
  void reset(Long expected) {
    const std::uint64_t least = std::bit_ceil(std::uint64_t(std::max<Long>(2 * expected, 2)));
    const std::uint64_t size = std::clamp<std::uint64_t>(std::bit_floor(entries_.capacity()), least, 4 * least);
    entries_.assign(size, Entry());
    mask_ = size - 1;
  }

  // The entry of a hash that is the right one, or the free one where it belongs.
  template <class Right>
  Entry& find(std::uint64_t hash, Right right) {
    for (std::uint64_t place = hash >> 32 & mask_;; place = (place + 1) & mask_) {
      Entry& entry = entries_[place];
      if (entry.free() || (entry.has_tag(hash) && right(entry))) return entry;
    }
  }

  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&first(hash)); }

  // The entry at the first place of a hash, whatever it is.
  const Entry& first(std::uint64_t hash) const { return entries_[hash >> 32 & mask_]; }

  // Makes room for so many numbers in all: half of the entries stay free.
  void reserve(Long count) {
    while (2 * std::uint64_t(count) > entries_.size()) grow();
  }

  Long size() const { return Long(entries_.size()); }
  Long bytes() const { return Long(sizeof(Entry) * entries_.capacity()); }

 private:
  static constexpr std::uint64_t LARGE = 1 << 20;  // entries from which on it is doubled, no more

  void grow() {
    if (entries_.size() > Tagged::MOST) throw std::length_error("there are too many different shingles to number them");
    Vector<Entry> larger;
    larger.assign(entries_.size() * (entries_.size() < LARGE ? 4 : 2), Entry());
    mask_ = larger.size() - 1;
    for (const Entry& entry : entries_) {
      if (entry.free()) continue;
      std::uint64_t place = entry.tag() & mask_;
      while (!larger[place].free()) place = (place + 1) & mask_;
      larger[place] = entry;
    }
    entries_ = std::move(larger);
  }

  Vector<Entry> entries_;
  std::uint64_t mask_ = 0;
};

}  // namespace lookalike
