// Keys of tokens, and shingles numbered by first appearance.
#include "arrays.h"
#include "interner.h"
#include "known_text.h"
#include "tokens.h"

namespace lookalike {

enum Unit { WORDS, CHARACTERS, BYTES, LINES };

// Keys of the tokens of rows from `row` on, till there are `most` or more: (where those of each row begin, keys).
static std::tuple<Vector<std::int64_t>, Matrix<Word>> key_tokens(Span<const std::uint8_t> data, Span<const std::int64_t> offsets,
                                                                 std::int64_t row, int unit, bool fold_case,
                                                                 const Characters& characters, Span<const Word> points,
                                                                 std::int64_t most) {
  WordFolder folder(characters, fold_case);
  Vector<std::int64_t> bounds{0};
  Vector<Word> keys;
  Vector<std::uint8_t> folded;
  std::int64_t count = 0;
  const auto room_for = [&](std::int64_t more) {
    grow(keys, 2 * (count + more));
    return keys.data() + 2 * count;
  };
  for (; row + 1 < offsets.size() && count < most; row++) {
    const Bytes begin = data.begin() + offsets[row], end = data.begin() + offsets[row + 1];
    if (unit == BYTES) {
      Word* out = room_for(end - begin);
      for (Bytes at = begin; at < end; at++) *out++ = *at, *out++ = 1;
      count += end - begin;
    } else {
      grow(folded, 3 * (end - begin) + 192);
      Bytes at = folded.data();
      const std::int64_t size = unit == WORDS ? folder.fold(begin, end, data.end(), folded.data())
                                              : fold_spaces(begin, end, data.end(), fold_case, unit == LINES, characters, folded.data());
      if (unit == CHARACTERS) {
        std::fill_n(folded.data() + size, 8, 0);
        Word* out = room_for(size);
        for (std::int64_t i = 0; i < size; count++) {
          const auto [point, length] = decode(load64(at + i), size - i);
          *out++ = Word(point), *out++ = 1;
          i += length;
        }
      } else {
        const std::uint8_t separator = unit == WORDS ? ' ' : '\n';
        std::fill_n(folded.data() + size, 128, separator);
        count += key_separated(at, size, separator, points.begin(), room_for((size + 1) / 2));
      }
    }
    bounds.push_back(count);
  }
  keys.resize(2 * count);
  return {std::move(bounds), {std::move(keys), 2}};
}

void define_vocabulary(nb::module_& m) {
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  define(m, "key_tokens", &key_tokens);
  nb::class_<Interner>(m, "Interner")
      .def(nb::init<std::int64_t, Span<const Word>>())
      .def("add", &Interner::add, Unlocked())
      .def("take", &Interner::take)
      .def("__len__", &Interner::size);
  nb::class_<KnownText>(m, "KnownText")
      .def(nb::init<bool, std::int64_t, bool, Span<const Word>, Span<const Word>>())
      .def("number", &KnownText::number, Unlocked())
      .def("__len__", &KnownText::size);
}

}  // namespace lookalike
