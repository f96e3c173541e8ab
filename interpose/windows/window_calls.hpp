// What each one-sided function does on a window of ours: one function object a function, for both sizes of
// counts. Included by window_calls.cpp alone.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "interpose/binding/function_names.hpp"
#include "interpose/binding/mpi_level.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/staging/out_of_reach.hpp"
#include "interpose/windows/accumulation.hpp"
#include "interpose/windows/creation.hpp"
#include "interpose/windows/epochs.hpp"
#include "interpose/windows/movement.hpp"
#include "interpose/windows/separate/separate_windows.hpp"

namespace penstock::interpose {

struct OwnWindowCall {
  const std::shared_ptr<Window>& window;
  const char* name;
  CallScope& scope;
};

/// Specialised below for each function, which gets the call and MPI's arguments.
template <Function>
constexpr int own_window_call_of = 0;

template <Function function, typename... Arguments>
int own_window_call(const OwnWindowCall& call, Arguments... arguments) {
  return own_window_call_of<function>(call, arguments...);
}

#define PENSTOCK_OWN_ONE(Name, how) \
  template <>                       \
  inline constexpr auto own_window_call_of<Function::Name> = how;
#if PENSTOCK_HAS_LARGE_COUNTS
#define PENSTOCK_OWN(Name, how) PENSTOCK_OWN_ONE(Name, how) PENSTOCK_OWN_ONE(Name##_c, how)
#else
#define PENSTOCK_OWN(Name, how) PENSTOCK_OWN_ONE(Name, how)
#endif

namespace own_calls {

inline MPI_Request* request_among() noexcept {
  return nullptr;
}
inline MPI_Request* request_among(MPI_Request* request) noexcept {
  return request;
}

template <Direction direction, typename Address>
inline constexpr auto moved = [](const OwnWindowCall& call, Address origin, auto count, MPI_Datatype type,
                                 int rank, MPI_Aint displacement, auto target_count, MPI_Datatype target_type,
                                 MPI_Win, auto... request) {
  return move(call.window, call.name, direction, origin, count, type,
              {rank, displacement, static_cast<MPI_Count>(target_count), target_type},
              request_among(request...));
};

inline constexpr auto accumulated = [](const OwnWindowCall& call, const void* origin, auto count,
                                       MPI_Datatype type, int rank, MPI_Aint displacement, auto target_count,
                                       MPI_Datatype target_type, MPI_Op operation, MPI_Win, auto... request) {
  return accumulate(call.window, call.name, {origin, static_cast<MPI_Count>(count), type}, nullptr,
                    {rank, displacement, static_cast<MPI_Count>(target_count), target_type}, operation,
                    request_among(request...));
};

inline constexpr auto fetched =
    [](const OwnWindowCall& call, const void* origin, auto count, MPI_Datatype type, void* result,
       auto result_count, MPI_Datatype result_type, int rank, MPI_Aint displacement, auto target_count,
       MPI_Datatype target_type, MPI_Op operation, MPI_Win, auto... request) {
      const CallersBuffer to{result, static_cast<MPI_Count>(result_count), result_type};
      return accumulate(call.window, call.name, {origin, static_cast<MPI_Count>(count), type}, &to,
                        {rank, displacement, static_cast<MPI_Count>(target_count), target_type}, operation,
                        request_among(request...));
    };

inline constexpr auto fetched_one = [](const OwnWindowCall& call, const void* origin, void* result,
                                       MPI_Datatype type, int rank, MPI_Aint displacement, MPI_Op operation,
                                       MPI_Win) {
  const CallersBuffer to{result, 1, type};
  return accumulate(call.window, call.name, {origin, 1, type}, &to, {rank, displacement, 1, type}, operation,
                    nullptr);
};

inline constexpr auto swapped = [](const OwnWindowCall& call, const void* origin, const void* compared,
                                   void* result, MPI_Datatype type, int rank, MPI_Aint displacement,
                                   MPI_Win) {
  return compare_and_swap(*call.window, origin, compared, result, {rank, displacement, 1, type});
};

inline constexpr auto queried = [](const OwnWindowCall& call, MPI_Win handle, int key, void* value,
                                   int* flag) -> int {
  WindowAttributes& attributes = call.window->attributes();
  const auto answer = [&](void* attribute) -> int {
    *static_cast<void**>(value) = attribute;
    *flag = 1;
    return MPI_SUCCESS;
  };
  if (key == MPI_WIN_BASE) return answer(attributes.base);
  if (key == MPI_WIN_SIZE) return answer(&attributes.size);
  if (key == MPI_WIN_DISP_UNIT) return answer(&attributes.unit);
  if (key == MPI_WIN_CREATE_FLAVOR) return answer(&attributes.flavor);
  if (key == MPI_WIN_MODEL) return answer(&attributes.model);
  return PMPI_Win_get_attr(handle, key, value, flag);
};

inline constexpr auto attached = [](const OwnWindowCall& call, MPI_Win, void* base, MPI_Aint size) {
  return attach_memory(*call.window, base, size);
};

inline constexpr auto detached = [](const OwnWindowCall& call, MPI_Win, const void* base) {
  return detach_memory(*call.window, base);
};

/// As MPI-4.1 has it for windows that are not of MPI_Win_allocate_shared: only a rank's own memory is known.
/// MPI_PROC_NULL names the lowest rank that has some.
inline constexpr auto queried_as_shared = [](const OwnWindowCall& call, MPI_Win, int rank, MPI_Aint* size,
                                             auto* unit, void* base) -> int {
  Window& window = *call.window;
  if (window.dynamic() != nullptr) return window.raise(MPI_ERR_RMA_FLAVOR);
  if (rank != MPI_PROC_NULL && (rank < 0 || static_cast<std::size_t>(rank) >= window.size()))
    return window.raise(MPI_ERR_RANK);
  const WindowAttributes& own = window.attributes();
  const std::size_t asked =
      rank == MPI_PROC_NULL ? window.first_with_memory() : static_cast<std::size_t>(rank);
  const bool is_own = asked == window.rank();
  *size = is_own ? own.size : 0;
  *unit = static_cast<std::remove_pointer_t<decltype(unit)>>(window.member(asked)->unit());
  *static_cast<void**>(base) = is_own ? own.base : nullptr;
  return MPI_SUCCESS;
};

}  // namespace own_calls

PENSTOCK_OWN(Put, (own_calls::moved<Direction::put, const void*>))
PENSTOCK_OWN(Get, (own_calls::moved<Direction::get, void*>))
PENSTOCK_OWN(Rput, (own_calls::moved<Direction::put, const void*>))
PENSTOCK_OWN(Rget, (own_calls::moved<Direction::get, void*>))
PENSTOCK_OWN(Accumulate, own_calls::accumulated)
PENSTOCK_OWN(Raccumulate, own_calls::accumulated)
PENSTOCK_OWN(Get_accumulate, own_calls::fetched)
PENSTOCK_OWN(Rget_accumulate, own_calls::fetched)
PENSTOCK_OWN_ONE(Fetch_and_op, own_calls::fetched_one)
PENSTOCK_OWN_ONE(Compare_and_swap, own_calls::swapped)
PENSTOCK_OWN_ONE(Win_get_attr, own_calls::queried)
PENSTOCK_OWN_ONE(Win_attach, own_calls::attached)
PENSTOCK_OWN_ONE(Win_detach, own_calls::detached)
PENSTOCK_OWN(Win_shared_query, own_calls::queried_as_shared)

/// The synchronising calls, by the function that carries them out.
#define PENSTOCK_OWN_EPOCH(Name, parameters, expression) \
  PENSTOCK_OWN_ONE(Name, ([] parameters { return epochs::expression; }))
PENSTOCK_OWN_EPOCH(Win_fence, (const OwnWindowCall& call, int assertion, MPI_Win),
                   fence(*call.window, assertion))
PENSTOCK_OWN_EPOCH(Win_lock, (const OwnWindowCall& call, int kind, int rank, int assertion, MPI_Win),
                   lock(*call.window, kind, rank, assertion, call.scope))
PENSTOCK_OWN_EPOCH(Win_unlock, (const OwnWindowCall& call, int rank, MPI_Win), unlock(*call.window, rank))
PENSTOCK_OWN_EPOCH(Win_lock_all, (const OwnWindowCall& call, int assertion, MPI_Win),
                   lock_all(*call.window, assertion, call.scope))
PENSTOCK_OWN_EPOCH(Win_unlock_all, (const OwnWindowCall& call, MPI_Win), unlock_all(*call.window))
PENSTOCK_OWN_EPOCH(Win_flush, (const OwnWindowCall& call, int rank, MPI_Win),
                   flush(*call.window, call.name, rank))
PENSTOCK_OWN_EPOCH(Win_flush_local, (const OwnWindowCall& call, int rank, MPI_Win),
                   flush(*call.window, call.name, rank))
PENSTOCK_OWN_EPOCH(Win_flush_all, (const OwnWindowCall& call, MPI_Win), flush_all(*call.window, call.name))
PENSTOCK_OWN_EPOCH(Win_flush_local_all, (const OwnWindowCall& call, MPI_Win),
                   flush_all(*call.window, call.name))
PENSTOCK_OWN_EPOCH(Win_sync, (const OwnWindowCall& call, MPI_Win), sync(*call.window))
PENSTOCK_OWN_EPOCH(Win_post, (const OwnWindowCall& call, MPI_Group group, int, MPI_Win),
                   post(*call.window, group))
PENSTOCK_OWN_EPOCH(Win_start, (const OwnWindowCall& call, MPI_Group group, int, MPI_Win),
                   start(*call.window, group, call.scope))
PENSTOCK_OWN_EPOCH(Win_complete, (const OwnWindowCall& call, MPI_Win), complete(*call.window))
PENSTOCK_OWN_EPOCH(Win_wait, (const OwnWindowCall& call, MPI_Win), wait(*call.window, call.scope))
PENSTOCK_OWN_EPOCH(Win_test, (const OwnWindowCall& call, MPI_Win, int* flag), test(*call.window, flag))
PENSTOCK_OWN_ONE(Win_free,
                 [](const OwnWindowCall& call, MPI_Win* handle) { return free_window(call.window, handle); })

inline constexpr const char* members_elsewhere =
    "members of the window are on other nodes, or run without Penstock";

/// `by_library(base, size)` calls the MPI library with that memory.
template <typename Library>
int create_window(const char* mpi_call, Library by_library, void* base, MPI_Aint size, MPI_Aint unit,
                  MPI_Info info, MPI_Comm communicator, MPI_Win* handle) {
  const WindowArguments arguments{base, size, unit, info, communicator};
  const char* why_not = members_elsewhere;
  if (maker_of(arguments) == Maker::ours) {
    if (const std::optional<int> code = make_window(arguments, handle, why_not)) return *code;
  }
  if (size <= 0 || !is_out_of_reach(base)) return by_library(base, size);
  Status prepared;
  const auto window = prepare_public_copy(communicator, base, size, why_not, prepared);
  if (window == nullptr) {
    // the others wait in the call, and for this member to free the window, too, in which it has no bytes
    by_library(nullptr, 0);
    return raise_status(communicator, mpi_call, prepared);
  }
  const int code = by_library(window->memory.address(), size);
  if (code == MPI_SUCCESS) separate_windows().note(*handle, window);
  return code;
}

template <typename Library>
int allocate_window(Library by_library, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm communicator,
                    void* base, MPI_Win* handle) {
  const WindowArguments arguments{nullptr, size, unit, info, communicator};
  const char* why_not = members_elsewhere;
  void** const allocated = static_cast<void**>(base);
  if (maker_of_allocated(arguments) == Maker::ours) {
    if (const std::optional<int> code = allocate_window(arguments, allocated, handle, why_not)) return *code;
  }
  const int code = by_library();
  // an MPI library that knows GPUs may have given device memory itself
  if (code != MPI_SUCCESS || !asks_for_device_memory(arguments) || is_out_of_reach(*allocated)) return code;
  if (const auto window = allocate_private_copy(communicator, *handle, size, why_not)) {
    separate_windows().note(*handle, window);
    *allocated = window->memory.base();
  }
  return MPI_SUCCESS;
}

template <typename Library>
int create_dynamic_window(Library by_library, MPI_Info info, MPI_Comm communicator, MPI_Win* handle) {
  const WindowArguments arguments{MPI_BOTTOM, 0, 1, info, communicator};
  if (maker_of_dynamic(arguments) == Maker::ours) {
    if (const std::optional<int> code = make_dynamic_window(arguments, handle)) return *code;
  }
  return by_library();
}

/// On a window of the library's.
template <typename Library>
int attach_to_librarys(Library by_library, MPI_Win window, void* base, MPI_Aint size) {
  return size > 0 && is_out_of_reach(base)
             ? ErrorTarget::of_window(window).refuse_device_buffer("MPI_Win_attach")
             : by_library();
}

}  // namespace penstock::interpose
