// NCCL, opened at run time, for a figure beside ours: no program here needs it. Knows no benchmark.
#pragma once

#include <cuda_runtime.h>
#include <mpi.h>

#include <cstddef>

namespace penstock::benchmarks {

/// NCCL's ABI since 2.0 (nccl.h), as far as it is used.
struct NcclFunctions {
  static constexpr int int8 = 0;
  static constexpr int float32 = 7;
  static constexpr int sum = 0;
  struct UniqueId {
    char internal[128];
  };

  int (*get_unique_id)(UniqueId*);
  int (*comm_init_rank)(void** communicator, int ranks, UniqueId, int rank);
  int (*comm_destroy)(void* communicator);
  int (*all_reduce)(const void*, void*, std::size_t, int type, int operation, void*, cudaStream_t);
  int (*reduce)(const void*, void*, std::size_t, int type, int operation, int root, void*, cudaStream_t);
  int (*reduce_scatter)(const void*, void*, std::size_t, int type, int operation, void*, cudaStream_t);
  int (*broadcast)(const void*, void*, std::size_t, int type, int root, void*, cudaStream_t);
  int (*all_gather)(const void*, void*, std::size_t, int type, void*, cudaStream_t);
  int (*send)(const void*, std::size_t, int type, int peer, void*, cudaStream_t);
  int (*receive)(void*, std::size_t, int type, int peer, void*, cudaStream_t);
  int (*group_start)();
  int (*group_end)();
};

/// A communicator of NCCL's for the ranks of an MPI communicator. Thread: one.
class NcclLibrary {
 public:
  /// All ranks together, after each has chosen its GPU, which no two may share.
  explicit NcclLibrary(MPI_Comm communicator);
  ~NcclLibrary();
  NcclLibrary(const NcclLibrary&) = delete;
  NcclLibrary& operator=(const NcclLibrary&) = delete;

  /// The same on all ranks. False: no NCCL here, or ranks share a GPU.
  [[nodiscard]] bool is_there() const noexcept { return communicator_ != nullptr; }
  [[nodiscard]] const NcclFunctions& call() const noexcept { return call_; }
  [[nodiscard]] void* communicator() const noexcept { return communicator_; }

 private:
  [[nodiscard]] bool open();

  NcclFunctions call_{};
  void* library_ = nullptr;
  void* communicator_ = nullptr;
};

}  // namespace penstock::benchmarks
