// What is known of Unicode's characters, and how they are read.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>
#include "arrays.h"
#include "simd.h"

namespace lookalike {

// What a character is to words; a kind has these flags too.
enum Kind : int { OTHER, WORD, SINGLE, MARK, SPACE };
constexpr int KIND = 7, NOT_NFC = 1 << 3, NOT_NFKC = 1 << 4, HIDDEN = 1 << 5, HIDDEN_SPACE = 1 << 6;
constexpr int FORMED = NOT_NFC | NOT_NFKC, HIDES = HIDDEN | HIDDEN_SPACE;
constexpr int FALLS = 1 << 7;  // of texts: combining classes fall somewhere

// An entry: three bytes of the folded character, a bit of what it is to words, and these. Behind them, `FLAGS` up,
// those of its kind but HIDDEN_SPACE, then whether it has a combining class.
constexpr std::uint32_t A_WORD = 1u << 24, ALONE = 1u << 25, A_MARK = 1u << 26, LONG = 1u << 27, ORDERED = 1u << 31;
constexpr int FLAGS = 25;

class Characters {
 public:
  // Pages of 128 characters, which entry of `kinds` and `folds` they begin at; what folds are, their sizes in the upper byte.
  Characters(Held<const std::uint16_t> pages, Held<const std::uint16_t> kinds, Held<const std::uint16_t> folds,
             Held<const std::uint64_t> fold_bytes)
      : pages_(pages), kinds_(kinds), folds_(folds), fold_bytes_(fold_bytes) {
    for (int fold_case = 0; fold_case < 2; fold_case++) {
      auto& entries = entries_[fold_case];
      entries.assign(1 << 16, LONG);  // surrogates stay so
      for (std::uint32_t point = 0x80; point < 1 << 16; point++) {
        if (point >= 0xD800 && point < 0xE000) continue;
        const bool two = point < 0x800;
        const std::uint64_t changed = fold_case ? fold(std::int32_t(point)) : 0;
        const int flags = kind_and_flags(std::int32_t(point)), kind = flags & KIND;
        std::uint32_t bytes = two ? (0xC0 | point >> 6) | (0x80 | (point & 63)) << 8
                                  : (0xE0 | point >> 12) | (0x80 | (point >> 6 & 63)) << 8 | (0x80 | (point & 63)) << 16;
        if (kind == OTHER || kind == SPACE) bytes = 0x202020;
        else if (changed) bytes = std::uint32_t(changed & 0xFFFFFF);
        const bool longer = changed && int(changed >> 56) != 3 - two;
        const std::uint32_t part = kind == WORD ? A_WORD : kind == SINGLE ? ALONE : kind == MARK ? A_MARK : 0;
        entries[point] = bytes | part | (longer ? LONG : 0) | (flags >> 8 ? ORDERED : 0);
        entries[point] |= std::uint32_t(flags & (FORMED | HIDDEN)) << FLAGS;
      }
    }
    flags_.resize(1 << 16);
    for (std::int32_t point = 0; point < 1 << 16; point++) {
      const int flags = kind_and_flags(point);
      flags_[point] = std::uint8_t((flags & (FORMED | HIDES)) | (flags >> 8 ? FALLS : 0));
    }
  }

  Characters(const Characters&) = delete;
  int kind_and_flags(std::int32_t point) const { return kinds_[place(point)]; }
  // The character's lower case in UTF-8, its size in the upper byte; 0: itself.
  std::uint64_t fold(std::int32_t point) const { return fold_bytes_[folds_[place(point)]]; }
  int combining_class(std::int32_t point) const { return kinds_[place(point)] >> 8; }
  // For each of the first 65,536 an entry, as said above.
  const std::uint32_t* entries(bool fold_case) const { return entries_[fold_case].data(); }
  // For each of these the flags of its kind, and FALLS if it has a combining class.
  const std::uint8_t* flags() const { return flags_.data(); }

 private:
  int place(std::int32_t point) const { return pages_[point >> 7] * 128 + (point & 127); }
  Held<const std::uint16_t> pages_, kinds_, folds_;
  Held<const std::uint64_t> fold_bytes_;
  std::vector<std::uint32_t> entries_[2];
  std::vector<std::uint8_t> flags_;
};

struct Decoded {
  std::int32_t point;  // -1: no character
  int length;
};

inline Decoded decode(std::uint64_t word, Long available) {
  const int first = int(word & 255), following = int(word >> 8 & 0xFFFFFF), low = following & 0x3F,
            middle = following >> 8 & 0x3F;
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

// Eight bytes, zeros behind the limit of what may be read.
inline std::uint64_t load64(Bytes at, Bytes limit) {
  if (at + 8 <= limit) return load64(at);
  std::uint64_t word = 0;
  std::memcpy(&word, at, limit - at);
  return word;
}
inline Block load_block(Bytes at, Bytes limit) {
  if (at + 64 <= limit) return Block::load(at);
  std::uint8_t bytes[64] = {};
  std::memcpy(bytes, at, limit - at);
  return Block::load(bytes);
}

inline std::int32_t point_of_two(Bytes at) { return (at[0] & 0x1F) << 6 | (at[1] & 0x3F); }
inline std::int32_t point_of_three(Bytes at) { return (at[0] & 0xF) << 12 | (at[1] & 0x3F) << 6 | (at[2] & 0x3F); }
inline std::int32_t point_of_four(Bytes at) {
  return (at[0] & 7) << 18 | (at[1] & 0x3F) << 12 | (at[2] & 0x3F) << 6 | (at[3] & 0x3F);
}

// Where in a block the characters beyond ASCII are. It begins with a character and has so many bytes at most.
struct Shape {
  std::uint64_t leads, threes, fours;  // first bytes: all; those of characters of three bytes or more; of four
  int first;                           // where its first byte beyond ASCII is, 64: nowhere
  int size;                            // bytes of the characters that lie in it whole
  bool sound;                          // whether these are UTF-8

  Shape(const Block& block, Long available) : size(int(std::min<Long>(available, 64))) {
    const std::uint64_t inside = ~0ull >> (64 - size), follow = block.tops() & ~block.at_least(0xC0) & inside;
    leads = block.at_least(0xC0) & inside;
    threes = block.at_least(0xE0) & inside;
    fours = block.at_least(0xF0) & inside;
    std::uint64_t wrong = ((leads << 1 | threes << 2 | fours << 3) ^ follow) | (leads & ~block.at_least(0xC2));
    if (threes) {
      const std::uint64_t upper = block.at_least(0xA0);
      wrong |= (block.equal(char(0xE0)) << 1 & inside & ~upper) | (block.equal(char(0xED)) << 1 & inside & upper);
    }
    if (fours) {
      const std::uint64_t upper = block.at_least(0x90);
      wrong |= (block.equal(char(0xF0)) << 1 & inside & ~upper) | (block.equal(char(0xF4)) << 1 & inside & upper);
      wrong |= block.at_least(0xF5) & inside;
    }
    first = std::countr_zero(leads | follow);
    const std::uint64_t beyond = (leads & 1ull << 63) | (threes & 3ull << 62) | (fours & 7ull << 61);
    if (beyond) size = std::countr_zero(beyond);
    sound = !wrong;
  }
  // Of bits, those of bytes that lie in it.
  std::uint64_t whole() const { return size == 64 ? ~0ull : (1ull << size) - 1; }
};

// Whether combining classes fall among the characters of a sound block; `last` is the class before it, and becomes
// its last one.
inline bool classes_fall(const Characters& of, Bytes at, const Shape& shape, int& last) {
  bool fall = false;
  int done = 0;
  for (std::uint64_t left = shape.leads & shape.whole(); left; left &= left - 1) {
    const int i = std::countr_zero(left);
    const bool three = shape.threes >> i & 1, four = shape.fours >> i & 1;
    const std::int32_t point = four ? point_of_four(at + i) : three ? point_of_three(at + i) : point_of_two(at + i);
    const int order = four || of.flags()[point] & FALLS ? of.combining_class(point) : 0;
    if (i > done) last = 0;
    fall |= order && order < last;
    last = order;
    done = i + 2 + three + four;
  }
  if (done < shape.size) last = 0;
  return fall;
}

}  // namespace lookalike
