#include "examples/dslash/direct_zone.hpp"

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
  const example::DeviceArray<std::byte> probe(1);
  const std::vector<cudaIpcMemHandle_t> handles = all_handles(team, probe.get());
  int error = cudaSuccess;
  for (const int peer : {team.ahead(), team.behind()}) {
    std::byte* opened = nullptr;
    if (peer != team.rank && error == cudaSuccess) {
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

DirectZone::DirectZone(const Team& team, std::size_t two_faces_bytes)
    : team_(team), two_faces_bytes_(two_faces_bytes), memory_(2 * flag_bytes + 2 * two_faces_bytes) {
  example::check(cudaMemset(memory_.get(), 0, 2 * flag_bytes), "clear flags");
  example::check(cudaDeviceSynchronize(), "wait for cleared flags");
  const std::vector<cudaIpcMemHandle_t> handles = all_handles(team, memory_.get());
  example::check(open(handles[static_cast<std::size_t>(team.ahead())], &ahead_), "open a neighbour's memory");
  if (team.behind() == team.ahead()) {
    behind_ = ahead_;
  } else {
    example::check(open(handles[static_cast<std::size_t>(team.behind())], &behind_),
                   "open a neighbour's memory");
  }
}

DirectZone::~DirectZone() {
  cudaDeviceSynchronize();
  MPI_Barrier(team_.communicator);  // all kernels that write here are done
  if (behind_ != ahead_) {
    cudaIpcCloseMemHandle(behind_);
  }
  cudaIpcCloseMemHandle(ahead_);
  MPI_Barrier(team_.communicator);
}

}  // namespace dslash
