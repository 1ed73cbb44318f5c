// The tables of characters, from arrays of Python.
#include "characters.h"
#include "arrays.h"

namespace lookalike {

Characters::Characters(std::vector<std::uint16_t> pages, std::vector<std::uint16_t> kinds, std::vector<std::uint16_t> folds,
                       std::vector<std::uint64_t> fold_bytes)
    : pages_(std::move(pages)), kinds_(std::move(kinds)), folds_(std::move(folds)), fold_bytes_(std::move(fold_bytes)) {
  for (int fold_case = 0; fold_case < 2; fold_case++) {
    auto& entries = entries_[fold_case];
    entries.assign(1 << 16, LONG);
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
      entries[point] = bytes | std::uint32_t(kind) << 24 | (longer ? LONG : 0) | (flags & ~KIND ? CHANGES : 0) | (kind == SINGLE ? ALONE : 0);
    }
  }
}

void define_characters(nb::module_& m) {
  using Shorts = Span<const std::uint16_t>;
  nb::class_<Characters>(m, "Characters")
      .def("__init__", [](Characters* made, Shorts pages, Shorts kinds, Shorts folds, Span<const std::uint64_t> fold_bytes) {
        new (made) Characters({pages.begin(), pages.end()}, {kinds.begin(), kinds.end()}, {folds.begin(), folds.end()},
                              {fold_bytes.begin(), fold_bytes.end()});
      });
}

}  // namespace lookalike
