// How long the operator takes.
#pragma once

#include "examples/dslash/options.hpp"
#include "examples/dslash/result.hpp"
#include "examples/dslash/team.hpp"

namespace dslash {

/// The median of `rounds`, each as long as the slowest rank's. Collective over the team.
template <typename Precision>
[[nodiscard]] Case time_operator(const Options& options, const Team& team, Policy policy);

/// What each rank allocates for it.
template <typename Precision>
[[nodiscard]] std::size_t operator_bytes(const Options& options, const Team& team);

}  // namespace dslash
