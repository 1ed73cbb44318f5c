// The tables of characters, from arrays of Python.
#include "characters.h"
#include "arrays.h"

namespace lookalike {

Characters::Characters(std::vector<std::uint16_t> pages, std::vector<std::uint16_t> kinds, std::vector<std::uint16_t> folds,
                       std::vector<std::uint64_t> fold_bytes)
    : pages_(std::move(pages)), kinds_(std::move(kinds)), folds_(std::move(folds)), fold_bytes_(std::move(fold_bytes)) {
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

static Vector<std::uint16_t> kinds_of(const Characters& characters, Span<const std::uint32_t> points) {
  Vector<std::uint16_t> kinds(points.size());
  for (std::int64_t i = 0; i < points.size(); i++)
    kinds[i] = points[i] < 0x110000 ? std::uint16_t(characters.kind_and_flags(std::int32_t(points[i]))) : 0;
  return kinds;
}

void define_characters(nb::module_& m) {
  using Shorts = Span<const std::uint16_t>;
  using namespace nb::literals;
  nb::class_<Characters>(m, "Characters")
      .def("__init__",
           [](Characters* made, Shorts pages, Shorts kinds, Shorts folds, Span<const std::uint64_t> fold_bytes) {
             new (made) Characters({pages.begin(), pages.end()}, {kinds.begin(), kinds.end()}, {folds.begin(), folds.end()},
                                   {fold_bytes.begin(), fold_bytes.end()});
           })
      .def("kinds", &kinds_of, "points"_a, "Return what code points are to words, and their flags.");
}

}  // namespace lookalike
