// Unicode normal forms (UAX #15): what may not be in one, and texts in one.
#pragma once
#include "arrays.h"
#include "characters.h"

namespace lookalike {

// How characters decompose and compose; pages of 128 characters name the block of each in the tables.
struct Forms {
  std::vector<std::uint16_t> pages, places, firsts, seconds;
  std::vector<std::uint32_t> parts, composites;
  std::size_t columns;

  int entry(std::int32_t point) const { return pages[point >> 7] * 128 + (point & 127); }
  // Where in `parts` the number of a character's parts is, and the parts behind it; 0: it has none.
  int place(std::int32_t point) const { return places[entry(point)]; }
  // The row and the column of a character in `composites`; row 0 and column 0 are zeros.
  int first(std::int32_t point) const { return firsts[entry(point)]; }
  int second(std::int32_t point) const { return seconds[entry(point)]; }
  std::uint32_t composite(int first, int second) const { return composites[first * columns + second]; }
};

// Finds what a text may not have in a normal form: characters marked as changing, composing or hidden by one of the flags, and
// combining classes that fall.
class Scanner {
 public:
  Scanner(const Characters& characters, int flags)
      : of_(characters), flags_(flags), stop_(flags | (flags & FORMED ? FALLS : 0)) {}

  // Returns where at the latest such a thing begins, 64 bytes before it at most, or the end; what stands before `at`
  // plays no part.
  Bytes next(Bytes at, Bytes end, Bytes limit);
  bool invalid = false;  // whether there were bytes that are no UTF-8

 private:
  const Characters& of_;
  const int flags_, stop_;
};

// Brings texts into a normal form, without what is hidden, in steps that grow as they do, whatever they hold. Bytes
// that are no UTF-8 stay as they are.
class Normalizer {
 public:
  Normalizer(const Characters& characters, const Forms& forms, int flags);
  // Begins with texts that lie from `begin` to `end`; up to `limit` may be read.
  void begin(Bytes begin, Bytes end, Bytes limit);
  // Does the next text; returns how many bytes it grows by.
  std::int64_t add(Bytes begin, Bytes end);
  // Returns whether a text has changed; then all of them are in `out`.
  bool finish();

  Vector<std::uint8_t> out;
  bool invalid() const { return scanner_.invalid; }

 private:
  bool begins(Bytes at, Bytes end) const;
  Bytes normalize_segment(Bytes begin, Bytes end, std::int64_t& growth);
  void sort_marks();
  void compose();

  const Characters& of_;
  const Forms& forms_;
  const int flags_;
  const bool formed_;
  Scanner scanner_;
  Bytes begin_ = nullptr, end_ = nullptr, limit_ = nullptr, copied_ = nullptr;
  std::vector<std::uint32_t> points_, ordered_;
  std::vector<std::uint8_t> encoded_;
};

}  // namespace lookalike
