// Hashes of rows of bytes and of integers.
#include "arrays.h"
#include "hash.h"

namespace lookalike {

// Two hashes of each text from `start` to `stop`.
static void mix_keys(Span<const Word> keys, Span<Word> out) {
  for (std::int64_t i = 0; i < keys.size(); i++) out[i] = fmix64(keys[i] + K0);
}

void define_hashes(nb::module_& m) {
  define(m, "mix_keys", &mix_keys);
}

}  // namespace lookalike
