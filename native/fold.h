// From UTF-8 to words: folded bytes with blanks between tokens.
#pragma once
#include <algorithm>
#include "arrays.h"
#include "characters.h"

namespace lookalike {

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

// Writes the words of a text, blanks between them: letters, digits and marks make words; in scripts without spaces each letter or
// digit does, with its marks. Invalid UTF-8 separates words. `out` has room for three bytes a byte and 160 more.
class WordFolder {
 public:
  WordFolder(const Characters& characters, bool fold_case)
      : of_(characters), entries_(characters.entries(fold_case)), fold_case_(fold_case) {}

  // Folds from `at` to `end`; up to `limit` may be read. Returns the bytes written.
  std::int64_t fold(Bytes at, Bytes end, Bytes limit, std::uint8_t* out) {
    std::uint8_t* to = out;
    previous_ = OTHER;
    while (at < end) {
      if (previous_ == SINGLE) *to++ = 32;  // which the next character takes back if it is a mark
      const Block block = load_block(at, limit);
      Block words = block.words(fold_case_);
      std::uint64_t tops = block.tops();
      if (!tops && at + 128 <= end) {  // its loads do not wait for what the block before contained
        do {
          words.store(to);
          at += 64, to += 64;
          words = Block::load(at).words(fold_case_);
          tops = Block::load(at).tops();
        } while (!tops && at + 128 <= end);
        previous_ = to[-1] != 32 ? WORD : OTHER;
      }
      words.store(to);
      const std::int64_t size = std::min<std::int64_t>(end - at, tops ? std::countr_zero(tops) : 64);
      if (size) {
        at += size, to += size;
        previous_ = to[-1] != 32 ? WORD : OTHER;
        if (at == end) break;
        if (size == 64) continue;
        tops >>= size;
      } else if (previous_ == SINGLE) {
        to--;
      }
      if (at + 64 <= end) {
        const Run run = fold_block(at, to);
        if (run.read) {
          at += run.read, to += run.written;
          continue;
        }
      }
      fold_one(at, end, limit, to);
    }
    return to - out;
  }

 private:
  struct Run {
    std::int64_t read, written;
  };

  // Folds the characters that lie whole in a block that begins with one beyond ASCII, if all are sound and of up to three bytes.
  Run fold_block(Bytes at, std::uint8_t* out) {
    const Block block = Block::load(at);
    const std::uint64_t tops = block.tops(), leads = block.at_least(0xC0), threes = block.at_least(0xE0), follow = tops & ~leads;
    if (block.at_least(0xF0) | (leads & ~block.at_least(0xC2))) return {0, 0};
    int size = 64;  // where a character that goes on beyond the block begins
    if (threes >> 62 & 1) size = 62;
    else if (leads >> 63) size = 63;
    const std::uint64_t whole = size == 64 ? ~0ull : (1ull << size) - 1;
    if ((leads << 1 | threes << 2) ^ follow) return {0, 0};
    std::uint64_t left = leads & whole;
    if (previous_ != SINGLE) {  // characters stay where they are, unless one is of a script without spaces
      std::uint32_t seen = 0, wrong = 0;
      block.words(fold_case_).store(out);
      for (std::uint64_t twos = left & ~threes; twos; twos &= twos - 1) {
        const int i = std::countr_zero(twos);
        const std::uint32_t entry = entries_[(at[i] & 0x1F) << 6 | (at[i + 1] & 0x3F)];
        const std::uint16_t both = std::uint16_t(entry);
        std::memcpy(out + i, &both, 2);
        seen |= entry;
      }
      if (left & threes)
        for (std::uint64_t some = left & threes; some; some &= some - 1) {
          const int i = std::countr_zero(some);
          const std::uint32_t point = (at[i] & 0xF) << 12 | (at[i + 1] & 0x3F) << 6 | (at[i + 2] & 0x3F), entry = entries_[point];
          const std::uint16_t both = std::uint16_t(entry);
          std::memcpy(out + i, &both, 2);
          out[i + 2] = std::uint8_t(entry >> 16);
          seen |= entry;
          wrong |= point < 0x800;
        }
      if (wrong) return {0, 0};
      if (!(seen & (LONG | ALONE))) {
        changes |= seen & CHANGES;
        previous_ = out[size - 1] != 32 ? WORD : OTHER;
        return {size, size};
      }
    }
    return fold_shifting(at, size, left, threes, out);
  }

  // The same where blanks come between characters.
  Run fold_shifting(Bytes at, int size, std::uint64_t left, std::uint64_t threes, std::uint8_t* out) {
    std::uint8_t words[128], *to = out;
    Block::load(at).words(fold_case_).store(words);
    int done = 0, previous = previous_;
    std::uint32_t seen = 0;
    for (; left; left &= left - 1) {
      const int i = std::countr_zero(left);
      if (i > done) {
        if (previous == SINGLE) *to++ = 32;
        std::memcpy(to, words + done, 64);
        to += i - done;
        previous = to[-1] != 32 ? WORD : OTHER;
        done = i;
      }
      const bool three = threes >> i & 1;
      const std::uint32_t point = three ? (at[i] & 0xF) << 12 | (at[i + 1] & 0x3F) << 6 | (at[i + 2] & 0x3F)
                                        : (at[i] & 0x1F) << 6 | (at[i + 1] & 0x3F);
      if (three && point < 0x800) break;
      const std::uint32_t entry = entries_[point];
      const int kind = entry >> 24 & 7;
      if (entry & LONG) break;
      seen |= entry;
      if (kind == OTHER || kind == SPACE) {
        *to++ = 32;
        previous = OTHER;
      } else {
        if (kind != MARK && (previous == SINGLE || (kind == SINGLE && previous == WORD))) *to++ = 32;
        const std::uint32_t bytes = entry;
        std::memcpy(to, &bytes, 4);
        to += 2 + three;
        if (kind != MARK) previous = kind;
        else if (previous == OTHER) previous = WORD;
      }
      done = i + 2 + three;
    }
    if (!left && size > done) {
      if (previous == SINGLE) *to++ = 32;
      std::memcpy(to, words + done, 64);
      to += size - done;
      previous = to[-1] != 32 ? WORD : OTHER;
      done = size;
    }
    changes |= seen & CHANGES;
    previous_ = previous;
    return {done, to - out};
  }

  void fold_one(Bytes& at, Bytes end, Bytes limit, std::uint8_t*& to) {
    const std::uint64_t word = load64(at, limit);
    const auto [point, length] = decode(word, end - at);
    int kind = OTHER;
    std::uint64_t fold = 0;
    if (point >= 0) {
      const int flags = of_.kind_and_flags(point);
      kind = flags & KIND;
      if (flags & ~KIND) changes = 1;
      if (fold_case_) fold = of_.fold(point);
    } else {
      invalid = true;
    }
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
  int previous_ = OTHER;

 public:
  std::uint32_t changes = 0;  // whether a character may change in a normal form
  bool invalid = false;
};

// Lower-cases the ASCII letters of eight bytes, none of which has its top bit set.
inline std::uint64_t lower_ascii(std::uint64_t word) {
  constexpr std::uint64_t ONES = 0x0101010101010101;
  const std::uint64_t upper = (word + ONES * (0x80 - 'A')) & ~(word + ONES * (0x80 - 'Z' - 1)) & ONES * 0x80;
  return word | upper >> 2;
}

inline bool breaks_line(std::int32_t point) {
  return (point >= 10 && point <= 13) || point == 0x85 || point == 0x2028 || point == 0x2029;
}

// Writes a text with each run of white space as one blank, or if `keep_lines` as a line feed where it holds a line break, none at
// either end. Invalid UTF-8 becomes U+FFFD. `out` has room for three bytes a byte and 80 more. Returns the bytes written.
inline std::int64_t fold_spaces(Bytes at, Bytes end, Bytes limit, bool fold_case, bool keep_lines, const Characters& characters,
                                std::uint8_t* out) {
  constexpr std::uint64_t TOPS = 0x8080808080808080, ABOVE_BLANK = 0x5F5F5F5F5F5F5F5F;
  std::uint8_t* to = out;
  int gap = 0;
  const auto end_gap = [&] {
    if (gap && to > out) *to++ = std::uint8_t(gap);
    gap = 0;
  };
  while (at < end) {
    if (!gap && at + 64 <= end && (to > out || (*at != 32 && *at != 10))) {
      const Block block = Block::load(at);
      std::uint64_t special = block.tops() | ~block.at_least(32), blanks = block.equal(32);
      if (keep_lines) {  // a line feed alone stays one
        const std::uint64_t feeds = block.equal(10);
        special &= ~feeds;
        blanks |= feeds;
      }
      const std::uint64_t stops = special | (blanks & blanks << 1);
      int size = std::countr_zero(stops);
      if (size && (at[size - 1] == 32 || at[size - 1] == 10)) size--;  // it may begin a run
      if (size) {
        block.store(to);
        if (fold_case)
          for (int i = 0; i < 64; i++) to[i] += std::uint8_t(to[i] - 'A') < 26 ? 32 : 0;
        at += size, to += size;
        continue;
      }
    }
    const std::uint64_t word = load64(at, limit);
    const std::uint64_t special = (word | ~((word & ~TOPS) + ABOVE_BLANK)) & TOPS;  // beyond ASCII, a blank or a control character
    const std::int64_t size = std::min<std::int64_t>(end - at, special ? std::countr_zero(special) >> 3 : 8);
    if (size) {
      end_gap();
      store64(to, fold_case ? lower_ascii(word & ~TOPS) : word);
      at += size, to += size;
      continue;
    }
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
  }
  return to - out;
}

}  // namespace lookalike
