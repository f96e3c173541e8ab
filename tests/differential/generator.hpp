// Makes programs from seeds: which messages, collectives and races there are, in which memory.
#pragma once

#include "tests/differential/program.hpp"

namespace penstock::differential {

/// The same on every rank and machine. `world_size` is what the launch has.
[[nodiscard]] Program generate(std::uint64_t seed, int world_size, const Families& families);

/// Orders the program's operations into the actions of each rank. See program.hpp for what makes it legal.
void schedule(Program& program);

}  // namespace penstock::differential
