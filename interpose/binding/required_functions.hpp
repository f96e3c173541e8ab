// The functions of the MPI library that Penstock itself calls, not only because the application called them:
// a library that lacks one of them cannot be served. Also finds receiving functions of the library that are
// not wrapped. Knows no protocol.
#pragma once

namespace penstock::interpose {

/// Returns the first of these functions that the library lacks ("MPI_Improbe"), a literal. Null: it has them
/// all, or no library was found. Thread: any.
[[nodiscard]] const char* missing_function() noexcept;

/// Returns a function of the library by which the application could receive a message without Penstock: it is
/// newer than the table of functions, and not wrapped. A literal; null: there is none. Thread: any.
[[nodiscard]] const char* unwrapped_receiver() noexcept;

}  // namespace penstock::interpose
