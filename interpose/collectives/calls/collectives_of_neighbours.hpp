// The neighbourhood collectives, and what they read and write. A neighbour may be MPI_PROC_NULL (the edge of
// a Cartesian grid that is not periodic), whose block stays as it is; therefore the receive buffer is read
// before it is written. Only the files that wrap these functions include this one.
#pragma once

#include <algorithm>
#include <utility>

#include "interpose/collectives/calls/collective_call.hpp"
#include "interpose/collectives/schedules/collective_blocks.hpp"
#include "interpose/collectives/schedules/neighbourhood.hpp"
#include "interpose/node/gpu_in_sight.hpp"

namespace penstock::interpose {

/// `send_blocks(n)` and `receive_blocks(n)` return the Blocks for n neighbours.
template <typename Call, typename SendBlocks, typename ReceiveBlocks, typename... Request>
CallOutcome exchange_by_messages(const Call& call, MPI_Comm communicator, Sent kind, const void* send,
                                 SendBlocks send_blocks, void* receive, ReceiveBlocks receive_blocks,
                                 Request... request) {
  const Ranks ranks(communicator);
  CollectiveBuffers buffers;
  Neighbourhood neighbours;
  if (is_gpu_in_sight()) neighbours = Neighbourhood::of(communicator, ranks.rank);
  const auto sent = send_blocks(static_cast<int>(neighbours.destinations().size()));
  const auto received = receive_blocks(static_cast<int>(neighbours.sources().size()));
  if (!neighbours.suits(kind, is_nonblocking_form<Request...>) || send == MPI_IN_PLACE || !ranks.is_intra()) {
    buffers.leave_to_library();
  } else if (!neighbours.are_none()) {
    buffers.add(send, sent);
    buffers.add(receive, received);
    buffers.weigh(std::max(sent.count(), received.count()),
                  [&] { return std::max(sent.bytes(), received.bytes()); });
  }
  const auto post = [&](auto& run) {
    neighbours.for_kept([&](int destination, int source) {
      run.keep(send, sent.at(destination), receive, received.at(source), ranks.rank);
    });
    neighbours.for_sources([&](int source, const Neighbour& from) {
      run.receive(receive, received.at(source), from.rank, from.way);
    });
    neighbours.for_destinations(
        [&](int destination, const Neighbour& to) { run.send(send, sent.at(destination), to.rank, to.way); });
  };
  return call.by_messages(communicator, buffers, post, request...);
}

/// What all five do. `sent(n)` and `received(n)` return the Blocks for n neighbours, and `pack_sent(blocks)`
/// and `pack_received(blocks)` what these are packed by; `run(outcome, staged, send, receive)` calls the MPI
/// library with what it is handed in the place of the user's buffers.
template <typename Call, typename SentBlocks, typename PackSent, typename ReceivedBlocks,
          typename PackReceived, typename Run, typename... Request>
int exchange_with_neighbours(const Call& call, MPI_Comm communicator, Sent kind, const void* send,
                             SentBlocks sent, PackSent pack_sent, void* receive, ReceivedBlocks received,
                             PackReceived pack_received, Run run, Request... request) {
  // all are asked only when the call is recorded, or a buffer lies on a device
  const auto all_sent = [&] {
    return sent(kind == Sent::same_block ? 1 : count_neighbours(communicator).destinations);
  };
  const auto all_received = [&] { return received(count_neighbours(communicator).sources); };
  const auto sent_bytes = [&] { return all_sent().all(); };
  const auto received_bytes = [&] { return all_received().all(); };
  StagedCall staged = call.begin(communicator, no_root, [&] {
    return static_cast<std::uint64_t>(sent_bytes().layout().bytes() + received_bytes().layout().bytes());
  });
  CallOutcome outcome =
      exchange_by_messages(call, communicator, kind, send, sent, receive, received, request...);
  if (outcome.code) return *outcome.code;
  if (outcome.deferred != nullptr) outcome.uses(all_sent(), all_received());
  staged.read(send, sent_bytes, [&](PackedArgument& packed) { pack_sent(all_sent())(packed); });
  staged.use(receive, received_bytes, received_bytes,
             [&](PackedArgument& packed) { pack_received(all_received())(packed); });
  return run(std::move(outcome), std::move(staged), send, receive);
}

/// The same block for each.
[[nodiscard]] inline auto same_block(int times, MPI_Count count, MPI_Datatype datatype) noexcept {
  return Blocks(times, [=](int) { return BlockPlace{count, datatype, 0}; });
}

inline constexpr auto neighbor_allgather = [](const auto& call, const void* send, auto send_count,
                                              MPI_Datatype send_type, void* receive, auto receive_count,
                                              MPI_Datatype receive_type, MPI_Comm communicator,
                                              auto... request) {
  const auto sent = [&](int neighbours) { return same_block(neighbours, send_count, send_type); };
  const auto received = [&](int neighbours) { return equal_blocks(neighbours, receive_count, receive_type); };
  const auto pack_sent = [&](const auto& blocks) { return packed_equal(blocks, send_type); };
  const auto pack_received = [&](const auto& blocks) { return packed_equal(blocks, receive_type); };
  const auto run = [&](CallOutcome outcome, StagedCall staged, const void* sending, void* receiving) {
    return call.run(std::move(outcome), std::move(staged), communicator, sending, send_count, send_type,
                    receiving, receive_count, receive_type, communicator, request...);
  };
  return exchange_with_neighbours(call, communicator, Sent::same_block, send, sent, pack_sent, receive,
                                  received, pack_received, run, request...);
};

inline constexpr auto neighbor_allgatherv = [](const auto& call, const void* send, auto send_count,
                                               MPI_Datatype send_type, void* receive, const auto* counts,
                                               const auto* displacements, MPI_Datatype receive_type,
                                               MPI_Comm communicator, auto... request) {
  const auto sent = [&](int neighbours) { return same_block(neighbours, send_count, send_type); };
  const auto received = [&](int neighbours) {
    return placed_blocks(neighbours, counts, displacements, receive_type);
  };
  const auto pack_sent = [&](const auto& blocks) { return packed_equal(blocks, send_type); };
  const auto pack_received = [&](const auto& blocks) {
    return packed_placed(blocks, displacements, receive_type);
  };
  const auto run = [&](CallOutcome outcome, StagedCall staged, const void* sending, void* receiving) {
    return call.run(std::move(outcome), std::move(staged), communicator, sending, send_count, send_type,
                    receiving, counts, displacements, receive_type, communicator, request...);
  };
  return exchange_with_neighbours(call, communicator, Sent::same_block, send, sent, pack_sent, receive,
                                  received, pack_received, run, request...);
};

inline constexpr auto neighbor_alltoall = [](const auto& call, const void* send, auto send_count,
                                             MPI_Datatype send_type, void* receive, auto receive_count,
                                             MPI_Datatype receive_type, MPI_Comm communicator,
                                             auto... request) {
  const auto sent = [&](int neighbours) { return equal_blocks(neighbours, send_count, send_type); };
  const auto received = [&](int neighbours) { return equal_blocks(neighbours, receive_count, receive_type); };
  const auto pack_sent = [&](const auto& blocks) { return packed_equal(blocks, send_type); };
  const auto pack_received = [&](const auto& blocks) { return packed_equal(blocks, receive_type); };
  const auto run = [&](CallOutcome outcome, StagedCall staged, const void* sending, void* receiving) {
    return call.run(std::move(outcome), std::move(staged), communicator, sending, send_count, send_type,
                    receiving, receive_count, receive_type, communicator, request...);
  };
  return exchange_with_neighbours(call, communicator, Sent::equal_blocks, send, sent, pack_sent, receive,
                                  received, pack_received, run, request...);
};

inline constexpr auto neighbor_alltoallv = [](const auto& call, const void* send, const auto* send_counts,
                                              const auto* send_places, MPI_Datatype send_type, void* receive,
                                              const auto* counts, const auto* places,
                                              MPI_Datatype receive_type, MPI_Comm communicator,
                                              auto... request) {
  const auto sent = [&](int neighbours) {
    return placed_blocks(neighbours, send_counts, send_places, send_type);
  };
  const auto received = [&](int neighbours) {
    return placed_blocks(neighbours, counts, places, receive_type);
  };
  const auto pack_sent = [&](const auto& blocks) { return packed_placed(blocks, send_places, send_type); };
  const auto pack_received = [&](const auto& blocks) { return packed_placed(blocks, places, receive_type); };
  const auto run = [&](CallOutcome outcome, StagedCall staged, const void* sending, void* receiving) {
    return call.run(std::move(outcome), std::move(staged), communicator, sending, send_counts, send_places,
                    send_type, receiving, counts, places, receive_type, communicator, request...);
  };
  return exchange_with_neighbours(call, communicator, Sent::own_blocks, send, sent, pack_sent, receive,
                                  received, pack_received, run, request...);
};

inline constexpr auto neighbor_alltoallw = [](const auto& call, const void* send, const auto* send_counts,
                                              const MPI_Aint* send_places, const MPI_Datatype* send_types,
                                              void* receive, const auto* counts, const MPI_Aint* places,
                                              const MPI_Datatype* receive_types, MPI_Comm communicator,
                                              auto... request) {
  const auto sent = [&](int neighbours) {
    return individual_blocks(neighbours, send_counts, send_places, send_types);
  };
  const auto received = [&](int neighbours) {
    return individual_blocks(neighbours, counts, places, receive_types);
  };
  const auto pack_sent = [&](const auto& blocks) {
    return packed_individual(blocks, send_places, send_types);
  };
  const auto pack_received = [&](const auto& blocks) {
    return packed_individual(blocks, places, receive_types);
  };
  const auto run = [&](CallOutcome outcome, StagedCall staged, const void* sending, void* receiving) {
    if (outcome.deferred != nullptr) {
      const NeighbourCounts neighbours = count_neighbours(communicator);
      outcome.keep(send_types, neighbours.destinations);
      outcome.keep(receive_types, neighbours.sources);
    }
    return call.run(std::move(outcome), std::move(staged), communicator, sending, send_counts, send_places,
                    send_types, receiving, counts, places, receive_types, communicator, request...);
  };
  return exchange_with_neighbours(call, communicator, Sent::own_blocks, send, sent, pack_sent, receive,
                                  received, pack_received, run, request...);
};

}  // namespace penstock::interpose
