// What the collectives without a root read and write: Barrier, Allgather(v), Alltoall(v, w). Included by
// collectives.cpp only.
#pragma once

#include "interpose/collectives/collective_blocks.hpp"
#include "interpose/collectives/collective_call.hpp"

namespace penstock::interpose {

inline constexpr auto barrier = [](const auto& call, MPI_Comm communicator, auto... request) {
  return call.run(call.begin(communicator, no_root, [] { return std::uint64_t{0}; }), communicator,
                  communicator, request...);
};

/// With MPI_IN_PLACE this rank's contribution is its own block of the receive buffer.
template <typename ReceiveBlocks>
void stage_allgather(StagedCall& staged, const Ranks& ranks, const void*& send, MPI_Count send_count,
                     MPI_Datatype send_type, void*& receive, const ReceiveBlocks& blocks) {
  const bool in_place = send == MPI_IN_PLACE;
  staged.read(send, [&] { return Region(send_count, send_type); });
  staged.use(
      receive, [&] { return in_place ? blocks.one(ranks.rank) : Region(); }, [&] { return blocks.all(); });
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
  stage_allgather(staged, ranks, send, send_count, send_type, receive, blocks);
  return call.run(std::move(staged), communicator, send, send_count, send_type, receive, receive_count,
                  receive_type, communicator, request...);
};

inline constexpr auto allgatherv = [](const auto& call, const void* send, auto send_count,
                                      MPI_Datatype send_type, void* receive, const auto* counts,
                                      const auto* displacements, MPI_Datatype receive_type,
                                      MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const auto blocks = placed_blocks(ranks.peers, counts, displacements, receive_type);
  StagedCall staged = call.begin(communicator, no_root,
                                 [&] { return allgather_payload(send, send_count, send_type, blocks); });
  stage_allgather(staged, ranks, send, send_count, send_type, receive, blocks);
  return call.run(std::move(staged), communicator, send, send_count, send_type, receive, counts,
                  displacements, receive_type, communicator, request...);
};

/// With MPI_IN_PLACE every block of the receive buffer is sent and then replaced.
template <typename SendBlocks, typename ReceiveBlocks>
void stage_alltoall(StagedCall& staged, const void*& send, const SendBlocks& send_blocks, void*& receive,
                    const ReceiveBlocks& receive_blocks) {
  const bool in_place = send == MPI_IN_PLACE;
  staged.read(send, [&] { return send_blocks.all(); });
  staged.use(
      receive, [&] { return in_place ? receive_blocks.all() : Region(); },
      [&] { return receive_blocks.all(); });
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
  stage_alltoall(staged, send, send_blocks, receive, receive_blocks);
  return call.run(std::move(staged), communicator, send, send_count, send_type, receive, receive_count,
                  receive_type, communicator, request...);
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
  stage_alltoall(staged, send, send_blocks, receive, receive_blocks);
  return call.run(std::move(staged), communicator, send, send_counts, send_displacements, send_type, receive,
                  receive_counts, receive_displacements, receive_type, communicator, request...);
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
  stage_alltoall(staged, send, send_blocks, receive, receive_blocks);
  return call.run(std::move(staged), communicator, send, send_counts, send_displacements, send_types, receive,
                  receive_counts, receive_displacements, receive_types, communicator, request...);
};

}  // namespace penstock::interpose
