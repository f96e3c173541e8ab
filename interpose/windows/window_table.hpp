// Finds the window that belongs to a handle of the MPI library. Knows nothing else of windows.
#pragma once

#include <mpi.h>

#include <memory>

namespace penstock::interpose {

class Window;

/// Returns null for the MPI library's own windows. Thread: any. Cost: a load if there are no others.
[[nodiscard]] std::shared_ptr<Window> find_window(MPI_Win handle) noexcept;
/// Errors: std::bad_alloc.
void note_own_window(MPI_Win handle, std::shared_ptr<Window> window);
void forget_own_window(MPI_Win handle, const std::shared_ptr<Window>& window) noexcept;

}  // namespace penstock::interpose
