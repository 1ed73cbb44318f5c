// Places of 64-bit values in hash tables that nobody can foresee.
#pragma once
#include <bit>
#include <cstdint>
#include <random>

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

}  // namespace lookalike
