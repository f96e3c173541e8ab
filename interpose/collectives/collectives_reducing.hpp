// What the reductions to all ranks read and write: Allreduce, Reduce_scatter(_block), Scan, Exscan. The
// operation sees host memory only, since the MPI library is given nothing else. Included by collectives.cpp
// only.
#pragma once

#include <numeric>

#include "interpose/collectives/collective_blocks.hpp"
#include "interpose/collectives/collective_call.hpp"

namespace penstock::interpose {

/// With MPI_IN_PLACE the input is in the receive buffer.
template <typename Input, typename Output>
void stage_reduction(StagedCall& staged, const void*& send, void*& receive, Input input, Output output) {
  const bool in_place = send == MPI_IN_PLACE;
  staged.read(send, input);
  staged.use(
      receive, [&] { return in_place ? input() : Region(); }, output);
}

/// Allreduce and Scan: a vector in, a vector out.
inline constexpr auto reduce_to_all = [](const auto& call, const void* send, void* receive, auto count,
                                         MPI_Datatype datatype, MPI_Op operation, MPI_Comm communicator,
                                         auto... request) {
  const auto vector = [&] { return Region(count, datatype); };
  StagedCall staged = call.begin(communicator, no_root, [&] { return payload_bytes(count, datatype); });
  stage_reduction(staged, send, receive, vector, vector);
  return call.run(std::move(staged), communicator, send, receive, count, datatype, operation, communicator,
                  request...);
};

/// The first rank's receive buffer stays as it is.
inline constexpr auto exscan = [](const auto& call, const void* send, void* receive, auto count,
                                  MPI_Datatype datatype, MPI_Op operation, MPI_Comm communicator,
                                  auto... request) {
  const Ranks ranks(communicator);
  const auto vector = [&] { return Region(count, datatype); };
  StagedCall staged = call.begin(communicator, no_root, [&] { return payload_bytes(count, datatype); });
  stage_reduction(staged, send, receive, vector, [&] { return ranks.rank == 0 ? Region() : vector(); });
  return call.run(std::move(staged), communicator, send, receive, count, datatype, operation, communicator,
                  request...);
};

inline constexpr auto reduce_scatter = [](const auto& call, const void* send, void* receive,
                                          const auto* counts, MPI_Datatype datatype, MPI_Op operation,
                                          MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const auto total = [&] { return std::accumulate(counts, counts + ranks.local, MPI_Count{0}); };
  StagedCall staged = call.begin(communicator, no_root, [&] { return payload_bytes(total(), datatype); });
  stage_reduction(
      staged, send, receive, [&] { return Region(total(), datatype); },
      [&] { return ranks.rank < 0 ? Region() : Region(counts[ranks.rank], datatype); });
  return call.run(std::move(staged), communicator, send, receive, counts, datatype, operation, communicator,
                  request...);
};

inline constexpr auto reduce_scatter_block = [](const auto& call, const void* send, void* receive, auto count,
                                                MPI_Datatype datatype, MPI_Op operation,
                                                MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const MPI_Count total = static_cast<MPI_Count>(count) * ranks.local;
  StagedCall staged = call.begin(communicator, no_root, [&] { return payload_bytes(total, datatype); });
  stage_reduction(
      staged, send, receive, [&] { return Region(total, datatype); },
      [&] { return Region(count, datatype); });
  return call.run(std::move(staged), communicator, send, receive, count, datatype, operation, communicator,
                  request...);
};

}  // namespace penstock::interpose
