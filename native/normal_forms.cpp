// From UTF-8 to UTF-8 in a Unicode normal form. It is done for segments: a character that begins one is normal and
// composes with nothing before it. A number stands for each of its characters: its class above its code point, or a
// byte that is no UTF-8.
#include "normal_forms.h"

namespace lookalike {

// Returns texts in a normal form, their offsets, and whether they hold bytes that are no UTF-8; no offsets: they are
// in it already.
static std::tuple<Vector<std::uint8_t>, Vector<Long>, bool> normalize_texts(Data data, Longs offsets, int flags,
                                                                            const Characters& characters, const Forms& forms) {
  Normalizer normalizer(characters, forms, flags);
  const Long rows = offsets.size() - 1;
  Vector<Long> made(offsets.size());
  made[0] = 0;
  normalizer.begin(data.begin() + offsets[0], data.begin() + offsets[rows], data.end());
  for (Long row = 0; row < rows; row++) {
    const Long growth = normalizer.add(data.begin() + offsets[row], data.begin() + offsets[row + 1]);
    made[row + 1] = made[row] + offsets[row + 1] - offsets[row] + growth;
  }
  if (!normalizer.finish()) made.clear();
  return {std::move(normalizer.out), std::move(made), normalizer.invalid()};
}

// Finds the first byte that is no UTF-8: its row, and where in it; -1 if there is none.
static std::pair<Long, Long> find_invalid(Data data, Longs offsets) {
  for (Long row = 0; row + 1 < offsets.size(); row++) {
    const Bytes begin = data.begin() + offsets[row], end = data.begin() + offsets[row + 1];
    for (Bytes at = begin; at < end;) {
      const Block block = load_block(at, data.end());
      if (!block.tops()) {
        at += 64;
      } else if (const Shape shape(block, end - at); shape.sound) {
        at += shape.size;
      } else {
        const auto [point, length] = decode(load64(at, data.end()), end - at);
        if (point < 0) return {row, at - begin};
        at += length;
      }
    }
  }
  return {-1, -1};
}

void define_normal_forms(nb::module_& m) {
  using Shorts = Held<const std::uint16_t>;
  nb::class_<Forms>(m, "Forms")
      .def(nb::init<Shorts, Shorts, Shorts, Shorts, Held<const std::uint32_t>, Held<const std::uint32_t, 2>>());
  define(m, "normalize_texts", &normalize_texts);
  define(m, "find_invalid", &find_invalid);
}

}  // namespace lookalike
