// Texts in a normal form, folded.
#pragma once
#include "fold.h"
#include "normal_forms.h"

namespace lookalike {

// Folds texts, brought into a normal form without what is hidden: their words, or else what stands between spaces.
class TextFolder {
 public:
  TextFolder(int unit, bool fold_case, int flags, const Characters& characters, const Forms& forms)
      : unit_(unit), fold_case_(fold_case), flags_(flags), of_(characters), normalizer_(characters, forms, flags) {}

  // Folds a text into `out`; up to `limit` may be read. Returns the bytes written, behind which there is room for BEYOND.
  std::int64_t fold(Bytes begin, Bytes end, Bytes limit, Vector<std::uint8_t>& out) {
    if (unit_ == WORDS) {
      WordFolder folder(of_, fold_case_, flags_ | (flags_ & FORMED ? FALLS : 0));
      const std::int64_t size = folder.fold(begin, end, limit, room(out, end - begin));
      invalid |= folder.invalid;
      if (!(folder.changes & flags_) && !(folder.changes & FALLS && flags_ & FORMED)) return size;
    }
    normalizer_.begin(begin, end, limit);
    normalizer_.add(begin, end);
    invalid |= normalizer_.invalid();
    if (normalizer_.finish()) begin = normalizer_.out.data(), end = limit = begin + normalizer_.out.size();
    std::uint8_t* const to = room(out, end - begin);
    if (unit_ == WORDS) return WordFolder(of_, fold_case_).fold(begin, end, limit, to);
    return fold_spaces(begin, end, limit, fold_case_, unit_ == LINES, of_, to);
  }

  static constexpr std::int64_t BEYOND = 256;
  bool invalid = false;  // whether there were bytes that are no UTF-8

 private:
  static std::uint8_t* room(Vector<std::uint8_t>& out, std::int64_t size) {
    if (std::int64_t(out.size()) < 3 * size + BEYOND) {
      out = {};
      out.resize(3 * size + size / 2 + BEYOND);
    }
    return out.data();
  }

  const int unit_;
  const bool fold_case_;
  const int flags_;
  const Characters& of_;
  Normalizer normalizer_;
};

}  // namespace lookalike
