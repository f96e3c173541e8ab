// A job as an OTF2 archive, by the conventions of Score-P, for Vampir, Scalasca and Cube. A build without the
// OTF2 library has this header too, and says so.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "analysis/export/exporter.hpp"
#include "analysis/export/output.hpp"

namespace penstock::analysis::exports {

/// Empty if this build writes OTF2.
[[nodiscard]] std::string why_no_otf2();

/// Memory: what OTF2 buffers for one rank's locations, and the names of the job. `destination` outlives it.
[[nodiscard]] std::unique_ptr<Exporter> make_otf2_exporter(const Destination& destination,
                                                           const JobClock& clock);

/// Does `directory` hold an archive as make_otf2_exporter() leaves it, and nothing else?
[[nodiscard]] bool is_otf2_export(const std::filesystem::path& directory);

}  // namespace penstock::analysis::exports
