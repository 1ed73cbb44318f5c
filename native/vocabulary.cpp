// Keys of tokens, and shingles numbered by first appearance.
#include "arrays.h"
#include "interner.h"
#include "known_text.h"
#include "tokens.h"

namespace lookalike {

// Keys of the tokens of rows from `row` on, till there are `most` or more: (where those of each row begin, keys).
static std::tuple<Vector<Long>, Matrix<Word>> key_tokens(Data data, Longs offsets, Long row, int unit, bool fold_case,
                                                         const Characters& characters, Values points, Long most) {
  WordFolder folder(characters, fold_case);
  Vector<Long> bounds{0};
  Vector<Word> keys;
  Vector<std::uint8_t> folded;
  std::uint32_t edges[EDGES];
  Long count = 0;
  for (; row + 1 < offsets.size() && count < most; row++) {
    Bytes begin = data.begin() + offsets[row], end = data.begin() + offsets[row + 1], at = begin;
    Long size = end - begin;
    const char separator = unit == LINES ? '\n' : ' ';
    if (unit != BYTES) {
      std::uint8_t* to = grow(folded, 3 * size + 256);
      at = to;
      size = unit == WORDS ? folder.fold(begin, end, data.end(), to)
                           : fold_spaces(begin, end, data.end(), fold_case, unit == LINES, characters, to);
      std::memset(to + size, separator, 128);
    }
    const bool separated = unit == WORDS || unit == LINES;
    Word* out = grow(keys, 2 * (count + (separated ? (size + 1) / 2 : size))) + 2 * count;
    const auto put = [&out](Pair key) { *out++ = key.a, *out++ = key.b; };
    if (separated)
      each_token(at, size, separator, edges, [&](Bytes token, Long n) { put(token_key(token, n, points.begin())); });
    else if (unit == BYTES)
      for (; at < end; at++) put({*at, 1});
    else
      for (Long left = size; left > 0;) {
        const auto [point, length] = decode(load64(at), left);
        put({Word(point), 1});
        at += length, left -= length;
      }
    count = (out - keys.data()) / 2;
    bounds.push_back(count);
  }
  keys.resize(2 * count);
  return {std::move(bounds), {std::move(keys), 2}};
}

void define_vocabulary(nb::module_& m) {
  define(m, "key_tokens", &key_tokens);
  nb::class_<Interner>(m, "Interner")
      .def(nb::init<Long, Values>())
      .def("add", &Interner::add, Unlocked())
      .def("take", &Interner::take);
  nb::class_<KnownText>(m, "KnownText")
      .def(nb::init<int, Long, bool, Values, Values>())
      .def("number", &KnownText::number, Unlocked());
}

}  // namespace lookalike
