// The calls that take no device buffers: one-sided, partitioned, persistent collectives, split collective
// I/O, and the buffer of buffered sends. Given one they raise MPI_ERR_BUFFER on what they are called on; with
// host buffers they are the MPI library's. Included by staged_calls.cpp only.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/staging/library_call.hpp"

namespace penstock::interpose {

/// Managed memory can be touched by the host, so the MPI library can do with it what it likes.
[[nodiscard]] inline bool is_out_of_reach(const void* buffer) noexcept {
  return lies_on_device(buffer) && transports::inspect(buffer).kind != transports::BufferKind::managed;
}

/// In MPICH all handles are ints: what an argument is, only its place among the arguments of the function
/// tells.
template <Function function, typename Arguments>
ErrorTarget error_target(const Arguments& arguments) noexcept {
  constexpr std::string_view name = name_of(function);
  constexpr std::size_t count = std::tuple_size_v<Arguments>;
  if constexpr (name.starts_with("MPI_File_")) {
    return ErrorTarget::of_file(std::get<0>(arguments));
  } else if constexpr (name == "MPI_Win_attach") {
    return ErrorTarget::of_window(std::get<0>(arguments));
  } else if constexpr (name.starts_with("MPI_Buffer_attach")) {
    return ErrorTarget::of(MPI_COMM_NULL);
  } else if constexpr (name.find("_init") != name.npos) {
    return ErrorTarget::of(std::get<count - 3>(arguments));  // …, communicator, info, request
  } else if constexpr (name.starts_with("MPI_Win_create")) {
    return ErrorTarget::of(std::get<count - 2>(arguments));  // …, communicator, window
  } else if constexpr (name.starts_with("MPI_R")) {
    return ErrorTarget::of_window(std::get<count - 2>(arguments));  // …, window, request
  } else {
    return ErrorTarget::of_window(std::get<count - 1>(arguments));
  }
}

/// Whether the function's buffers are each followed by a count and a datatype.
template <Function function>
constexpr bool has_described_buffers = [] {
  constexpr std::string_view name = name_of(function);
  for (const std::string_view other : {"Win_", "Buffer_", "Fetch_and_op", "Compare_and_swap", "v_init",
                                       "w_init", "Psend", "Precv", "_end", "reduce", "Reduce", "can_init"}) {
    if (name.find(other) != name.npos) return false;
  }
  return true;
}();

/// The argument at `index` is a buffer that the MPI library could not touch.
template <Function function, std::size_t index, typename Arguments>
bool is_device_buffer(const Arguments& arguments) {
  using Argument = std::tuple_element_t<index, Arguments>;
  if constexpr (std::is_same_v<Argument, const void*> || std::is_same_v<Argument, void*>) {
    const void* const buffer = std::get<index>(arguments);
    if constexpr (has_described_buffers<function>) {
      if (may_be_absolute(buffer)) {
        return touches_device(buffer, std::get<index + 1>(arguments), std::get<index + 2>(arguments));
      }
    }
    return is_out_of_reach(buffer);
  } else {
    return false;
  }
}

template <Function function>
inline constexpr auto refuse_device_buffers = [](const auto& call, auto... given) {
  const std::tuple arguments(given...);
  const bool refused = [&]<std::size_t... index>(std::index_sequence<index...>) {
    return (is_device_buffer<function, index>(arguments) || ...);
  }
  (std::index_sequence_for<decltype(given)...>());
  if (refused) return error_target<function>(arguments).refuse_device_buffer(call.name());
  return call.as_it_is(given...);
};

}  // namespace penstock::interpose
