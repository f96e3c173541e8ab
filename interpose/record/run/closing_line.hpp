// The line that the user reads when a recorded job has ended: what was recorded, how to read it.
#pragma once

#include <string>

#include "interpose/record/recorder.hpp"

namespace penstock::record {

/// Returns "recorded 2 ranks in DIRECTORY; next: penstock report DIRECTORY", the directory as a shell reads
/// it.
[[nodiscard]] std::string closing_line(const Identity& identity);

}  // namespace penstock::record
