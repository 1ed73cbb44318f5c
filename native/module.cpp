// The module: what each file defines, and what this level is.
#include "arrays.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace lookalike {

using Define = void(nb::module_&);
Define define_all_pairs, define_candidates, define_characters, define_comparisons, define_containment, define_filters,
    define_hashes, define_lookup, define_normal_forms, define_overlap, define_packing, define_pages, define_search,
    define_shingles, define_sketches, define_units, define_vocabulary;

// What the processor has and the system lets programs use. Asked for here: the libraries of some compilers do not say.
static int best_level() {
#if defined(__x86_64__)
  const auto all = [](unsigned found, unsigned wanted) { return (found & wanted) == wanted; };
  unsigned a, b, c, d, states, upper;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !all(c, bit_OSXSAVE | bit_AVX | bit_FMA | bit_POPCNT | bit_AES | bit_PCLMUL)) return 1;
  asm("xgetbv" : "=a"(states), "=d"(upper) : "c"(0));
  if (!all(states, 0x06) || !__get_cpuid(0x80000001, &a, &b, &c, &d) || !all(c, bit_LZCNT)) return 1;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !all(b, bit_AVX2 | bit_BMI | bit_BMI2)) return 1;
  const unsigned wider = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
  return all(states, 0xE6) && all(b, wider) ? 4 : 3;
#else
  return 1;
#endif
}

}  // namespace lookalike

NB_MODULE(CORE, m) {
  using namespace lookalike;
  m.def("best_level", &best_level);
  for (Define* define : {define_all_pairs, define_candidates, define_characters, define_comparisons, define_containment,
                         define_filters, define_hashes, define_lookup, define_normal_forms, define_overlap, define_packing,
                         define_pages, define_search, define_shingles, define_sketches, define_units, define_vocabulary})
    define(m);
}
