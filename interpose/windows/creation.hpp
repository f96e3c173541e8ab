// Creates and frees windows of ours: the members agree whether the window is one, tell each other what their
// memory is, or attach it later, and share the words by which they synchronise. Knows no operation.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "interpose/windows/window.hpp"

namespace penstock::interpose {

/// The arguments of MPI_Win_create. MPI_Win_allocate has no base, MPI_Win_create_dynamic no memory at all.
struct WindowArguments {
  void* base = nullptr;
  MPI_Aint size = 0;
  MPI_Aint unit = 1;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm communicator = MPI_COMM_NULL;
};

enum class Maker : std::uint8_t {
  library,  ///< no member has device memory
  ours,
};

/// Agrees with all members who makes the window. Without an agreement, as members are on several nodes or the
/// arguments are invalid, it is the library, too.
[[nodiscard]] Maker maker_of(const WindowArguments& arguments);

/// Makes a window of ours: maker_of() has said so on all members. Returns the code of the call, or nothing on
/// all members if the library must make the window, as some do not reach the memory of others, or as it
/// shares no memory between them: then `why_not` is a literal. Errors: std::bad_alloc.
[[nodiscard]] std::optional<int> make_window(const WindowArguments& arguments, MPI_Win* handle,
                                             const char*& why_not);

/// Returns whether this member of MPI_Win_allocate asks for device memory (the info key
/// mpi_memory_alloc_kinds, "cuda:device").
[[nodiscard]] bool asks_for_device_memory(const WindowArguments& arguments);
/// The same as above for MPI_Win_allocate: ours if some member asks for it. Nothing also if some member could
/// not allocate it.
[[nodiscard]] Maker maker_of_allocated(const WindowArguments& arguments);
[[nodiscard]] std::optional<int> allocate_window(const WindowArguments& arguments, void** base,
                                                 MPI_Win* handle, const char*& why_not);

/// The same for MPI_Win_create_dynamic: ours if some member uses a GPU.
[[nodiscard]] Maker maker_of_dynamic(const WindowArguments& arguments);
[[nodiscard]] std::optional<int> make_dynamic_window(const WindowArguments& arguments, MPI_Win* handle);

/// MPI_Win_attach and MPI_Win_detach on a window of ours: calls of one member. Return the code of the call;
/// may raise an MPI error. Errors: std::bad_alloc.
int attach_memory(Window& window, void* base, MPI_Aint size);
int detach_memory(Window& window, const void* base);

/// Frees it; returns the code of the call.
int free_window(const std::shared_ptr<Window>& window, MPI_Win* handle);

}  // namespace penstock::interpose
