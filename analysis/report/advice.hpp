// Advises how to reduce exposed time, in words, with the possible gain in seconds and the evidence. Uses a
// finished report alone: only its figures are evidence.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// Returns advice that saves at least a hundredth of the counted time, largest first. `saves_ns` are bounds,
/// each as if nothing else changed; so they do not add up.
[[nodiscard]] std::vector<Advice> advise(const Report& report);

[[nodiscard]] std::string_view identifier_of(AdviceKind kind) noexcept;

}  // namespace penstock::analysis
