// The parts of a comparison as JSON, for all documents that hold comparisons.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "analysis/comparison/diff.hpp"

namespace penstock::analysis::json {

[[nodiscard]] nlohmann::ordered_json of(const DiffRow& row);
[[nodiscard]] nlohmann::ordered_json rows_of(const std::vector<DiffRow>& rows);
[[nodiscard]] nlohmann::ordered_json of(const ComparedState& state);

}  // namespace penstock::analysis::json
