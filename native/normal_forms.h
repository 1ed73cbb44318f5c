// Unicode normal forms (UAX #15): what may not be in one, and texts in one.
#pragma once
#include "arrays.h"
#include "characters.h"

namespace lookalike {

// How characters decompose and compose; pages of 128 characters name the block of each in the tables.
struct Forms {
  Held<const std::uint16_t> pages, places, firsts, seconds;
  Held<const std::uint32_t> parts;
  Held<const std::uint32_t, 2> composites;

  int entry(std::int32_t point) const { return pages[point >> 7] * 128 + (point & 127); }
  // Where in `parts` the number of a character's parts is, and the parts behind it; 0: it has none.
  int place(std::int32_t point) const { return places[entry(point)]; }
  // The row and the column of a character in `composites`; row 0 and column 0 are zeros.
  int first(std::int32_t point) const { return firsts[entry(point)]; }
  int second(std::int32_t point) const { return seconds[entry(point)]; }
  std::uint32_t composite(int first, int second) const { return composites[first][second]; }
};

// Finds what a text may not have in a normal form: characters marked as changing, composing or hidden by one of the flags, and
// combining classes that fall.
class Scanner {
 public:
  Scanner(const Characters& characters, int flags)
      : of_(characters), flags_(flags), stop_(flags | (flags & FORMED ? FALLS : 0)) {}

  // Returns where at the latest such a thing begins, 64 bytes before it at most, or the end; what stands before `at`
  // plays no part.
  Bytes next(Bytes at, Bytes end, Bytes limit) {
    const std::uint8_t* flags_of = of_.flags();
    int last = 0;
    while (at < end) {
      const Block block = load_block(at, limit);
      const std::uint64_t tops = block.tops();
      if (!tops) {
        at += 64, last = 0;
        continue;
      }
      const Shape shape(block, end - at);
      if (shape.sound) {
        int seen = 0;
        // Of Cyrillic, and of ideographs but rare ones, no character changes.
        const std::uint64_t quiet =
            (block.at_least(0xD0) & ~block.at_least(0xD2)) | (block.at_least(0xE4) & ~block.at_least(0xEA));
        const std::uint64_t left = shape.leads & ~quiet & shape.whole();
        for (std::uint64_t twos = left & ~shape.threes; twos; twos &= twos - 1)
          seen |= flags_of[point_of_two(at + std::countr_zero(twos))];
        for (std::uint64_t threes = left & shape.threes & ~shape.fours; threes; threes &= threes - 1)
          seen |= flags_of[point_of_three(at + std::countr_zero(threes))];
        for (std::uint64_t fours = left & shape.fours; fours; fours &= fours - 1) {
          const int flags = of_.kind_and_flags(point_of_four(at + std::countr_zero(fours)));
          seen |= (flags & (FORMED | HIDES)) | (flags >> 8 ? FALLS : 0);
        }
        if (seen & flags_) return at;
        if (!(seen & FALLS)) last = 0;
        else if (classes_fall(of_, at, shape, last) && stop_ & FALLS) return at;
        at += shape.size;
        continue;
      }
      for (Bytes until = std::min(at + 64, end); at < until;) {
        const auto [point, length] = decode(load64(at, limit), end - at);
        if (point < 0) invalid = true;
        const int flags = point < 0 ? 0 : of_.kind_and_flags(point), order = flags >> 8;
        if (flags & flags_ || (order && order < last && stop_ & FALLS)) return at;
        last = order;
        at += length;
      }
    }
    return end;
  }

  bool invalid = false;  // whether there were bytes that are no UTF-8

 private:
  const Characters& of_;
  const int flags_, stop_;
};

// Brings texts into a normal form, without what is hidden, in steps that grow as they do, whatever they hold. Bytes
// that are no UTF-8 stay as they are, but become U+FFFD before what is hidden.
class Normalizer {
 public:
  Normalizer(const Characters& characters, const Forms& forms, int flags)
      : of_(characters), forms_(forms), flags_(flags), formed_(flags & FORMED), scanner_(characters, flags) {}

  // Begins with texts that lie from `begin` to `end`; up to `limit` may be read.
  void begin(Bytes begin, Bytes end, Bytes limit) {
    out.clear();
    begin_ = copied_ = begin, end_ = end, limit_ = limit;
  }

  // Does the next text; returns how many bytes it grows by.
  Long add(Bytes begin, Bytes end) {
    Long growth = 0;
    for (Bytes at = begin; (at = scanner_.next(at, end, limit_)) < end;) {
      const Bytes until = std::min(at + 64, end), least = std::max(begin, copied_);
      while (at > least && !begins(at, end)) do
          at--;
        while (at > least && (*at & 0xC0) == 0x80);
      for (Bytes segment = at; at < until;) {  // character by character
        const auto [point, length] = decode(load64(at, limit_), end - at);
        if (point < 0) scanner_.invalid = true;
        if (begins(at, end)) segment = at, at += length;
        else at = normalize_segment(segment, end, growth);
      }
    }
    return growth;
  }

  // Returns whether a text has changed; then all of them are in `out`.
  bool finish() {
    if (copied_ == begin_) return false;
    append(out, copied_, end_);
    return true;
  }

  Vector<std::uint8_t> out;
  bool invalid() const { return scanner_.invalid; }

 private:
  static constexpr int CLASS = 21;  // bits of a code point
  static constexpr std::uint32_t POINT = (1u << CLASS) - 1, RAW = 1u << 31;
  static constexpr int FEW_MARKS = 24;  // that many in a row are sorted by insertion
  // Hangul: leading consonants, vowels, what is before the finals, syllables
  static constexpr std::int32_t L = 0x1100, V = 0x1161, T = 0x11A7, S = 0xAC00, N_L = 19, N_V = 21, N_T = 28;

  static int class_of(std::uint32_t point) { return int(point >> CLASS & 0xFF); }

  static void append_utf8(std::uint32_t point, std::vector<std::uint8_t>& out) {
    const auto put = [&](std::uint32_t byte) { out.push_back(std::uint8_t(byte)); };
    const auto low = [&](int shift) { put(0x80 | (point >> shift & 0x3F)); };
    if (point >= RAW) return put(point);
    point &= POINT;
    if (point < 0x80) return put(point);
    if (point < 0x800) return put(0xC0 | point >> 6), low(0);
    if (point < 0x10000) return put(0xE0 | point >> 12), low(6), low(0);
    put(0xF0 | point >> 18), low(12), low(6), low(0);
  }

  bool begins(Bytes at, Bytes end) const {
    const std::int32_t point = decode(load64(at, limit_), end - at).point;
    const int flags = point < 0 ? 0 : of_.kind_and_flags(point);
    return !(flags >> 8) && !(flags & flags_);
  }

  // Does what stands from `begin` up to the next character that begins a segment; returns where that is.
  Bytes normalize_segment(Bytes begin, Bytes end, Long& growth) {
    points_.clear();
    bool marks = false;  // whether some are not in order
    int last = 0;
    Bytes at = begin;
    while (at < end) {
      const std::uint64_t word = load64(at, limit_);
      const auto [point, length] = decode(word, end - at);
      const int flags = point < 0 ? 0 : of_.kind_and_flags(point), order = flags >> 8;
      if (!order && !(flags & flags_) && !points_.empty()) break;
      at += length;
      if (flags & flags_ & HIDES) {  // or broken halves on both sides of it would join
        if (!points_.empty() && points_.back() >= RAW) points_.back() = 0xFFFD;
        continue;
      }
      marks |= 0 < order && order < last;
      last = order;
      if (point < 0) {
        scanner_.invalid = true;
        points_.push_back(RAW | std::uint32_t(word & 255));
      } else if (formed_ && S <= point && point < S + N_L * N_V * N_T) {
        const std::uint32_t syllable = std::uint32_t(point - S);
        points_.push_back(L + syllable / (N_V * N_T));
        points_.push_back(V + syllable % (N_V * N_T) / N_T);
        if (syllable % N_T) points_.push_back(T + syllable % N_T);
      } else if (const int place = formed_ ? forms_.place(point) : 0) {
        const auto first = forms_.parts.begin() + place + 1;
        points_.insert(points_.end(), first, first + forms_.parts[place]);
        marks = true;
      } else {
        points_.push_back(std::uint32_t(point) | std::uint32_t(order) << CLASS);
      }
    }
    if (formed_ && marks) sort_marks();
    if (formed_) compose();
    encoded_.clear();
    for (const std::uint32_t point : points_) append_utf8(point, encoded_);
    if (std::equal(encoded_.begin(), encoded_.end(), begin, at)) return at;
    if (copied_ == begin_) out.reserve((end_ - begin_) / 8 * 9 + 64);
    append(out, copied_, begin);
    append(out, encoded_.data(), encoded_.data() + encoded_.size());
    growth += Long(encoded_.size()) - (at - begin);
    copied_ = at;
    return at;
  }

  // Sorts marks in a row by class, those of one class as they stand.
  void sort_marks() {
    const auto by_class = [](std::uint32_t left, std::uint32_t right) { return class_of(left) < class_of(right); };
    for (auto first = points_.begin(); first < points_.end();) {
      const auto stop = std::find_if(first, points_.end(), [](std::uint32_t point) { return class_of(point) == 0; });
      if (stop - first <= FEW_MARKS) {
        for (auto i = first; i < stop; i++) std::rotate(std::upper_bound(first, i, *i, by_class), i, i + 1);
      } else {
        Long counts[257] = {};
        for (auto i = first; i < stop; i++) counts[class_of(*i) + 1]++;
        for (int i = 1; i < 257; i++) counts[i] += counts[i - 1];
        ordered_.resize(stop - first);
        for (auto i = first; i < stop; i++) ordered_[counts[class_of(*i)]++] = *i;
        std::copy(ordered_.begin(), ordered_.end(), first);
      }
      if (stop == points_.end()) return;
      first = stop + 1;
    }
  }

  void compose() {
    Long starter = -1, left = 0;
    int row = 0, last = 0;  // the starter's in the table of composites; the class of what was put behind it last
    for (std::size_t i = 0; i < points_.size(); i++) {
      const std::uint32_t numbered = points_[i];
      const std::int32_t point = std::int32_t(numbered & POINT);
      const int order = class_of(numbered);
      if (starter >= 0 && (last == 0 || last < order)) {
        const Long before = points_[starter];
        std::uint32_t made = 0;
        if (row > 0) {
          made = numbered < RAW ? forms_.composite(row, forms_.second(point)) : 0;
        } else if (last == 0 && L <= before && before < L + N_L && V <= point && point < V + N_V) {
          made = std::uint32_t(S + ((before - L) * N_V + point - V) * N_T);
        } else if (last == 0 && S <= before && before < S + N_L * N_V * N_T && T < point && point < T + N_T) {
          if ((before - S) % N_T == 0) made = std::uint32_t(before + point - T);
        }
        if (made) {
          points_[starter] = made;
          row = forms_.first(std::int32_t(made));
          continue;
        }
      }
      if (order == 0) {
        starter = left;
        row = numbered < RAW ? forms_.first(point) : 0;
      }
      last = order;
      points_[left++] = numbered;
    }
    points_.resize(left);
  }

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
