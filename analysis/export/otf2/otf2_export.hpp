// Writes a job as an OTF2 archive, by the conventions of Score-P, for Vampir, Scalasca and Cube. In a build
// without the OTF2 library, why_no_otf2() returns the reason.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "analysis/export/common/exporter.hpp"
#include "analysis/export/common/output.hpp"

namespace penstock::analysis::exports {

/// Returns an empty string if this build writes OTF2, else why not.
[[nodiscard]] std::string why_no_otf2();

/// Memory: OTF2's buffers for one rank's locations, and the names of the job. `destination` must outlive the
/// exporter.
[[nodiscard]] std::unique_ptr<Exporter> make_otf2_exporter(const Destination& destination,
                                                           const JobClock& clock);

/// Returns true if `directory` contains an archive of make_otf2_exporter(), and nothing else.
[[nodiscard]] bool is_otf2_export(const std::filesystem::path& directory);

}  // namespace penstock::analysis::exports
