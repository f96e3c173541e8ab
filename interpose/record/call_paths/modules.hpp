// Records the executable mappings of the process, so that call sites (addresses) can be named after the
// process has ended. Knows no symbols.
#pragma once

namespace penstock::record {

/// Writes a record for each executable mapping that has none yet. Thread: those of begin() and end() only.
void write_new_modules() noexcept;

}  // namespace penstock::record
