// Windows of the MPI library over public copies: where the library must make the window, as members are on
// several nodes, run without Penstock or do not reach each other's memory, it gets a public copy in host
// memory for each member's device memory. Both are made alike when the program synchronises. Knows no
// window of ours.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

#include "interpose/binding/function_names.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/calls/window_table.hpp"
#include "interpose/windows/memory/allocated_memory.hpp"
#include "interpose/windows/separate/public_copy.hpp"

namespace penstock::interpose {

/// This rank's side of such a window, over device memory of its own.
struct SeparateWindow {
  SeparateWindow(void* base, std::size_t bytes, const char* reason) noexcept
      : memory(base, bytes), why(reason) {}
  SeparateWindow(AllocatedMemory device_memory, std::size_t bytes, void* public_copy,
                 const char* reason) noexcept
      : allocated(std::move(device_memory)), memory(allocated.address(), bytes, public_copy), why(reason) {}

  AllocatedMemory allocated;  ///< of MPI_Win_allocate; both copies are freed with the window then
  PublicCopy memory;
  const char* why;  ///< a literal
  int rank = 0;     ///< in the window
  int model = MPI_WIN_SEPARATE;
};

[[nodiscard]] WindowTable<SeparateWindow>& separate_windows() noexcept;

/// Prepares the public copy of device memory of MPI_Win_create, and says on a line why there is one. Null if
/// there is none: then `prepared` says why. Errors: std::bad_alloc.
[[nodiscard]] std::shared_ptr<SeparateWindow> prepare_public_copy(MPI_Comm communicator, void* base,
                                                                  MPI_Aint size, const char* why,
                                                                  Status& prepared);

/// Makes device memory for this member of MPI_Win_allocate, for whose window `handle` the library has
/// allocated host memory: the public copy. Null after saying on a line why there is none: then the member's
/// memory is the host's. Errors: std::bad_alloc.
[[nodiscard]] std::shared_ptr<SeparateWindow> allocate_private_copy(MPI_Comm communicator, MPI_Win handle,
                                                                    MPI_Aint size, const char* why);

/// When a call makes the copies of a rank's own memory alike: before the library synchronises its public copy
/// with others, and after.
struct Alike {
  bool before = false;
  bool after = false;
  bool names_target = false;  ///< only if that is this rank
};

constexpr Alike alike_of(std::string_view function) noexcept {
  if (function == "MPI_Win_fence" || function == "MPI_Win_sync" || function == "MPI_Win_unlock_all" ||
      function == "MPI_Win_free")
    return {.before = true, .after = true};
  if (function == "MPI_Win_unlock") return {.before = true, .after = true, .names_target = true};
  if (function == "MPI_Win_lock") return {.after = true, .names_target = true};
  if (function == "MPI_Win_post") return {.before = true};
  if (function == "MPI_Win_lock_all" || function == "MPI_Win_wait" || function == "MPI_Win_test")
    return {.after = true};
  return {};
}

/// Returns whether the call has ended a synchronisation: MPI_Win_test may not.
template <Function function, typename... Arguments>
bool has_synchronised(const Arguments&... arguments) {
  if constexpr (function == Function::Win_test) {
    return *std::get<1>(std::tie(arguments...)) != 0;
  } else {
    return true;
  }
}

/// Carries out `call()`, a call of the library on a window of its own that returns MPI's code.
template <Function function, typename Call, typename... Arguments>
int synchronise_copies(MPI_Win handle, Call call, const Arguments&... arguments) {
  constexpr std::string_view name = name_without_c(function);
  constexpr Alike alike = alike_of(name);
  if constexpr (!alike.before && !alike.after) {
    return call();
  } else {
    const std::shared_ptr<SeparateWindow> window = separate_windows().find(handle);
    if (window == nullptr) return call();
    if constexpr (alike.names_target) {
      constexpr std::size_t place = name == "MPI_Win_lock" ? 1 : 0;
      if (std::get<place>(std::tie(arguments...)) != window->rank) return call();
    }
    constexpr bool frees = name == "MPI_Win_free";
    const auto make_alike = [&]() -> Status {
      // many programs free the memory before the window, though MPI has it the other way round
      if (frees && (window->allocated.address() != nullptr || window->memory.is_freed())) return {};
      return window->memory.make_alike(window->why);
    };
    Status status;
    if constexpr (alike.before) status = make_alike();
    if (const int code = call(); code != MPI_SUCCESS) return code;
    if constexpr (alike.after) {
      if (status.ok() && has_synchronised<function>(arguments...)) status = make_alike();
    }
    if constexpr (frees) separate_windows().forget(handle, window);
    if (status.ok()) return MPI_SUCCESS;
    // a freed window has no handler any more
    const ErrorTarget errors = frees ? ErrorTarget::of(MPI_COMM_NULL) : ErrorTarget::of_window(handle);
    return errors.raise_status(name_of(function), status);
  }
}

/// MPI_Win_get_attr on a window of the library's. `by_library()` calls it.
template <typename Library>
int query_librarys_window(Library by_library, MPI_Win handle, int key, void* value, int* flag) {
  const std::shared_ptr<SeparateWindow> window = separate_windows().find(handle);
  if (window == nullptr || (key != MPI_WIN_BASE && key != MPI_WIN_MODEL)) return by_library();
  *static_cast<void**>(value) =
      key == MPI_WIN_BASE ? window->memory.base() : static_cast<void*>(&window->model);
  *flag = 1;
  return MPI_SUCCESS;
}

}  // namespace penstock::interpose
