// From a directory of recordings to a report: the order of the steps. Knows what each part needs, not how it
// does it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "analysis/report.hpp"

namespace penstock::analysis {

/// Reads every recording twice: once to join messages and arrivals across ranks, once for the figures. So
/// memory is bounded by one rank's records and the joined messages. Cost: linear in the records. With
/// `only_rank`, the others serve to explain that one, and the figures are its alone. Errors: TraceError when
/// there is nothing that can be used; Report::flaws for parts.
[[nodiscard]] Report analyse(const std::filesystem::path& path, std::optional<std::int32_t> only_rank = {});

}  // namespace penstock::analysis
