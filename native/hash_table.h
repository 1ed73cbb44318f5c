// Places of 64-bit values in hash tables that nobody can foresee.
#pragma once
#include <bit>
#include <cstdint>
#include <random>
#include "arrays.h"

namespace lookalike {

constexpr Long KEPT = 48 << 20;  // bytes that are kept for reuse: the memory of one long text would stay to the end

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
  explicit Places(Long size = 2, std::uint64_t factor = spread())
      : factor_(factor), mask_(size - 1), shift_(64 - std::countr_zero(std::uint64_t(size))) {}
  Long operator()(std::uint64_t value) const { return Long(value * factor_ >> shift_); }
  // The place of a value in a table of values, 0: free, or the free one where it belongs.
  template <class T>
  Long find(const T& table, std::uint64_t value) const {
    Long place = (*this)(value);
    while (table[place] && table[place] != value) place = (place + 1) & mask_;
    return place;
  }

 private:
  std::uint64_t factor_;
  Long mask_;
  int shift_;
};

// Which values of so many bits there may be, by their highest bits: a bit for each of these, in a power of two of words.
template <class T>
class Filter {
 public:
  explicit Filter(Span<T> words, int bits = 64)
      : words_(words), shift_(bits - std::countr_zero(64 * std::uint64_t(words.size()))) {}
  void add(std::uint64_t value) const { words_[value >> shift_ >> 6] |= std::uint64_t(1) << (value >> shift_ & 63); }
  bool has(std::uint64_t value) const { return words_[value >> shift_ >> 6] >> (value >> shift_ & 63) & 1; }

 private:
  Span<T> words_;
  int shift_;
};

}  // namespace lookalike
