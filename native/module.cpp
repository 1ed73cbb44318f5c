// The module: what each file defines, and what this level is.
#include "arrays.h"

namespace lookalike {

void define_all_pairs(nb::module_& m);
void define_candidates(nb::module_& m);
void define_characters(nb::module_& m);
void define_comparisons(nb::module_& m);
void define_containment(nb::module_& m);
void define_filters(nb::module_& m);
void define_hashes(nb::module_& m);
void define_lookup(nb::module_& m);
void define_normal_forms(nb::module_& m);
void define_overlap(nb::module_& m);
void define_packing(nb::module_& m);
void define_search(nb::module_& m);
void define_shingles(nb::module_& m);
void define_sketches(nb::module_& m);
void define_units(nb::module_& m);
void define_vocabulary(nb::module_& m);

static int best_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("aes")) return 1;
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") ? 4 : 3;
#else
  return 1;
#endif
}

}  // namespace lookalike

NB_MODULE(CORE, m) {
  using namespace lookalike;
  m.def("best_level", &best_level);
  define_all_pairs(m);
  define_candidates(m);
  define_characters(m);
  define_comparisons(m);
  define_containment(m);
  define_filters(m);
  define_hashes(m);
  define_lookup(m);
  define_normal_forms(m);
  define_overlap(m);
  define_packing(m);
  define_search(m);
  define_shingles(m);
  define_sketches(m);
  define_units(m);
  define_vocabulary(m);
}
