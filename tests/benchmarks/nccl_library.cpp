#include "tests/benchmarks/nccl_library.hpp"

#include <dlfcn.h>

namespace penstock::benchmarks {

NcclLibrary::NcclLibrary(MPI_Comm communicator) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);
  int devices = 0;
  cudaGetDeviceCount(&devices);
  int is_usable = open() && ranks <= devices ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &is_usable, 1, MPI_INT, MPI_MIN, communicator);
  if (is_usable == 0) return;
  NcclFunctions::UniqueId id{};
  if (rank == 0) call_.get_unique_id(&id);
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, communicator);
  int is_made = call_.comm_init_rank(&communicator_, ranks, id, rank) == 0 ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &is_made, 1, MPI_INT, MPI_MIN, communicator);
  if (is_made == 0) communicator_ = nullptr;
}

NcclLibrary::~NcclLibrary() {
  if (communicator_ != nullptr) call_.comm_destroy(communicator_);
}

bool NcclLibrary::open() {
  library_ = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return false;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library_, name));
    return function != nullptr;
  };
  return find(call_.get_unique_id, "ncclGetUniqueId") && find(call_.comm_init_rank, "ncclCommInitRank") &&
         find(call_.comm_destroy, "ncclCommDestroy") && find(call_.all_reduce, "ncclAllReduce") &&
         find(call_.reduce, "ncclReduce") && find(call_.reduce_scatter, "ncclReduceScatter") &&
         find(call_.broadcast, "ncclBroadcast") && find(call_.all_gather, "ncclAllGather") &&
         find(call_.send, "ncclSend") && find(call_.receive, "ncclRecv") &&
         find(call_.group_start, "ncclGroupStart") && find(call_.group_end, "ncclGroupEnd");
}

}  // namespace penstock::benchmarks
