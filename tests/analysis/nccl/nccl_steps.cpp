// Two ranks that communicate by NCCL, or as if they did, each of them late in turn:
//   nccl_steps told|real STEPS
// A step is an AllReduce to which rank 1 comes late, and a group of a Send and a Recv to which rank 0 does:
// the late one begins only when the other says that its kernel runs. `told`: kernels of NCCL's names, and
// what NCCL tells NVTX, on any GPU. `real`: NCCL itself, where there is one, and a GPU for each rank.
#include <cuda_runtime.h>
#include <mpi.h>
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>

#include "tests/analysis/nccl/nccl_kernels.hpp"
#include "tests/analysis/nccl/told_nccl.hpp"
#include "tests/benchmarks/nccl_library.hpp"
#include "tests/support/exit_code.hpp"

namespace {

using penstock::benchmarks::NcclFunctions;
using penstock::benchmarks::NcclLibrary;
using penstock::nccl_steps::KernelMarks;
using penstock::nccl_steps::launch;
using penstock::nccl_steps::NcclKernel;
using penstock::nccl_steps::ToldNccl;

constexpr std::size_t all_reduce_bytes = std::size_t{64} << 20;
constexpr std::size_t message_bytes = std::size_t{16} << 20;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "nccl_steps: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void check(cudaError_t error) {
  if (error != cudaSuccess) fail(cudaGetErrorString(error));
}

[[noreturn]] void skip(int rank, const char* why) {
  if (rank == 0) std::printf("SKIPPED: %s\n", why);
  MPI_Finalize();
  std::exit(penstock::test_support::skipped);
}

class Nccl {
 public:
  virtual ~Nccl() = default;
  virtual void all_reduce() = 0;
  /// Sends to the other rank and receives from it.
  virtual void exchange() = 0;
  /// Returns when the kernel of the last call runs.
  virtual void await_begin() = 0;
  /// The kernel of the last call ends.
  virtual void finish() = 0;
};

class Told final : public Nccl {
 public:
  explicit Told(int rank) : other_(1 - rank) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check(cudaHostAlloc(reinterpret_cast<void**>(&marks_), sizeof(KernelMarks), cudaHostAllocMapped));
    marks_->begun = 0;
    marks_->may_end = 0;
    nccl_.communicator_is_made(communicator, 2, rank);
  }
  ~Told() override {
    cudaFreeHost(marks_);
    cudaStreamDestroy(stream_);
  }
  void all_reduce() override {
    nccl_.begin_all_reduce(communicator, all_reduce_bytes);
    check(launch(NcclKernel::all_reduce, marks_, ++number_, stream_));
    nccl_.end();
  }
  void exchange() override {
    nccl_.begin("ncclGroupStart");
    nccl_.end();
    nccl_.begin_message("ncclSend", communicator, message_bytes, other_);
    nccl_.end();
    nccl_.begin_message("ncclRecv", communicator, message_bytes, other_);
    nccl_.end();
    nccl_.begin("ncclGroupEnd");
    check(launch(NcclKernel::send_receive, marks_, ++number_, stream_));
    nccl_.end();
  }
  void await_begin() override {
    while (marks_->begun != number_) std::this_thread::yield();
  }
  void finish() override {
    marks_->may_end = number_;
    check(cudaStreamSynchronize(stream_));
  }

 private:
  static constexpr std::uint64_t communicator = 0x1234567890abcdef;
  const int other_;
  const ToldNccl nccl_;
  cudaStream_t stream_ = nullptr;
  KernelMarks* marks_ = nullptr;
  std::uint32_t number_ = 0;
};

class Real final : public Nccl {
 public:
  explicit Real(int rank) : other_(1 - rank), library_(MPI_COMM_WORLD) {
    if (!library_.is_there()) skip(rank, "no NCCL, or not a GPU for each rank");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check(cudaMalloc(&out_, all_reduce_bytes));
    check(cudaMalloc(&in_, all_reduce_bytes));
  }
  ~Real() override {
    cudaFree(in_);
    cudaFree(out_);
    cudaStreamDestroy(stream_);
  }
  void all_reduce() override {
    check_nccl(library_.call().all_reduce(out_, in_, all_reduce_bytes / sizeof(float), NcclFunctions::float32,
                                          NcclFunctions::sum, library_.communicator(), stream_));
  }
  void exchange() override {
    const NcclFunctions& call = library_.call();
    check_nccl(call.group_start());
    check_nccl(call.send(out_, message_bytes, NcclFunctions::int8, other_, library_.communicator(), stream_));
    check_nccl(
        call.receive(in_, message_bytes, NcclFunctions::int8, other_, library_.communicator(), stream_));
    check_nccl(call.group_end());
  }
  /// NCCL's kernels do not say when they begin; what they need is there within some ms.
  void await_begin() override { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }
  void finish() override { check(cudaStreamSynchronize(stream_)); }

 private:
  static void check_nccl(int result) {
    if (result != 0) fail("a call of NCCL failed");
  }
  const int other_;
  const NcclLibrary library_;
  cudaStream_t stream_ = nullptr;
  void* out_ = nullptr;
  void* in_ = nullptr;
};

/// The late rank's kernel begins after the other's, and both end after that.
void communicate(Nccl& nccl, void (Nccl::*call)(), bool is_late, int other) {
  char token = 0;
  if (is_late) MPI_Recv(&token, 1, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  (nccl.*call)();
  nccl.await_begin();
  MPI_Send(&token, 1, MPI_CHAR, other, 0, MPI_COMM_WORLD);
  if (!is_late) MPI_Recv(&token, 1, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  nccl.finish();
}

/// NCCL connects the ranks in the first call of each kind, which returns when all ranks have made it: nobody
/// is late here.
void connect(Nccl& nccl) {
  nccl.all_reduce();
  nccl.finish();
  nccl.exchange();
  nccl.finish();
}

void run(Nccl& nccl, int rank) {
  communicate(nccl, &Nccl::all_reduce, rank == 1, 1 - rank);
  communicate(nccl, &Nccl::exchange, rank == 0, 1 - rank);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 3 || size != 2) fail("two ranks are needed, and: told|real STEPS");
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) skip(rank, "no GPU");
  check(cudaSetDevice(rank % gpus));
  {
    std::unique_ptr<Nccl> nccl;
    if (std::string_view(argv[1]) == "real") {
      nccl = std::make_unique<Real>(rank);
    } else {
      nccl = std::make_unique<Told>(rank);
    }
    connect(*nccl);
    for (int step = 0; step < std::atoi(argv[2]); ++step) {
      nvtxRangePushA("step");
      run(*nccl, rank);
      nvtxRangePop();
    }
  }
  MPI_Finalize();
  return 0;
}
