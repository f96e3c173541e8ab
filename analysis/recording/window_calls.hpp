// Which calls wait for some members of a window. Whom such a call has waited for is recorded of windows of
// Penstock's own: its record has the window as its communicator, and the member that was missing last as its
// peer, -1 if that is not known.
#pragma once

#include <string_view>

namespace penstock::analysis {

/// Returns true for "MPI_Win_start" and its like. Fences are collectives.
[[nodiscard]] bool waits_at_window(std::string_view mpi_function) noexcept;

}  // namespace penstock::analysis
