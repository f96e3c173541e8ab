// Writes a job as a trace for Perfetto's viewer (https://ui.perfetto.dev): ranks are processes, messages are
// flows. Must not know the encoding (perfetto_packets).
#pragma once

#include <memory>

#include "analysis/export/common/exporter.hpp"
#include "analysis/export/common/output.hpp"

namespace penstock::analysis::exports {

/// Memory: one rank's tracks and names. `file` must outlive the exporter; its owner closes it.
[[nodiscard]] std::unique_ptr<Exporter> make_perfetto_exporter(OutputFile& file, const JobClock& clock);

}  // namespace penstock::analysis::exports
