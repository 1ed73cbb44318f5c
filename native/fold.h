// From UTF-8 to words: folded bytes with blanks between tokens.
#pragma once
#include <algorithm>
#include "arrays.h"
#include "characters.h"

namespace lookalike {

// What texts consist of.
enum TokenUnit : int { WORDS, CHARACTERS, BYTES, LINES };

// Writes the words of a text, blanks between them: letters, digits and marks make words; in scripts without spaces each letter
// or digit does, with its marks. Invalid UTF-8 separates words. `out` has room for three bytes a byte and 160 more.
class WordFolder {
 public:
  // Stops where a character has one of the flags of `stop`, or combining classes fall and it has FALLS.
  WordFolder(const Characters& characters, bool fold_case, int stop = 0)
      : of_(characters), entries_(characters.entries(fold_case)), fold_case_(fold_case), stop_(stop) {}

  // Folds from `at` to `end`; up to `limit` may be read. Returns the bytes written.
  Long fold(Bytes at, Bytes end, Bytes limit, std::uint8_t* out) {
    std::uint8_t* to = out;
    previous_ = OTHER;
    last_class_ = 0;
    while (at < end && !(changes & stop_)) {
      if (previous_ == SINGLE) *to++ = 32;               // which the next character takes back if it is a mark
      if (at + 128 <= end && !Block::load(at).tops()) {  // its loads do not wait for what the block before contained
        do {
          Block::load(at).words(fold_case_).store(to);
          at += 64, to += 64;
        } while (at + 128 <= end && !Block::load(at).tops());
        previous_ = to[-1] != 32 ? WORD : OTHER;
      }
      const Block block = load_block(at, limit);
      const std::uint64_t tops = block.tops();
      block.words(fold_case_).store(to);
      const Long size = std::min<Long>(end - at, tops ? std::countr_zero(tops) : 64);
      if (size) {
        at += size, to += size;
        previous_ = to[-1] != 32 ? WORD : OTHER;
        last_class_ = 0;
        if (at == end || size == 64) continue;
      } else if (previous_ == SINGLE) {
        to--;
      }
      const Run run = fold_block(at, end, limit, to);
      at += run.read, to += run.written;
      if (!run.read) fold_one(at, end, limit, to);
    }
    return to - out;
  }

  int changes = 0;  // flags of the characters that were read, and FALLS; without HIDDEN_SPACE
  bool invalid = false;

 private:
  struct Run {
    Long read, written;
  };

  // Folds the characters that lie whole in a block that begins with one beyond ASCII, if all are sound, up to one of four
  // bytes.
  Run fold_block(Bytes at, Bytes end, Bytes limit, std::uint8_t* out) {
    const Block block = load_block(at, limit);
    Shape shape(block, end - at);
    if (shape.fours) shape.size = std::min(shape.size, std::countr_zero(shape.fours));
    if (!shape.sound || !shape.size) return {0, 0};
    if (previous_ == SINGLE) return fold_shifting(at, block, shape, out);
    // Characters stay where they are, unless one is of a script without spaces.
    std::uint32_t seen = 0;
    const std::uint64_t left = shape.leads & shape.whole();
    block.words(fold_case_).store(out);
    for (std::uint64_t twos = left & ~shape.threes; twos; twos &= twos - 1) {
      const int i = std::countr_zero(twos);
      const std::uint32_t entry = entries_[point_of_two(at + i)];
      const std::uint16_t both = std::uint16_t(entry);
      std::memcpy(out + i, &both, 2);
      seen |= entry;
    }
    for (std::uint64_t threes = left & shape.threes; threes; threes &= threes - 1) {
      const int i = std::countr_zero(threes);
      const std::uint32_t entry = entries_[point_of_three(at + i)];
      const std::uint16_t both = std::uint16_t(entry);
      std::memcpy(out + i, &both, 2);
      out[i + 2] = std::uint8_t(entry >> 16);
      seen |= entry;
    }
    if (seen & (LONG | ALONE)) return fold_shifting(at, block, shape, out);
    note(at, shape, seen);
    previous_ = out[shape.size - 1] != 32 ? WORD : OTHER;
    return {shape.size, shape.size};
  }

  // The same where blanks come between characters; up to one whose size changes.
  Run fold_shifting(Bytes at, const Block& block, Shape& shape, std::uint8_t* out) {
    std::uint8_t words[128], *to = out;
    block.words(fold_case_).store(words);
    int done = 0, previous = previous_;
    std::uint32_t seen = 0;
    const auto copy_until = [&](int end) {
      if (previous == SINGLE) *to++ = 32;
      std::memcpy(to, words + done, 64);
      to += end - done;
      previous = to[-1] != 32 ? WORD : OTHER;
      done = end;
    };
    for (std::uint64_t left = shape.leads & shape.whole(); left; left &= left - 1) {
      const int i = std::countr_zero(left);
      if (i > done) copy_until(i);
      const bool three = shape.threes >> i & 1;
      const std::uint32_t entry = entries_[three ? point_of_three(at + i) : point_of_two(at + i)];
      if (entry & LONG) {
        shape.size = i;
        break;
      }
      seen |= entry;
      if (!(entry & (A_WORD | ALONE | A_MARK))) {
        *to++ = 32;
        previous = OTHER;
      } else {
        const bool mark = entry & A_MARK, single = entry & ALONE;
        if (!mark && (previous == SINGLE || (single && previous == WORD))) *to++ = 32;
        std::memcpy(to, &entry, 4);
        to += 2 + three;
        if (!mark) previous = single ? SINGLE : WORD;
        else if (previous == OTHER) previous = WORD;
      }
      done = i + 2 + three;
    }
    if (done < shape.size) copy_until(shape.size);
    if (!done) return {0, 0};
    note(at, shape, seen);
    previous_ = previous;
    return {done, to - out};
  }

  void note(Bytes at, const Shape& shape, std::uint32_t seen) {
    changes |= int(seen >> FLAGS) & (FORMED | HIDDEN);
    if (!(seen & ORDERED)) last_class_ = 0;
    else if (classes_fall(of_, at, shape, last_class_)) changes |= FALLS;
  }

  void fold_one(Bytes& at, Bytes end, Bytes limit, std::uint8_t*& to) {
    const std::uint64_t word = load64(at, limit);
    const auto [point, length] = decode(word, end - at);
    int kind = OTHER, order = 0;
    std::uint64_t fold = 0;
    if (point >= 0) {
      const int flags = of_.kind_and_flags(point);
      kind = flags & KIND;
      changes |= flags & (FORMED | HIDDEN);
      order = flags >> 8;
      if (order && order < last_class_) changes |= FALLS;
      if (fold_case_) fold = of_.fold(point);
    } else {
      invalid = true;
    }
    last_class_ = order;
    if (kind == OTHER || kind == SPACE) {
      *to++ = 32;
      previous_ = OTHER;
    } else {
      if (kind != MARK && (previous_ == SINGLE || (kind == SINGLE && previous_ == WORD))) *to++ = 32;
      store64(to, fold ? fold : word);
      to += fold ? int(fold >> 56) : length;
      if (kind != MARK) previous_ = kind;
      else if (previous_ == OTHER) previous_ = WORD;
    }
    at += length;
  }

  const Characters& of_;
  const std::uint32_t* entries_;
  const bool fold_case_;
  const int stop_;
  int previous_ = OTHER, last_class_ = 0;
};

inline bool breaks_line(std::int32_t point) {
  return (point >= 10 && point <= 13) || point == 0x85 || point == 0x2028 || point == 0x2029;
}

// Folds letters, digits and marks among the first `size` bytes of a block, up to what is none or changes its size; returns
// where that is.
inline Long fold_letters(Bytes at, const Shape& shape, Long size, const std::uint32_t* entries, std::uint8_t* to) {
  if (!shape.sound) return std::min<Long>(size, shape.first);
  std::uint64_t left = shape.leads & shape.whole();
  if (shape.fours) left &= (shape.fours & -shape.fours) - 1, size = std::min<Long>(size, std::countr_zero(shape.fours));
  for (; left; left &= left - 1) {
    const int i = std::countr_zero(left);
    if (i >= size) return size;
    const bool three = shape.threes >> i & 1;
    const std::uint32_t entry = entries[three ? point_of_three(at + i) : point_of_two(at + i)];
    if (!(entry & (A_WORD | ALONE | A_MARK)) || entry & LONG) return i;
    const std::uint16_t both = std::uint16_t(entry);
    std::memcpy(to + i, &both, 2);
    if (three) to[i + 2] = std::uint8_t(entry >> 16);
  }
  return std::min<Long>(size, shape.size);
}

// Writes a text with each run of white space as one blank, or if `keep_lines` as a line feed where it holds a line break, none
// at either end. Invalid UTF-8 becomes U+FFFD. `out` has room for three bytes a byte and 80 more. Returns the bytes written.
inline Long fold_spaces(Bytes at, Bytes end, Bytes limit, bool fold_case, bool keep_lines, const Characters& characters,
                        std::uint8_t* out) {
  const std::uint32_t* entries = characters.entries(fold_case);
  std::uint8_t* to = out;
  int gap = 0;
  const auto end_gap = [&] {
    if (gap && to > out) *to++ = std::uint8_t(gap);
    gap = 0;
  };
  while (at < end) {
    const Block block = load_block(at, limit);
    std::uint64_t special = ~block.at_least(32), blanks = block.equal(32);
    if (keep_lines) {  // a line feed alone stays one
      const std::uint64_t feeds = block.equal(10);
      special &= ~feeds;
      blanks |= feeds;
    }
    const bool inside = !gap && to > out;  // what is no blank has come last
    const std::uint64_t stops = special | (blanks & (blanks << 1 | !inside));
    Long size = std::min<Long>(stops ? std::countr_zero(stops) : 64, end - at);
    std::uint8_t* const from = to + (gap && to > out);
    if (fold_case) block.lower().store(from);
    else block.store(from);
    if (block.tops()) size = fold_letters(at, Shape(block, end - at), size, entries, from);
    if (size && (at[size - 1] == 32 || at[size - 1] == 10)) size--;  // it may begin a run
    if (size) {
      end_gap();
      at += size, to += size;
      continue;
    }
    const std::uint64_t word = load64(at, limit);
    const auto [point, length] = decode(word, end - at);
    const int kind = point < 0 ? int(OTHER) : characters.kind_and_flags(point) & KIND;
    if (kind == SPACE) {
      if (keep_lines && breaks_line(point)) gap = 10;
      else if (!gap) gap = 32;
    } else {
      end_gap();
      const std::uint64_t fold = point < 0 ? 0xBDBFEF | 3ull << 56 : fold_case ? characters.fold(point) : 0;
      store64(to, fold ? fold : word);
      to += fold ? int(fold >> 56) : length;
    }
    at += length;
    while (gap && at < end && *at == 32) at++;
  }
  return to - out;
}

}  // namespace lookalike
