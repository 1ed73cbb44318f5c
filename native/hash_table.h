// Hash tables of 64-bit values by open addressing, in places that nobody can foresee.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <utility>
#include "arrays.h"

namespace lookalike {

constexpr std::int64_t KEPT = 48 << 20;  // bytes that are kept for reuse: the memory of one long text would stay to the end

// This process's odd factor; no result depends on it. It is drawn so that nobody can write a text
// whose values all meet in a table.
inline std::uint64_t spread() {
  static const std::uint64_t drawn = [] {
    std::random_device random;
    return std::uint64_t(random()) << 32 | random() | 1;
  }();
  return drawn;
}

// The place of a value in a table of a power of two above 1: the highest bits of its product with
// the factor. Two different values, whoever chose them, have one place with a probability of at
// most 2 / size (Dietzfelbinger, Hagerup, Katajainen & Penttonen, "A reliable randomized algorithm
// for the closest-pair problem", 1997). Lower bits would not do: they hang on those of the value.
class Places {
 public:
  explicit Places(std::int64_t size = 2) : shift_(64 - std::countr_zero(std::uint64_t(size))) {}
  std::int64_t operator()(std::uint64_t value) const { return std::int64_t(value * spread_ >> shift_); }

 private:
  std::uint64_t spread_ = spread();
  int shift_;
};

// A set of integers, which grows.
template <class Value = std::uint64_t>
class Distinct {
 public:
  explicit Distinct(std::int64_t expected = 0) { reset(expected); }

  // Forgets all values, and makes room for so many.
  void reset(std::int64_t expected = 0) {
    if (std::int64_t(table_.capacity() * sizeof(Value)) > KEPT) table_ = {};
    lay_out(std::bit_ceil(std::uint64_t(std::max<std::int64_t>(8, 2 * expected))));
    count_ = 0;
    has_zero_ = false;
  }

  // Puts a value in; returns whether it is new.
  bool insert(Value value) {
    if (!value) return !std::exchange(has_zero_, true);
    for (std::int64_t place = places_(value);; place = (place + 1) & mask_) {
      if (table_[place] == value) return false;
      if (table_[place]) continue;
      table_[place] = value;
      if (2 * ++count_ > mask_) grow();
      return true;
    }
  }

  void prefetch(Value value) const { __builtin_prefetch(table_.data() + places_(value), 1); }
  std::int64_t size() const { return count_ + has_zero_; }

 private:
  void lay_out(std::uint64_t size) {
    table_.assign(size, 0);
    places_ = Places(std::int64_t(size));
    mask_ = std::int64_t(size) - 1;
  }

  void grow() {
    const Vector<Value> smaller = std::move(table_);
    table_ = {};
    lay_out(2 * smaller.size());
    for (const Value value : smaller) {
      if (!value) continue;
      std::int64_t place = places_(value);
      while (table_[place]) place = (place + 1) & mask_;
      table_[place] = value;
    }
  }

  Vector<Value> table_;  // 0: free
  Places places_;
  std::int64_t mask_ = 0, count_ = 0;
  bool has_zero_ = false;
};

}  // namespace lookalike
