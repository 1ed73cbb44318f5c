// The tables of characters, from arrays of Python.
#include "characters.h"

namespace lookalike {

static Vector<std::uint16_t> kinds_of(const Characters& characters, Span<const std::uint32_t> points) {
  Vector<std::uint16_t> kinds(points.size());
  for (Long i = 0; i < points.size(); i++)
    kinds[i] = points[i] < 0x110000 ? std::uint16_t(characters.kind_and_flags(std::int32_t(points[i]))) : 0;
  return kinds;
}

void define_characters(nb::module_& m) {
  using Shorts = Held<const std::uint16_t>;
  using namespace nb::literals;
  nb::class_<Characters>(m, "Characters")
      .def(nb::init<Shorts, Shorts, Shorts, Held<const std::uint64_t>>())
      .def("kinds", &kinds_of, "points"_a, "Return what code points are to words, and their flags.");
}

}  // namespace lookalike
