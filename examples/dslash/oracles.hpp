// Checks of the operator against theory, a host and itself.
#pragma once

#include <vector>

#include "examples/dslash/options.hpp"
#include "examples/dslash/result.hpp"
#include "examples/dslash/team.hpp"

namespace dslash {

/// The same on all ranks. Collective over the team. Every policy is checked that is among those.
template <typename Precision>
[[nodiscard]] std::vector<Check> check_operator(const Options& options, const Team& team,
                                                const std::vector<Policy>& policies);

}  // namespace dslash
