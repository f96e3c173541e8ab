// Device buffers in one-sided calls on windows of the MPI library: the library gets stand-ins in host memory,
// which are kept until the call that completes the operation; what the library wrote is copied back then.
// Knows no window of ours.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "interpose/binding/function_names.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/staging/out_of_reach.hpp"
#include "interpose/staging/staged_call.hpp"

namespace penstock::interpose {

/// Keeps the stand-ins until end_staged_accesses(). `request`: null, or that of the operation, which
/// completes it too. Errors: std::bad_alloc.
void keep_staged_access(MPI_Win window, int target, StagedCall call, MPI_Request* request);

class StagedAccess;
using StagedAccessList = std::vector<std::shared_ptr<StagedAccess>>;

/// Returns what has stand-ins and has begun on a target (none: on all). Cost, if there are none: a load.
/// Errors: std::bad_alloc.
[[nodiscard]] StagedAccessList staged_accesses_of(MPI_Win window, std::optional<int> target);

/// Called after the MPI library has completed these operations. Copies back what it wrote. Returns the code
/// of the call, after raising an error on `errors`.
int end_staged_accesses(const char* mpi_call, const StagedAccessList& completed, const ErrorTarget& errors);

/// Returns whether some operation on a window of the library's has stand-ins. Cost: a load.
[[nodiscard]] bool has_staged_accesses() noexcept;

/// Which arguments of a one-sided call are buffers.
enum class WindowBuffers : std::uint8_t { none, read, written, read_and_result, fetched_one, swapped };

constexpr WindowBuffers window_buffers_of(Function function) noexcept {
  const std::string_view name = name_without_c(function);
  const auto is_one_of = [name](auto... names) { return ((name == names) || ...); };
  if (is_one_of("MPI_Put", "MPI_Rput", "MPI_Accumulate", "MPI_Raccumulate")) return WindowBuffers::read;
  if (is_one_of("MPI_Get", "MPI_Rget")) return WindowBuffers::written;
  if (is_one_of("MPI_Get_accumulate", "MPI_Rget_accumulate")) return WindowBuffers::read_and_result;
  if (name == "MPI_Fetch_and_op") return WindowBuffers::fetched_one;
  return name == "MPI_Compare_and_swap" ? WindowBuffers::swapped : WindowBuffers::none;
}

/// Calls `visit(buffer, count, datatype, is written)` for each buffer of a call. The number of the argument
/// that names the target follows.
template <WindowBuffers buffers, typename Arguments, typename Visit>
void for_each_window_buffer(Arguments& all, Visit visit) {
  using enum WindowBuffers;
  if constexpr (buffers == read || buffers == written || buffers == read_and_result)
    visit(std::get<0>(all), std::get<1>(all), std::get<2>(all), buffers == written);
  if constexpr (buffers == read_and_result) visit(std::get<3>(all), std::get<4>(all), std::get<5>(all), true);
  if constexpr (buffers == fetched_one) {
    visit(std::get<0>(all), 1, std::get<2>(all), false);
    visit(std::get<1>(all), 1, std::get<2>(all), true);
  }
  if constexpr (buffers == swapped) {
    visit(std::get<0>(all), 1, std::get<3>(all), false);
    visit(std::get<1>(all), 1, std::get<3>(all), false);
    visit(std::get<2>(all), 1, std::get<3>(all), true);
  }
}
template <WindowBuffers buffers>
inline constexpr std::size_t place_of_target = buffers == WindowBuffers::read_and_result ? 6
                                               : buffers == WindowBuffers::swapped       ? 4
                                                                                         : 3;

/// Carries out a one-sided call on a window of the library's. Errors: UnreadableDatatype, std::bad_alloc.
template <Function function, typename Library, typename... Arguments>
int access_by_library(CallScope& scope, MPI_Win window, Library library, Arguments... arguments) {
  constexpr WindowBuffers buffers = window_buffers_of(function);
  std::tuple<Arguments...> all(arguments...);
  if (std::get<place_of_target<buffers>>(all) == MPI_PROC_NULL) return library(arguments...);
  bool is_staged = false;
  for_each_window_buffer<buffers>(all, [&](const void* buffer, MPI_Count count, MPI_Datatype datatype, bool) {
    is_staged = is_staged || (count > 0 && is_out_of_reach(buffer, count, datatype));
  });
  if (!is_staged) return library(arguments...);
  const ErrorTarget errors = ErrorTarget::of_window(window);
  StagedCall staged(scope, name_of(function), errors);
  for_each_window_buffer<buffers>(
      all, [&](auto& buffer, MPI_Count count, MPI_Datatype datatype, bool is_written) {
        const auto region = [&] { return ByteRange(count, datatype); };
        // the target may send less than there is room for
        is_written ? staged.use(buffer, region, region) : staged.read(buffer, region);
      });
  if (const Status fetched = staged.fetch(); !fetched.ok()) return staged.raise(fetched);
  const int code = std::apply(library, all);
  if (code != MPI_SUCCESS) return code;
  MPI_Request* request = nullptr;
  if constexpr (std::is_same_v<std::tuple_element_t<sizeof...(Arguments) - 1, std::tuple<Arguments...>>,
                               MPI_Request*>)
    request = std::get<sizeof...(Arguments) - 1>(all);
  keep_staged_access(window, std::get<place_of_target<buffers>>(all), std::move(staged), request);
  return code;
}

/// Calls the library, which completes at the origin what has stand-ins: they are freed then. MPICH 4.0.2's
/// MPI_Win_flush_local returns before some gets have arrived, which then arrive in freed memory.
template <Function function, typename Library, typename... Arguments>
int call_completing(MPI_Win window, Library library, [[maybe_unused]] const Arguments&... arguments) {
  constexpr std::string_view name = name_of(function);
  if constexpr (name == "MPI_Win_flush_local") {
    if (has_staged_accesses()) return PMPI_Win_flush(std::get<0>(std::tie(arguments...)), window);
  } else if constexpr (name == "MPI_Win_flush_local_all") {
    if (has_staged_accesses()) return PMPI_Win_flush_all(window);
  }
  return library();
}

/// Calls the library, and ends what a synchronising call completes.
template <Function function, typename Library, typename... Arguments>
int synchronise_by_library(MPI_Win window, Library library, const Arguments&... arguments) {
  constexpr std::string_view name = name_of(function);
  constexpr bool has_target =
      name == "MPI_Win_unlock" || name == "MPI_Win_flush" || name == "MPI_Win_flush_local";
  constexpr bool completes = has_target || name == "MPI_Win_fence" || name == "MPI_Win_complete" ||
                             name == "MPI_Win_unlock_all" || name == "MPI_Win_flush_all" ||
                             name == "MPI_Win_flush_local_all" || name == "MPI_Win_free";
  // another thread may begin others meanwhile, which this call need not complete
  StagedAccessList begun;
  if constexpr (has_target) {
    begun = staged_accesses_of(window, std::get<0>(std::tie(arguments...)));
  } else if constexpr (completes) {
    begun = staged_accesses_of(window, {});
  }
  const int code = call_completing<function>(window, library, arguments...);
  if (code != MPI_SUCCESS || begun.empty()) return code;
  // a freed window has no handler any more
  const ErrorTarget errors =
      name == "MPI_Win_free" ? ErrorTarget::of(MPI_COMM_NULL) : ErrorTarget::of_window(window);
  return end_staged_accesses(name_of(function), begun, errors);
}

}  // namespace penstock::interpose
