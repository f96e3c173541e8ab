// Notes the executable mappings of the process, so that call sites (addresses) can be named when the process
// is gone. Knows nothing of symbols.
#pragma once

namespace penstock::record {

/// Writes a record for each executable mapping that was not written before. Not thread-safe: begin() and
/// end().
void write_new_modules() noexcept;

}  // namespace penstock::record
