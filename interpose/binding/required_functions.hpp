// Which functions of the MPI library Penstock calls for its own sake, rather than because the application
// called them: a library that lacks one of them cannot be served. And which functions that receive the
// library has beyond those that are wrapped. Knows no protocol.
#pragma once

namespace penstock::interpose {

/// The first of these functions that the library which was found lacks ("MPI_Improbe"), a literal. Null: it
/// has them all, or no library was found at all. Thread: any.
[[nodiscard]] const char* missing_function() noexcept;

/// A function of the library that was found by which the application could receive a message past Penstock:
/// it is newer than the table of functions, and not wrapped. A literal; null: there is none. Thread: any.
[[nodiscard]] const char* unwrapped_receiver() noexcept;

}  // namespace penstock::interpose
