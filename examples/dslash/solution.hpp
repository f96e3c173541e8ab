// Solves M psi = eta on the whole lattice, M = 1 − kappa D, by way of the even sites.
#pragma once

#include <string>
#include <vector>

#include "examples/dslash/options.hpp"
#include "examples/dslash/result.hpp"
#include "examples/dslash/team.hpp"

namespace dslash {

/// Tolerance and delta as chosen, or as the paper has them for that precision.
[[nodiscard]] double tolerance_of(const Options& options);
[[nodiscard]] double delta_of(const Options& options);

/// With `verify` also checks of the solution; every policy is checked that is among those. Collective.
template <typename Precise, typename Sloppy>
[[nodiscard]] Solved solve_for_random_source(const Options& options, const Team& team,
                                             const std::vector<Policy>& policies, std::vector<Check>& checks);

/// What each rank allocates for it.
template <typename Precise, typename Sloppy>
[[nodiscard]] std::size_t solution_bytes(const Options& options, const Team& team);

}  // namespace dslash
