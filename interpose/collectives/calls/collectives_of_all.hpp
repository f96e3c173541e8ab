// The collectives without a root, and what they read and write: Barrier, Allgather(v), Alltoall(v, w). Only
// collectives.cpp and persistent_collectives.cpp include this file.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "interpose/collectives/calls/collective_call.hpp"
#include "interpose/collectives/calls/one_shot_blocks.hpp"
#include "interpose/collectives/schedules/collective_blocks.hpp"
#include "interpose/collectives/schedules/rounds_over_nodes.hpp"
#include "interpose/collectives/schedules/swap_schedule.hpp"
#include "interpose/node/settings.hpp"
#include "transports/machine.hpp"

namespace penstock::interpose {

/// Prepares the kernels, too: after a barrier, programs often begin what they will repeat.
inline constexpr auto barrier = [](const auto& call, MPI_Comm communicator, auto... request) {
  if (settings().move) transports::prepare_kernels();
  return call.run({}, call.begin(communicator, no_root, [] { return std::uint64_t{0}; }), communicator,
                  communicator, request...);
};

/// With MPI_IN_PLACE this rank's contribution is its own block of the receive buffer.
template <typename ReceiveBlocks, typename Pack>
void stage_allgather(StagedCall& staged, const Ranks& ranks, const void*& send, MPI_Count send_count,
                     MPI_Datatype& send_type, void*& receive, const ReceiveBlocks& blocks, Pack pack) {
  const bool in_place = send == MPI_IN_PLACE;
  staged.read(
      send, [&] { return ByteRange(send_count, send_type); }, packed_elements(send_count, send_type));
  staged.use(
      receive, [&] { return in_place ? blocks.one(ranks.rank) : ByteRange(); }, [&] { return blocks.all(); },
      pack);
}

template <typename Call, typename OwnBlock, typename ReceiveBlocks, typename... Request>
CallOutcome allgather_by_messages(const Call& call, const Ranks& ranks, const void* send,
                                  const OwnBlock& block, void* receive, const ReceiveBlocks& blocks,
                                  const KnownSizes& sizes, MPI_Comm communicator, Request... request) {
  CollectiveBuffers buffers;
  if (!ranks.is_intra()) buffers.leave_to_library();
  buffers.add(send, block);
  buffers.add(receive, blocks);
  offer_kernel_for_blocks(
      buffers, communicator, sizes,
      [&] {
        return send == MPI_IN_PLACE ? same_for_all(receive, blocks.at(ranks.rank))
                                    : same_for_all(send, block.at(0));
      },
      [&] { return in_row(receive, blocks); });
  buffers.weigh(ranks.peers, [&] { return blocks.bytes(); });
  const auto post = [&](auto& run) {
    const bool in_place = send == MPI_IN_PLACE;
    const void* const own = in_place ? receive : send;
    const BlockPlace own_block = in_place ? blocks.at(ranks.rank) : block.at(0);
    if (!in_place) run.keep(own, own_block, receive, blocks.at(ranks.rank), ranks.rank);
    ranks.for_others([&](int other) { run.receive(receive, blocks.at(other), other); });
    ranks.for_others([&](int other) { run.send(own, own_block, other); });
  };
  const NodeMap* const map = is_blocking_form<Request...> ? node_map_of(communicator) : nullptr;
  if (map == nullptr) return call.by_messages(communicator, buffers, post, request...);
  const auto over_nodes = [&] {
    const bool in_place = send == MPI_IN_PLACE;
    GatheredBlocks gathered{
        in_place, in_place ? receive : send, in_place ? blocks.at(ranks.rank) : block.at(0), receive, {}};
    for (int rank = 0; rank < ranks.peers; ++rank) gathered.blocks.push_back(blocks.at(rank));
    return allgather_over_nodes(*map, ranks.rank, gathered);
  };
  return call.by_schedule(communicator, buffers, over_nodes, request...);
}

template <typename ReceiveBlocks>
std::uint64_t allgather_payload(const void* send, MPI_Count send_count, MPI_Datatype send_type,
                                const ReceiveBlocks& blocks) noexcept {
  return (send == MPI_IN_PLACE ? 0 : payload_bytes(send_count, send_type)) + blocks.bytes();
}

inline constexpr auto allgather = [](const auto& call, const void* send, auto send_count,
                                     MPI_Datatype send_type, void* receive, auto receive_count,
                                     MPI_Datatype receive_type, MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const auto blocks = equal_blocks(ranks.peers, receive_count, receive_type);
  StagedCall staged = call.begin(communicator, no_root,
                                 [&] { return allgather_payload(send, send_count, send_type, blocks); });
  CallOutcome outcome =
      allgather_by_messages(call, ranks, send, one_block(send_count, send_type), receive, blocks,
                            equal_sizes(receive_count, receive_type), communicator, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(send_type, receive_type);
  stage_allgather(staged, ranks, send, send_count, send_type, receive, blocks,
                  packed_equal(blocks, receive_type));
  return call.run(std::move(outcome), std::move(staged), communicator, send, send_count, send_type, receive,
                  receive_count, receive_type, communicator, request...);
};

inline constexpr auto allgatherv = [](const auto& call, const void* send, auto send_count,
                                      MPI_Datatype send_type, void* receive, const auto* counts,
                                      const auto* displacements, MPI_Datatype receive_type,
                                      MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const auto blocks = placed_blocks(ranks.peers, counts, displacements, receive_type);
  StagedCall staged = call.begin(communicator, no_root,
                                 [&] { return allgather_payload(send, send_count, send_type, blocks); });
  CallOutcome outcome = allgather_by_messages(call, ranks, send, one_block(send_count, send_type), receive,
                                              blocks, KnownSizes{}, communicator, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(send_type, receive_type);
  // MPICH (4.0) cuts large ones by the extent of the datatype, which ranks may so have to have in common
  stage_allgather(staged, ranks, send, send_count, send_type, receive, blocks,
                  packed_placed(blocks, displacements, receive_type, Spacing::as_extent));
  return call.run(std::move(outcome), std::move(staged), communicator, send, send_count, send_type, receive,
                  counts, displacements, receive_type, communicator, request...);
};

/// With MPI_IN_PLACE every block of the receive buffer is sent and then replaced.
template <typename SendBlocks, typename PackSent, typename ReceiveBlocks, typename PackReceived>
void stage_alltoall(StagedCall& staged, const void*& send, const SendBlocks& send_blocks, PackSent pack_sent,
                    void*& receive, const ReceiveBlocks& receive_blocks, PackReceived pack_received) {
  const bool in_place = send == MPI_IN_PLACE;
  staged.read(
      send, [&] { return send_blocks.all(); }, pack_sent);
  staged.use(
      receive, [&] { return in_place ? receive_blocks.all() : ByteRange(); },
      [&] { return receive_blocks.all(); }, pack_received);
}

/// In place each block that arrives overwrites one that is to be sent.
template <typename Call, typename ReceiveBlocks, typename... Request>
CallOutcome alltoall_in_place(const Call& call, const Ranks& ranks, void* receive,
                              const ReceiveBlocks& blocks, MPI_Comm communicator, Request... request) {
  CollectiveBuffers buffers;
  if (!ranks.is_intra()) buffers.leave_to_library();
  buffers.add(receive, blocks);
  buffers.weigh(ranks.peers, [&] { return blocks.bytes(); });
  std::optional<SwapSchedule> swaps;
  if (buffers.vote() == Vote::messages) {
    std::vector<BlockPlace> all;
    for (int rank = 0; rank < ranks.peers; ++rank) all.push_back(blocks.at(rank));
    swaps = SwapSchedule::make(receive, std::move(all), ranks.rank);
  }
  if (!swaps) buffers.leave_to_library();
  return call.by_schedule(
      communicator, buffers, [&] { return *std::move(swaps); }, request...);
}

template <typename Call, typename SendBlocks, typename ReceiveBlocks, typename... Request>
CallOutcome alltoall_by_messages(const Call& call, const Ranks& ranks, const void* send,
                                 const SendBlocks& send_blocks, void* receive,
                                 const ReceiveBlocks& receive_blocks, const KnownSizes& sizes,
                                 MPI_Comm communicator, Request... request) {
  if (send == MPI_IN_PLACE)
    return alltoall_in_place(call, ranks, receive, receive_blocks, communicator, request...);
  CollectiveBuffers buffers;
  if (!ranks.is_intra()) buffers.leave_to_library();
  buffers.add(send, send_blocks);
  buffers.add(receive, receive_blocks);
  offer_kernel_for_blocks(
      buffers, communicator, sizes, [&] { return in_row(send, send_blocks); },
      [&] { return in_row(receive, receive_blocks); });
  buffers.weigh(ranks.peers, [&] { return receive_blocks.bytes(); });
  const auto post = [&](auto& run) {
    run.keep(send, send_blocks.at(ranks.rank), receive, receive_blocks.at(ranks.rank), ranks.rank);
    ranks.for_others([&](int other) { run.receive(receive, receive_blocks.at(other), other); });
    ranks.for_others([&](int other) { run.send(send, send_blocks.at(other), other); });
  };
  return call.by_messages(communicator, buffers, post, request...);
}

template <typename SendBlocks, typename ReceiveBlocks>
std::uint64_t alltoall_payload(const void* send, const SendBlocks& send_blocks,
                               const ReceiveBlocks& receive_blocks) noexcept {
  return (send == MPI_IN_PLACE ? 0 : send_blocks.bytes()) + receive_blocks.bytes();
}

inline constexpr auto alltoall = [](const auto& call, const void* send, auto send_count,
                                    MPI_Datatype send_type, void* receive, auto receive_count,
                                    MPI_Datatype receive_type, MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const auto send_blocks = equal_blocks(ranks.peers, send_count, send_type);
  const auto receive_blocks = equal_blocks(ranks.peers, receive_count, receive_type);
  StagedCall staged =
      call.begin(communicator, no_root, [&] { return alltoall_payload(send, send_blocks, receive_blocks); });
  CallOutcome outcome =
      alltoall_by_messages(call, ranks, send, send_blocks, receive, receive_blocks,
                           equal_sizes(receive_count, receive_type), communicator, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(send_type, receive_type);
  stage_alltoall(staged, send, send_blocks, packed_equal(send_blocks, send_type), receive, receive_blocks,
                 packed_equal(receive_blocks, receive_type));
  return call.run(std::move(outcome), std::move(staged), communicator, send, send_count, send_type, receive,
                  receive_count, receive_type, communicator, request...);
};

inline constexpr auto alltoallv = [](const auto& call, const void* send, const auto* send_counts,
                                     const auto* send_displacements, MPI_Datatype send_type, void* receive,
                                     const auto* receive_counts, const auto* receive_displacements,
                                     MPI_Datatype receive_type, MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const auto send_blocks = placed_blocks(ranks.peers, send_counts, send_displacements, send_type);
  const auto receive_blocks = placed_blocks(ranks.peers, receive_counts, receive_displacements, receive_type);
  StagedCall staged =
      call.begin(communicator, no_root, [&] { return alltoall_payload(send, send_blocks, receive_blocks); });
  CallOutcome outcome = alltoall_by_messages(call, ranks, send, send_blocks, receive, receive_blocks,
                                             KnownSizes{}, communicator, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(send_type, receive_type);
  stage_alltoall(staged, send, send_blocks, packed_placed(send_blocks, send_displacements, send_type),
                 receive, receive_blocks, packed_placed(receive_blocks, receive_displacements, receive_type));
  return call.run(std::move(outcome), std::move(staged), communicator, send, send_counts, send_displacements,
                  send_type, receive, receive_counts, receive_displacements, receive_type, communicator,
                  request...);
};

inline constexpr auto alltoallw = [](const auto& call, const void* send, const auto* send_counts,
                                     const auto* send_displacements, const MPI_Datatype* send_types,
                                     void* receive, const auto* receive_counts,
                                     const auto* receive_displacements, const MPI_Datatype* receive_types,
                                     MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const auto send_blocks = individual_blocks(ranks.peers, send_counts, send_displacements, send_types);
  const auto receive_blocks =
      individual_blocks(ranks.peers, receive_counts, receive_displacements, receive_types);
  StagedCall staged =
      call.begin(communicator, no_root, [&] { return alltoall_payload(send, send_blocks, receive_blocks); });
  CallOutcome outcome = alltoall_by_messages(call, ranks, send, send_blocks, receive, receive_blocks,
                                             KnownSizes{}, communicator, request...);
  if (outcome.code) return *outcome.code;
  if (send != MPI_IN_PLACE) {
    outcome.uses(send_blocks);
    outcome.keep(send_types, ranks.peers);
  }
  outcome.uses(receive_blocks);
  outcome.keep(receive_types, ranks.peers);
  stage_alltoall(staged, send, send_blocks, packed_individual(send_blocks, send_displacements, send_types),
                 receive, receive_blocks,
                 packed_individual(receive_blocks, receive_displacements, receive_types));
  return call.run(std::move(outcome), std::move(staged), communicator, send, send_counts, send_displacements,
                  send_types, receive, receive_counts, receive_displacements, receive_types, communicator,
                  request...);
};

}  // namespace penstock::interpose
