// What the neighbourhood collectives read and write. A neighbour may be MPI_PROC_NULL (the rim of a Cartesian
// grid that is not periodic), whose block stays as it is; so the receive buffer is read before it is written.
// Included by the files that wrap them only.
#pragma once

#include "interpose/collectives/collective_blocks.hpp"
#include "interpose/collectives/collective_call.hpp"

namespace penstock::interpose {

/// How many neighbours this rank receives from and sends to. Zero without a topology: MPI will say so.
struct Neighbours {
  int sources = 0;
  int destinations = 0;
};

inline Neighbours neighbours_of(MPI_Comm communicator) noexcept {
  Neighbours neighbours;
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(communicator, &topology);
  if (topology == MPI_CART) {
    int dimensions = 0;
    PMPI_Cartdim_get(communicator, &dimensions);
    neighbours.sources = neighbours.destinations = 2 * dimensions;
  } else if (topology == MPI_GRAPH) {
    int rank = 0;
    PMPI_Comm_rank(communicator, &rank);
    PMPI_Graph_neighbors_count(communicator, rank, &neighbours.sources);
    neighbours.destinations = neighbours.sources;
  } else if (topology == MPI_DIST_GRAPH) {
    int weighted = 0;
    PMPI_Dist_graph_neighbors_count(communicator, &neighbours.sources, &neighbours.destinations, &weighted);
  }
  return neighbours;
}

/// `sent` and `received` return the bytes' Regions; they are asked only if a buffer lies on a device.
template <typename Call, typename Sent, typename Received>
StagedCall stage_exchange(const Call& call, MPI_Comm communicator, const void*& send, Sent sent,
                          void*& receive, Received received) {
  StagedCall staged = call.begin(communicator, no_root, [&] {
    return static_cast<std::uint64_t>(sent().layout().bytes() + received().layout().bytes());
  });
  staged.read(send, sent);
  staged.use(receive, received, received);
  return staged;
}

inline constexpr auto neighbor_allgather = [](const auto& call, const void* send, auto send_count,
                                              MPI_Datatype send_type, void* receive, auto receive_count,
                                              MPI_Datatype receive_type, MPI_Comm communicator,
                                              auto... request) {
  StagedCall staged = stage_exchange(
      call, communicator, send, [&] { return Region(send_count, send_type); }, receive,
      [&] { return equal_blocks(neighbours_of(communicator).sources, receive_count, receive_type).all(); });
  return call.run(std::move(staged), communicator, send, send_count, send_type, receive, receive_count,
                  receive_type, communicator, request...);
};

inline constexpr auto neighbor_allgatherv = [](const auto& call, const void* send, auto send_count,
                                               MPI_Datatype send_type, void* receive, const auto* counts,
                                               const auto* displacements, MPI_Datatype receive_type,
                                               MPI_Comm communicator, auto... request) {
  StagedCall staged = stage_exchange(
      call, communicator, send, [&] { return Region(send_count, send_type); }, receive,
      [&] {
        return placed_blocks(neighbours_of(communicator).sources, counts, displacements, receive_type).all();
      });
  return call.run(std::move(staged), communicator, send, send_count, send_type, receive, counts,
                  displacements, receive_type, communicator, request...);
};

inline constexpr auto neighbor_alltoall = [](const auto& call, const void* send, auto send_count,
                                             MPI_Datatype send_type, void* receive, auto receive_count,
                                             MPI_Datatype receive_type, MPI_Comm communicator,
                                             auto... request) {
  StagedCall staged = stage_exchange(
      call, communicator, send,
      [&] { return equal_blocks(neighbours_of(communicator).destinations, send_count, send_type).all(); },
      receive,
      [&] { return equal_blocks(neighbours_of(communicator).sources, receive_count, receive_type).all(); });
  return call.run(std::move(staged), communicator, send, send_count, send_type, receive, receive_count,
                  receive_type, communicator, request...);
};

inline constexpr auto neighbor_alltoallv = [](const auto& call, const void* send, const auto* send_counts,
                                              const auto* send_places, MPI_Datatype send_type, void* receive,
                                              const auto* counts, const auto* places,
                                              MPI_Datatype receive_type, MPI_Comm communicator,
                                              auto... request) {
  StagedCall staged = stage_exchange(
      call, communicator, send,
      [&] {
        return placed_blocks(neighbours_of(communicator).destinations, send_counts, send_places, send_type)
            .all();
      },
      receive,
      [&] { return placed_blocks(neighbours_of(communicator).sources, counts, places, receive_type).all(); });
  return call.run(std::move(staged), communicator, send, send_counts, send_places, send_type, receive, counts,
                  places, receive_type, communicator, request...);
};

inline constexpr auto neighbor_alltoallw = [](const auto& call, const void* send, const auto* send_counts,
                                              const MPI_Aint* send_places, const MPI_Datatype* send_types,
                                              void* receive, const auto* counts, const MPI_Aint* places,
                                              const MPI_Datatype* receive_types, MPI_Comm communicator,
                                              auto... request) {
  StagedCall staged = stage_exchange(
      call, communicator, send,
      [&] {
        return individual_blocks(neighbours_of(communicator).destinations, send_counts, send_places,
                                 send_types)
            .all();
      },
      receive,
      [&] {
        return individual_blocks(neighbours_of(communicator).sources, counts, places, receive_types).all();
      });
  return call.run(std::move(staged), communicator, send, send_counts, send_places, send_types, receive,
                  counts, places, receive_types, communicator, request...);
};

}  // namespace penstock::interpose
