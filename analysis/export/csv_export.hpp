// Writes a job as tables for pandas, R and spreadsheets: a file for each kind of record, a row for each
// record (RFC 4180).
#pragma once

#include <filesystem>
#include <memory>

#include "analysis/export/common/exporter.hpp"
#include "analysis/export/common/output.hpp"

namespace penstock::analysis::exports {

/// Memory: the names of one rank. `destination` must outlive the exporter.
[[nodiscard]] std::unique_ptr<Exporter> make_csv_exporter(const Destination& destination,
                                                          const JobClock& clock);

/// Returns true if `directory` contains tables of these names, and nothing else.
[[nodiscard]] bool is_csv_export(const std::filesystem::path& directory);

}  // namespace penstock::analysis::exports
