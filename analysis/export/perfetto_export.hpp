// Writes a job as a trace for Perfetto's viewer (https://ui.perfetto.dev): ranks are processes, messages are
// flows. Must not know the encoding (perfetto_packets). In a build without protozero,
// why_no_perfetto() returns the reason.
#pragma once

#include <memory>
#include <string>

#include "analysis/export/common/exporter.hpp"
#include "analysis/export/common/output.hpp"

namespace penstock::analysis::exports {

/// Returns an empty string if this build writes such traces, else why not.
[[nodiscard]] std::string why_no_perfetto();

/// Memory: one rank's tracks and names. `file` must outlive the exporter; its owner closes it.
[[nodiscard]] std::unique_ptr<Exporter> make_perfetto_exporter(OutputFile& file, const JobClock& clock);

}  // namespace penstock::analysis::exports
