// The schema of the report's JSON, analysis/report.schema.json, as it is built into the command.
#pragma once

#include <string_view>

namespace penstock::cli {

[[nodiscard]] std::string_view report_schema() noexcept;

}  // namespace penstock::cli
