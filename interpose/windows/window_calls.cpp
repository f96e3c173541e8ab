// Wraps the one-sided calls: those on windows of ours are carried out here, those on the MPI library's own
// are passed on, with stand-ins for device buffers. Generated from the table.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "interpose/binding/function_names.hpp"
#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/calls/window_record.hpp"
#include "interpose/progress/gathering.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/windows/own_windows.hpp"
#include "interpose/windows/separate/separate_windows.hpp"
#include "interpose/windows/staged_accesses.hpp"
#include "interpose/windows/window_calls.hpp"

namespace penstock::interpose {
namespace {

template <Function function>
constexpr bool is_named(const char* name) {
  return name_without_c(function) == name;
}

/// By name, as a handle may be an int like other arguments.
template <Function function>
constexpr bool names_window_first = function == Function::Win_get_attr || function == Function::Win_test ||
                                    function == Function::Win_attach || function == Function::Win_detach ||
                                    is_named<function>("MPI_Win_shared_query");

/// The report looks for these where another member has waited.
template <Function function>
constexpr bool lets_others_go_on = function == Function::Win_post || function == Function::Win_complete ||
                                   function == Function::Win_unlock || function == Function::Win_unlock_all;

/// Returns the window: the last argument, or the one before a request, or the first.
template <Function function, typename... Arguments>
MPI_Win window_among(const Arguments&... arguments) {
  const auto all = std::tie(arguments...);
  if constexpr (function == Function::Win_free) {
    return *std::get<0>(all);
  } else if constexpr (names_window_first<function>) {
    return std::get<0>(all);
  } else if constexpr (std::is_same_v<
                           std::tuple_element_t<sizeof...(Arguments) - 1, std::tuple<Arguments...>>,
                           MPI_Request*>) {
    return std::get<sizeof...(Arguments) - 2>(all);
  } else {
    return std::get<sizeof...(Arguments) - 1>(all);
  }
}

/// Records a call that makes a window, which `make()` does.
template <Function function, typename Make, typename... Arguments>
int make_recorded(CallScope& scope, Make make, const Arguments&... arguments) {
  if (!scope.recording()) return make();
  constexpr std::size_t last = sizeof...(Arguments) - 1;
  // the communicator precedes the window, and allocated memory too
  constexpr std::size_t back = std::string_view(name_of(function)).starts_with("MPI_Win_allocate") ? 2 : 1;
  const auto all = std::tie(arguments...);
  const MPI_Comm communicator = std::get<last - back>(all);
  scope.collective(communicator, -1, 0);
  const int code = make();
  if (code == MPI_SUCCESS) number_window(scope, communicator, *std::get<last>(all));
  return code;
}

/// Records what a call is on a window.
template <Function function, typename... Arguments>
void record_call(CallScope& scope, MPI_Win window, const Arguments&... arguments) noexcept {
  if (!scope.recording()) return;
  if constexpr (function == Function::Win_fence || function == Function::Win_free) {
    record_meeting(scope, window);
    // another thread may get the handle once it is free
    if constexpr (function == Function::Win_free) forget_window_number(window);
  } else if constexpr (lets_others_go_on<function>) {
    record_window(scope, window);
  } else if constexpr (constexpr WindowBuffers buffers = window_buffers_of(function);
                       buffers != WindowBuffers::none) {
    auto all = std::tuple(arguments...);
    std::uint64_t bytes = 0;
    for_each_window_buffer<buffers>(all, [&](const void*, MPI_Count count, MPI_Datatype datatype, bool) {
      bytes = std::max(bytes, payload_bytes(count, datatype));
    });
    record_access(scope, window, static_cast<int>(std::get<place_of_target<buffers>>(all)), bytes);
  }
}

template <Function function, typename Library, typename... Arguments>
int carry_out_on_window([[maybe_unused]] CallScope& scope, Library library, Arguments... arguments) {
  const auto by_library = [&] { return library(arguments...); };
  const auto among_all = [&] { return among_others<function>(by_library, arguments...); };
  if constexpr (is_named<function>("MPI_Win_create")) {
    const auto over_memory = [&](void* base, MPI_Aint size) {
      auto given = std::tuple(arguments...);
      std::get<0>(given) = base;
      std::get<1>(given) = size;
      return among_others<function>([&] { return std::apply(library, given); }, arguments...);
    };
    return make_recorded<function>(
        scope, [&] { return create_window(name_of(function), over_memory, arguments...); }, arguments...);
  } else if constexpr (is_named<function>("MPI_Win_allocate")) {
    return make_recorded<function>(
        scope, [&] { return allocate_window(among_all, arguments...); }, arguments...);
  } else if constexpr (is_named<function>("MPI_Win_allocate_shared")) {
    return make_recorded<function>(scope, among_all, arguments...);
  } else if constexpr (is_named<function>("MPI_Win_create_dynamic")) {
    return make_recorded<function>(
        scope, [&] { return create_dynamic_window(among_all, arguments...); }, arguments...);
  } else {
    const MPI_Win handle = window_among<function>(arguments...);
    record_call<function>(scope, handle, arguments...);
    if (const std::shared_ptr<Window> window = own_windows().find(handle))
      return own_window_call<function>(OwnWindowCall{window, name_of(function), scope}, arguments...);
    if constexpr (function == Function::Win_attach) {
      return attach_to_librarys(by_library, arguments...);
    } else if constexpr (window_buffers_of(function) != WindowBuffers::none) {
      return access_by_library<function>(scope, handle, library, arguments...);
    } else if constexpr (function == Function::Win_get_attr) {
      return query_librarys_window(by_library, arguments...);
    } else if constexpr (function == Function::Win_test) {
      const int code = synchronise_copies<function>(handle, by_library, arguments...);
      progress();  // a program that polls makes progress, whatever it polls for
      return code;
    } else {
      const auto synchronise = [&] {
        return synchronise_by_library<function>(handle, among_all, arguments...);
      };
      return synchronise_copies<function>(handle, synchronise, arguments...);
    }
  }
}

}  // namespace
}  // namespace penstock::interpose

#define PENSTOCK_WINDOW_ARGUMENTS(...) __VA_ARGS__
#define PENSTOCK_EXPAND_window_calls(name, result, parameters, arguments)                                 \
  PENSTOCK_EXPORT result MPI_##name parameters try {                                                      \
    using namespace penstock::interpose;                                                                  \
    CallScope scope(Function::name, __builtin_return_address(0));                                         \
    if (scope.stands_aside()) return PMPI_##name arguments;                                               \
    return carry_out_on_window<Function::name>(                                                           \
        scope, [](auto... given) { return PMPI_##name(given...); }, PENSTOCK_WINDOW_ARGUMENTS arguments); \
  }                                                                                                       \
  PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)
#include "interpose/binding/rows_of_owners.def"
