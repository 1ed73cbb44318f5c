// What is known of Unicode's characters, and how they are read.
#pragma once
#include <cstdint>
#include <vector>
#include "simd.h"

namespace lookalike {

// What a character is to words; a kind has these flags too.
enum Kind : int { OTHER, WORD, SINGLE, MARK, SPACE };
constexpr int KIND = 7, NOT_NFC = 1 << 3, NOT_NFKC = 1 << 4, HIDDEN = 1 << 5, HIDDEN_SPACE = 1 << 6;


// An entry: three bytes of the folded character, then its kind and these.
constexpr std::uint32_t LONG = 1u << 27, CHANGES = 1u << 28, ALONE = 1u << 29;

class Characters {
 public:
  // Pages of 128 characters, which entry of `kinds` and `folds` they begin at; what folds are, their sizes in the upper byte.
  Characters(std::vector<std::uint16_t> pages, std::vector<std::uint16_t> kinds, std::vector<std::uint16_t> folds,
             std::vector<std::uint64_t> fold_bytes);
  int kind_and_flags(std::int32_t point) const { return kinds_[place(point)]; }
  // The character's lower case in UTF-8, its size in the upper byte; 0: itself.
  std::uint64_t fold(std::int32_t point) const { return fold_bytes_[folds_[place(point)]]; }
  // For each of the first 65,536: three bytes of what it becomes, then its kind and the flags below.
  const std::uint32_t* entries(bool fold_case) const { return entries_[fold_case].data(); }

 private:
  int place(std::int32_t point) const { return pages_[point >> 7] * 128 + (point & 127); }
  std::vector<std::uint16_t> pages_, kinds_, folds_;
  std::vector<std::uint64_t> fold_bytes_;
  std::vector<std::uint32_t> entries_[2];
};

struct Decoded {
  std::int32_t point;  // -1: no character
  int length;
};

inline Decoded decode(std::uint64_t word, std::int64_t available) {
  const int first = int(word & 255), following = int(word >> 8 & 0xFFFFFF), low = following & 0x3F, middle = following >> 8 & 0x3F;
  if (first < 0x80) return {first, 1};
  if (first < 0xC2 || first > 0xF4) return {-1, 1};
  if (first < 0xE0) {
    if (available < 2 || (following & 0xC0) != 0x80) return {-1, 1};
    return {(first & 0x1F) << 6 | low, 2};
  }
  if (first < 0xF0) {
    const int point = (first & 0xF) << 12 | low << 6 | middle;
    if (available < 3 || (following & 0xC0C0) != 0x8080 || point < 0x800 || (point >= 0xD800 && point < 0xE000)) return {-1, 1};
    return {point, 3};
  }
  const int point = (first & 7) << 18 | low << 12 | middle << 6 | (following >> 16 & 0x3F);
  if (available < 4 || (following & 0xC0C0C0) != 0x808080 || point < 0x10000 || point > 0x10FFFF) return {-1, 1};
  return {point, 4};
}

}  // namespace lookalike
