// The module: what each file defines, and what this level is.
#include "arrays.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace lookalike {

using Define = void(nb::module_&);
Define define_all_pairs, define_candidates, define_characters, define_comparisons, define_containment, define_filters,
    define_hashes, define_lookup, define_normal_forms, define_overlap, define_packing, define_search, define_shingles,
    define_sketches, define_units, define_vocabulary;

static int best_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
#define HAS __builtin_cpu_supports
  if (!HAS("avx2") || !HAS("bmi") || !HAS("bmi2") || !HAS("fma") || !HAS("popcnt") || !HAS("aes") || !HAS("pclmul")) return 1;
  unsigned a, b, c, d;
  if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(c & bit_LZCNT)) return 1;  // not every compiler knows it by name
  return HAS("avx512f") && HAS("avx512bw") && HAS("avx512cd") && HAS("avx512dq") && HAS("avx512vl") ? 4 : 3;
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
                         define_search, define_shingles, define_sketches, define_units, define_vocabulary})
    define(m);
}
