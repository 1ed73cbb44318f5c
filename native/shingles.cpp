// Shingles of texts.
#include "arrays.h"
#include "fold.h"
#include "hash.h"

namespace lookalike {

static std::int64_t fold_text(Span<const std::uint8_t> data, std::int64_t begin, std::int64_t end, bool fold_case, const Characters& characters,
                              Span<std::uint8_t> out) {
  WordFolder folder(characters, fold_case);
  return folder.fold(data.begin() + begin, data.begin() + end, data.end(), out.begin());
}
static std::int64_t fold_text_spaces(Span<const std::uint8_t> data, std::int64_t begin, std::int64_t end, bool fold_case, bool keep_lines,
                                     const Characters& characters, Span<std::uint8_t> out) {
  return fold_spaces(data.begin() + begin, data.begin() + end, data.end(), fold_case, keep_lines, characters, out.begin());
}

void define_shingles(nb::module_& m) {
  define(m, "fold_words", &fold_text);
  define(m, "fold_spaces", &fold_text_spaces);
}

}  // namespace lookalike
