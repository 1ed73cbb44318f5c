#include "arrays.h"

namespace lookalike {

void define_comparisons(nb::module_&) {}

}  // namespace lookalike
