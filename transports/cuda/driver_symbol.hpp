// The name under which a function of driver_functions.def is found in libcuda.so.1, as a string. Knows only
// <cuda.h>'s mapping to versioned symbols.
#pragma once

#include <cuda.h>

// two steps, so that the mapping happens before the name becomes a string
#define PENSTOCK_DRIVER_SYMBOL(function) PENSTOCK_DRIVER_SYMBOL_MAPPED(function)
#define PENSTOCK_DRIVER_SYMBOL_MAPPED(function) #function
