// A job as a trace for Perfetto's viewer (https://ui.perfetto.dev): ranks are processes, messages are flows.
// Knows no encoding: perfetto_packets does.
#pragma once

#include <memory>

#include "analysis/export/exporter.hpp"
#include "analysis/export/output.hpp"

namespace penstock::analysis::exports {

/// Memory: one rank's tracks and names. `file` outlives the exporter and is closed by who owns it.
[[nodiscard]] std::unique_ptr<Exporter> make_perfetto_exporter(OutputFile& file, const JobClock& clock);

}  // namespace penstock::analysis::exports
