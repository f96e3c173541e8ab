// Says what could be done about exposed time, in words, each piece of advice with its seconds and its
// evidence. Goes by a finished report alone: what stands in no figure is no evidence.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// What saves a hundredth of the counted time at least, most first. `saves_ns` are bounds, each as if nothing
/// else was changed; so they do not add up.
[[nodiscard]] std::vector<Advice> advise(const Report& report);

[[nodiscard]] std::string_view identifier_of(AdviceKind kind) noexcept;

}  // namespace penstock::analysis
