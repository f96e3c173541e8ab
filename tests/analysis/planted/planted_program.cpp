// Programs with a fault, and their mended twins:
//   planted CASE [--mended]
// Each step of two ranks or more, which exchange with their neighbours in a ring:
//   stencil      the interior is computed behind an exchange that it does not need
//   sleeper      rank 0 is in host code while the others wait
//   unbalanced   the kernels of rank 1 take longer
//   staged       device memory is copied by hand around each message
//   late         a receive is posted behind a kernel that needs none of it
//   host         all ranks are in host code while their GPUs are idle
#include <cuda_runtime.h>
#include <mpi.h>
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/analysis/planted/planted_kernels.hpp"
#include "tests/support/exit_code.hpp"

namespace {

using penstock::planted::Kernel;
using penstock::planted::launch;

constexpr std::uint64_t ms = 1'000'000;
constexpr int steps = 12;
constexpr int payload_bytes = 1 << 20;

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "planted: %s\n", cudaGetErrorString(error));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

void stay_away(std::uint64_t duration_ns) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(duration_ns));
}

class Program {
 public:
  explicit Program(bool is_mended) : is_mended_(is_mended) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
      std::puts("SKIPPED: no GPU");
      MPI_Finalize();
      std::exit(penstock::test_support::skipped);
    }
    check(cudaSetDevice(rank_ % gpus));
    check(cudaMalloc(&out_, payload_bytes));
    check(cudaMalloc(&in_, payload_bytes));
    check(cudaMemset(out_, 0, payload_bytes));
    check(cudaStreamCreateWithFlags(&main_, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&side_, cudaStreamNonBlocking));
    check(cudaDeviceSynchronize());
    exchange();  // what comes first costs more
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void stencil() {
    run(Kernel::pack, ms, main_);
    check(cudaStreamSynchronize(main_));
    if (is_mended_) {
      run(Kernel::interior, 30 * ms, side_);
    }
    exchange();
    run(Kernel::unpack, ms, main_);
    if (!is_mended_) {
      run(Kernel::interior, 30 * ms, main_);
    }
    check(cudaDeviceSynchronize());
  }

  void sleeper() {
    run(Kernel::update, 10 * ms, main_);
    check(cudaStreamSynchronize(main_));
    nvtxRangePushA("write log");
    if (rank_ == 0 && !is_mended_) {
      stay_away(20 * ms);
    }
    nvtxRangePop();
    exchange();
  }

  void unbalanced() {
    const std::uint64_t usual_ms = is_mended_ ? 15 + 20 / static_cast<std::uint64_t>(size_) : 15;
    run(Kernel::update, (rank_ == 1 && !is_mended_ ? 35 : usual_ms) * ms, main_);
    check(cudaStreamSynchronize(main_));
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void staged() {
    run(Kernel::update, 5 * ms, main_);
    check(cudaStreamSynchronize(main_));
    if (is_mended_) {
      exchange();
      return;
    }
    check(cudaMemcpy(host_out_.data(), out_, payload_bytes, cudaMemcpyDeviceToHost));
    MPI_Sendrecv(host_out_.data(), payload_bytes, MPI_BYTE, next(), 0, host_in_.data(), payload_bytes,
                 MPI_BYTE, previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(cudaMemcpy(in_, host_in_.data(), payload_bytes, cudaMemcpyHostToDevice));
  }

  void late() {
    MPI_Request requests[2];
    MPI_Isend(out_, payload_bytes, MPI_BYTE, next(), 0, MPI_COMM_WORLD, &requests[0]);
    if (is_mended_) {
      MPI_Irecv(in_, payload_bytes, MPI_BYTE, previous(), 0, MPI_COMM_WORLD, &requests[1]);
    }
    run(Kernel::update, 30 * ms, main_);
    if (is_mended_) {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    check(cudaStreamSynchronize(main_));
    if (!is_mended_) {
      MPI_Irecv(in_, payload_bytes, MPI_BYTE, previous(), 0, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
  }

  void host() {
    run(Kernel::update, 10 * ms, main_);
    check(cudaStreamSynchronize(main_));
    MPI_Barrier(MPI_COMM_WORLD);
    nvtxRangePushA("sort particles");
    if (!is_mended_) {
      stay_away(20 * ms);
    }
    nvtxRangePop();
  }

 private:
  void run(Kernel kernel, std::uint64_t duration_ns, cudaStream_t stream) {
    check(launch(kernel, duration_ns, stream));
  }
  void exchange() {
    MPI_Sendrecv(out_, payload_bytes, MPI_BYTE, next(), 0, in_, payload_bytes, MPI_BYTE, previous(), 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  [[nodiscard]] int next() const { return (rank_ + 1) % size_; }
  [[nodiscard]] int previous() const { return (rank_ + size_ - 1) % size_; }

  bool is_mended_;
  int rank_ = 0;
  int size_ = 1;
  void* out_ = nullptr;
  void* in_ = nullptr;
  cudaStream_t main_ = nullptr;
  cudaStream_t side_ = nullptr;
  std::vector<char> host_out_ = std::vector<char>(payload_bytes);
  std::vector<char> host_in_ = std::vector<char>(payload_bytes);
};

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string_view, void (Program::*)()> cases{
      {"stencil", &Program::stencil}, {"sleeper", &Program::sleeper}, {"unbalanced", &Program::unbalanced},
      {"staged", &Program::staged},   {"late", &Program::late},       {"host", &Program::host}};
  const auto chosen = argc < 2 ? cases.end() : cases.find(argv[1]);
  if (chosen == cases.end()) {
    std::fputs("planted stencil|sleeper|unbalanced|staged|late|host [--mended]\n", stderr);
    return 2;
  }
  MPI_Init(&argc, &argv);
  Program program(argc > 2 && std::strcmp(argv[2], "--mended") == 0);
  for (int step = 0; step < steps; ++step) {
    nvtxRangePushA("step");
    (program.*chosen->second)();
    nvtxRangePop();
  }
  MPI_Finalize();
  return 0;
}
