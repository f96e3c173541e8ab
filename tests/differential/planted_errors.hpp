// Receives that are too short for their messages, completed by every call, on a communicator with an error
// handler of its own. Tells which error was returned, and which handler was called how often.
#pragma once

#include <mpi.h>

#include <string>

#include "tests/differential/arenas.hpp"
#include "tests/differential/program.hpp"

namespace penstock::differential {

/// One rank's part, over when it returns; what its receives saw. Collective over `world`.
[[nodiscard]] std::string plant_errors(const PlantedErrors& planted, MPI_Comm world, Arenas& arenas,
                                       bool may_be_persistent);

}  // namespace penstock::differential
