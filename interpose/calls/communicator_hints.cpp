#include "interpose/calls/communicator_hints.hpp"

#include <array>
#include <string_view>

#include "interpose/calls/communicators.hpp"

namespace penstock::interpose {

std::optional<bool> vertex_set_hint(MPI_Info info) noexcept {
  if (info == MPI_INFO_NULL) return std::nullopt;
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int is_there = 0;
  if (PMPI_Info_get(info, vertex_set_key, MPI_MAX_INFO_VAL, value.data(), &is_there) != MPI_SUCCESS ||
      is_there == 0) {
    return std::nullopt;
  }
  const std::string_view given(value.data());
  if (given != "true" && given != "false") return std::nullopt;
  return given == "true";
}

void note_hints(MPI_Comm communicator, MPI_Info info) noexcept {
  const std::optional<bool> is_vertex_set = vertex_set_hint(info);
  if (!is_vertex_set) return;
  if (CommunicatorInfo* const known = peek_info(communicator))
    known->is_vertex_set.store(*is_vertex_set, std::memory_order_relaxed);
}

void add_hints(MPI_Comm communicator, MPI_Info info) noexcept {
  const CommunicatorInfo* const known = peek_info(communicator);
  if (known != nullptr && known->is_vertex_set.load(std::memory_order_relaxed))
    PMPI_Info_set(info, vertex_set_key, "true");
}

}  // namespace penstock::interpose
