#include "examples/dslash/direct_zone.hpp"

#include <set>
#include <vector>

namespace dslash {
namespace {

std::vector<cudaIpcMemHandle_t> all_handles(const Team& team, void* memory) {
  cudaIpcMemHandle_t own;
  example::check(cudaIpcGetMemHandle(&own, memory), "export device memory");
  std::vector<cudaIpcMemHandle_t> handles(static_cast<std::size_t>(team.size));
  MPI_Allgather(&own, sizeof own, MPI_BYTE, handles.data(), sizeof own, MPI_BYTE, team.communicator);
  return handles;
}

cudaError_t open(cudaIpcMemHandle_t handle, std::byte** memory) {
  return cudaIpcOpenMemHandle(reinterpret_cast<void**>(memory), handle, cudaIpcMemLazyEnablePeerAccess);
}

/// The other ranks that faces go to.
std::set<int> neighbours(const Team& team) {
  std::set<int> ranks;
  for (int face = 0; face < most_faces; ++face) {
    if (team.slab.has(static_cast<Face>(face))) {
      ranks.insert(team.destination(static_cast<Face>(face)));
    }
  }
  return ranks;
}

}  // namespace

std::string DirectZone::complaint(const Team& team) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(team.communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int node_size = 1;
  MPI_Comm_size(node, &node_size);
  MPI_Comm_free(&node);
  int all_here = node_size == team.size ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all_here, 1, MPI_INT, MPI_MIN, team.communicator);
  if (all_here == 0) {
    return "needs all ranks on one node";
  }
  const example::DeviceArray<std::byte> probe(whole_blocks(1));
  const std::vector<cudaIpcMemHandle_t> handles = all_handles(team, probe.get());
  int error = cudaSuccess;
  for (const int peer : neighbours(team)) {
    std::byte* opened = nullptr;
    if (error == cudaSuccess) {
      error = open(handles[static_cast<std::size_t>(peer)], &opened);
    }
    if (opened != nullptr) {
      cudaIpcCloseMemHandle(opened);
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_INT, MPI_MAX,
                team.communicator);  // nobody frees before all are done
  return error == cudaSuccess ? ""
                              : std::string("cannot open a neighbour's memory: ") +
                                    cudaGetErrorString(static_cast<cudaError_t>(error));
}

DirectZone::DirectZone(const Team& team, std::size_t set_bytes)
    : team_(team), set_bytes_(set_bytes), memory_(whole_blocks(flags_bytes + 2 * set_bytes)) {
  example::check(cudaMemset(memory_.get(), 0, flags_bytes), "clear flags");
  example::check(cudaDeviceSynchronize(), "wait for cleared flags");
  const std::vector<cudaIpcMemHandle_t> handles = all_handles(team, memory_.get());
  for (const int peer : neighbours(team)) {
    example::check(open(handles[static_cast<std::size_t>(peer)], &opened_[peer]),
                   "open a neighbour's memory");
  }
}

DirectZone::~DirectZone() {
  cudaDeviceSynchronize();
  MPI_Barrier(team_.communicator);  // all kernels that write here are done
  for (const auto& [peer, zone] : opened_) {
    cudaIpcCloseMemHandle(zone);
  }
  MPI_Barrier(team_.communicator);
}

}  // namespace dslash
