#include "interpose/collectives/collective_arrival.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "interpose/calls/communicators.hpp"
#include "interpose/network/channel.hpp"
#include "interpose/node/arrival_places.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {
namespace {

/// This rank's note; made at the first collective. None: there is no room, and the others know.
std::optional<std::uint32_t> place_of(CommunicatorInfo& info, DirectoryRow& row) noexcept try {
  if (info.arrival_place == nullptr) info.arrival_place = std::make_shared<ArrivalPlace>(row, info.global_id);
  return info.arrival_place->get();
} catch (const std::bad_alloc&) {
  row.forgets_arrivals.store(true, std::memory_order_release);
  return std::nullopt;
}

/// A rank with more communicators than places does not say of all of them that it has come. And ranks may
/// count differently: one has called again what failed on it, or they know the communicator by different ids.
/// So no rank is waited for without limit; when it is over, everything that others need of this rank is ended
/// first.
void await_others(MPI_Comm communicator, CommunicatorInfo& info, std::uint32_t ordinal) try {
  const std::uint64_t timeout_ns = transports::tuning().receiver_timeout_us * 1000;
  const bool is_trusted = info.id_is_agreed && info.is_in_step.load(std::memory_order_relaxed);
  const std::uint64_t begin_ns = record::now_ns();
  bool is_in_step = true;
  Backoff backoff;
  for (const int member : members_of(communicator, info)) {
    const DirectoryRow* const row = member >= 0 ? node_directory().row_of(member) : nullptr;
    // on another node, and sent no envelopes; or this rank itself, which is here
    if (row == nullptr || row == node_directory().own_row()) continue;
    for (;;) {
      const Seen seen = look_for_arrival(*row, info.global_id, ordinal);
      if (seen == Seen::here) break;
      const bool is_late = seen == Seen::not_yet && is_trusted;
      const std::uint64_t limit_ns =
          (is_late ? policy::late_arrival_factor : policy::unknown_arrival_factor) * timeout_ns;
      if (record::now_ns() - begin_ns > limit_ns) {
        is_in_step = is_in_step && seen == Seen::unknown;
        settle();
        break;
      }
      progress();
      backoff.pause();
    }
  }
  info.is_in_step.store(is_in_step, std::memory_order_relaxed);
} catch (const std::bad_alloc&) {
  // nobody can be waited for
}

/// Other nodes see no notes. But all ranks run Penstock then, so a barrier that can be stepped comes before
/// each of these calls on all of them.
void meet_others(MPI_Comm communicator, CommunicatorInfo& info) {
  if (std::exchange(info.has_met, false)) return;
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Ibarrier(communicator, &request) == MPI_SUCCESS) wait_polling(&request, MPI_STATUS_IGNORE);
}

bool spans_nodes(MPI_Comm communicator, CommunicatorInfo& info) {
  if (!channel().is_open()) return false;
  if (info.span == Span::unknown)
    info.span = channel().spans(members_of(communicator, info)) ? Span::nodes : Span::node;
  return info.span == Span::nodes;
}

}  // namespace

void arrive(MPI_Comm communicator) {
  CommunicatorInfo* const info = peek_info(communicator);
  if (info == nullptr) return;
  if (spans_nodes(communicator, *info)) return meet_others(communicator, *info);
  DirectoryRow* const row = node_directory().own_row();
  if (row == nullptr) return;
  // collectives of one communicator never overlap, so nobody else counts at the same time
  const std::uint32_t ordinal = info->arrivals.load(std::memory_order_relaxed) + 1;
  info->arrivals.store(ordinal, std::memory_order_relaxed);
  if (const std::optional<std::uint32_t> place = place_of(*info, *row))
    note_arrival(*row, *place, info->global_id, ordinal);
  if (must_poll()) [[unlikely]]
    await_others(communicator, *info, ordinal);
}

void take_back_arrival(MPI_Comm communicator) noexcept {
  CommunicatorInfo* const info = peek_info(communicator);
  if (info == nullptr) return;
  if (spans_nodes(communicator, *info)) {
    info->has_met = true;
  } else {
    info->arrivals.fetch_sub(1, std::memory_order_relaxed);
  }
}

bool failed_alone(int code) noexcept {
  if (code == MPI_SUCCESS) return false;
  int error_class = MPI_SUCCESS;
  PMPI_Error_class(code, &error_class);
  constexpr std::array of_arguments = {MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_COMM,
                                       MPI_ERR_ROOT,   MPI_ERR_GROUP, MPI_ERR_OP,   MPI_ERR_TOPOLOGY,
                                       MPI_ERR_DIMS,   MPI_ERR_ARG};
  return std::ranges::find(of_arguments, error_class) != of_arguments.end();
}

}  // namespace penstock::interpose
