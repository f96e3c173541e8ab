#include "examples/dslash/kernels_of_precision.hpp"

DSLASH_KERNELS_OF(Half)
