// Rounding that kernels and the host do alike.
#pragma once

#include <cmath>

#include "examples/support/philox.hpp"

namespace particles {

/// To the nearest, half to even: the same for both signs. `value` must fit.
[[nodiscard]] EXAMPLE_HOST_DEVICE inline int rounded(float value) {
#if defined(__CUDA_ARCH__)
  return __float2int_rn(value);
#else
  return static_cast<int>(std::lrint(value));
#endif
}

}  // namespace particles
