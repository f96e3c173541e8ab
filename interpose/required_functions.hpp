// Which functions of the MPI library Penstock calls for its own sake, rather than because the application
// called them. A library that lacks one of them cannot be served. Knows no protocol.
#pragma once

namespace penstock::interpose {

/// The first of these functions that the library which was found lacks ("MPI_Improbe"), a literal. Null: it
/// has them all, or no library was found at all. Thread: any.
[[nodiscard]] const char* missing_function() noexcept;

}  // namespace penstock::interpose
