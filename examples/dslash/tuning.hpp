// Finds the fastest policy that exchanges faces by MPI, once for each machine and case.
#pragma once

#include <optional>

#include "examples/dslash/options.hpp"
#include "examples/dslash/result.hpp"
#include "examples/dslash/team.hpp"

namespace dslash {

/// What was chosen, where the options leave it to the tuner and there is a choice: a rank alone sends
/// nothing. From the tuning file, or measured now and kept there. The same on all ranks. Collective over the
/// team.
[[nodiscard]] std::optional<Tuned> tune(const Options& options, const Team& team);

}  // namespace dslash
