// What the hash of all spins is made of.
#pragma once

#include <cstdint>

#include "examples/support/philox.hpp"

namespace ising {

/// splitmix64's finisher: every bit of the result depends on every bit of the input.
EXAMPLE_HOST_DEVICE inline std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

}  // namespace ising
