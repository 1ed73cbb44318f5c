#include "arrays.h"

namespace lookalike {

void define_units(nb::module_&) {}

}  // namespace lookalike
