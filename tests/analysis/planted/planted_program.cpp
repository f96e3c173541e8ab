// Programs with a fault, and their mended twins:
//   planted CASE [--mended BYTES EXCHANGE_NS]
// Messages are so large that an exchange takes some ms on this machine, kernels are as long as the exchange
// where what is planted is about both, and steps so many that both can be told from jitter. The program says
// by which bytes and time it goes ("planted: BYTES EXCHANGE_NS"), and its twin must go by the same.
//
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

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>
#include <thread>

#include "tests/analysis/planted/planted_kernels.hpp"
#include "tests/support/exit_code.hpp"

namespace {

using penstock::planted::Kernel;
using penstock::planted::launch;

constexpr std::uint64_t ms = 1'000'000;
constexpr int least_bytes = 1 << 20;
constexpr std::uint64_t wanted_exchange_ns = 8 * ms;
constexpr std::uint64_t longest_kernel_ns = 30 * ms;
constexpr std::uint64_t least_steps = 12;
constexpr std::uint64_t most_steps = 100;
constexpr std::uint64_t wanted_exchanges_ns = 150 * ms;  ///< of all steps

/// What the messages' size and the number of steps follow from.
struct Sizes {
  int payload_bytes;
  std::uint64_t exchange_ns;
};

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "planted: %s\n", cudaGetErrorString(error));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

void stay_away(std::uint64_t duration_ns) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(duration_ns));
}

class Program;

struct Case {
  void (Program::*step)();
  void (Program::*exchange)() = nullptr;  ///< what is to take some ms; null: it does not matter
  int most_bytes = least_bytes;           ///< of a message
};

class Program {
 public:
  Program(const Case& planted, bool is_mended, const Sizes* sizes_of_twin)
      : planted_(planted), is_mended_(is_mended) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
      std::puts("SKIPPED: no GPU");
      MPI_Finalize();
      std::exit(penstock::test_support::skipped);
    }
    check(cudaSetDevice(rank_ % gpus));
    const auto most_bytes = static_cast<std::size_t>(planted.most_bytes);
    check(cudaMalloc(&out_, most_bytes));
    check(cudaMalloc(&in_, most_bytes));
    if (planted.exchange == &Program::exchange_by_hand) {
      check(cudaMallocHost(&host_out_, most_bytes));
      check(cudaMallocHost(&host_in_, most_bytes));
    }
    check(cudaStreamCreateWithFlags(&main_, cudaStreamNonBlocking));
    check(cudaStreamCreateWithFlags(&side_, cudaStreamNonBlocking));
    warm_up(sizes_of_twin);
    if (rank_ == 0) {
      std::printf("planted: %d %llu\n", sizes_.payload_bytes,
                  static_cast<unsigned long long>(sizes_.exchange_ns));
    }
  }

  void run() {
    MPI_Barrier(MPI_COMM_WORLD);
    const std::uint64_t steps = sizes_.exchange_ns == 0 ? least_steps
                                                        : std::clamp(wanted_exchanges_ns / sizes_.exchange_ns,
                                                                     least_steps, most_steps);
    for (std::uint64_t step = 0; step < steps; ++step) {
      nvtxRangePushA("step");
      (this->*planted_.step)();
      nvtxRangePop();
    }
  }

  void stencil() {
    launch_on(main_, Kernel::pack, sizes_.exchange_ns / 20);
    check(cudaStreamSynchronize(main_));
    if (is_mended_) {
      launch_on(side_, Kernel::interior, long_kernel_ns());
    }
    exchange();
    launch_on(main_, Kernel::unpack, sizes_.exchange_ns / 20);
    if (!is_mended_) {
      launch_on(main_, Kernel::interior, long_kernel_ns());
    }
    check(cudaDeviceSynchronize());
  }

  void sleeper() {
    launch_on(main_, Kernel::update, 10 * ms);
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
    launch_on(main_, Kernel::update, (rank_ == 1 && !is_mended_ ? 35 : usual_ms) * ms);
    check(cudaStreamSynchronize(main_));
    MPI_Barrier(MPI_COMM_WORLD);
  }

  void staged() {
    launch_on(main_, Kernel::update, 5 * ms);
    check(cudaStreamSynchronize(main_));
    if (is_mended_) {
      exchange();
    } else {
      exchange_by_hand();
    }
  }

  void late() {
    MPI_Request requests[2];
    MPI_Isend(out_, sizes_.payload_bytes, MPI_BYTE, next(), 0, MPI_COMM_WORLD, &requests[0]);
    if (is_mended_) {
      MPI_Irecv(in_, sizes_.payload_bytes, MPI_BYTE, previous(), 0, MPI_COMM_WORLD, &requests[1]);
    }
    launch_on(main_, Kernel::update, long_kernel_ns());
    if (is_mended_) {
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    check(cudaStreamSynchronize(main_));
    if (!is_mended_) {
      MPI_Irecv(in_, sizes_.payload_bytes, MPI_BYTE, previous(), 0, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
  }

  void host() {
    launch_on(main_, Kernel::update, 10 * ms);
    check(cudaStreamSynchronize(main_));
    MPI_Barrier(MPI_COMM_WORLD);
    nvtxRangePushA("sort particles");
    if (!is_mended_) {
      stay_away(20 * ms);
    }
    nvtxRangePop();
  }

  void exchange() {
    MPI_Sendrecv(out_, sizes_.payload_bytes, MPI_BYTE, next(), 0, in_, sizes_.payload_bytes, MPI_BYTE,
                 previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void exchange_by_hand() {
    const auto bytes = static_cast<std::size_t>(sizes_.payload_bytes);
    check(cudaMemcpy(host_out_, out_, bytes, cudaMemcpyDeviceToHost));
    MPI_Sendrecv(host_out_, sizes_.payload_bytes, MPI_BYTE, next(), 0, host_in_, sizes_.payload_bytes,
                 MPI_BYTE, previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(cudaMemcpy(in_, host_in_, bytes, cudaMemcpyHostToDevice));
  }

 private:
  /// Goes by a twin's sizes, if there are any. Loads the kernels and opens the ways of messages besides,
  /// which no step may pay for.
  void warm_up(const Sizes* sizes_of_twin) {
    for (const Kernel each : {Kernel::pack, Kernel::unpack, Kernel::interior, Kernel::update}) {
      launch_on(main_, each, 0);
    }
    check(cudaDeviceSynchronize());
    if (sizes_of_twin != nullptr) {
      sizes_ = *sizes_of_twin;
    } else if (planted_.exchange != nullptr) {
      choose_sizes();
    }
    best_time_of(&Program::exchange);
  }

  void choose_sizes() {
    sizes_.exchange_ns = best_time_of(planted_.exchange);
    while (sizes_.exchange_ns < wanted_exchange_ns && sizes_.payload_bytes < planted_.most_bytes) {
      sizes_.payload_bytes *= 2;
      sizes_.exchange_ns = best_time_of(planted_.exchange);
    }
  }

  /// Returns the least of several times of the slowest rank.
  std::uint64_t best_time_of(void (Program::*kind)()) {
    std::uint64_t best_ns = ~std::uint64_t{0};
    for (int i = 0; i < 3; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      const auto begin = std::chrono::steady_clock::now();
      (this->*kind)();
      std::uint64_t took_ns = static_cast<std::uint64_t>(
          std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
      MPI_Allreduce(MPI_IN_PLACE, &took_ns, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
      best_ns = std::min(best_ns, took_ns);
    }
    return best_ns;
  }

  /// Returns the length of a kernel behind which an exchange fits.
  [[nodiscard]] std::uint64_t long_kernel_ns() const {
    return std::min(2 * sizes_.exchange_ns, longest_kernel_ns);
  }
  void launch_on(cudaStream_t stream, Kernel kernel, std::uint64_t duration_ns) {
    check(launch(kernel, duration_ns, stream));
  }
  [[nodiscard]] int next() const { return (rank_ + 1) % size_; }
  [[nodiscard]] int previous() const { return (rank_ + size_ - 1) % size_; }

  const Case planted_;
  const bool is_mended_;
  Sizes sizes_{least_bytes, 0};
  int rank_ = 0;
  int size_ = 1;
  void* out_ = nullptr;
  void* in_ = nullptr;
  cudaStream_t main_ = nullptr;
  cudaStream_t side_ = nullptr;
  void* host_out_ = nullptr;
  void* host_in_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  constexpr auto device = &Program::exchange;
  const std::map<std::string_view, Case> cases{
      {"stencil", {&Program::stencil, device, 1 << 29}},
      {"sleeper", {&Program::sleeper}},
      {"unbalanced", {&Program::unbalanced}},
      {"staged", {&Program::staged, &Program::exchange_by_hand, 1 << 26}},
      {"late", {&Program::late, device, 1 << 29}},
      {"host", {&Program::host}}};
  const auto chosen = argc < 2 ? cases.end() : cases.find(argv[1]);
  const bool is_mended = argc == 5 && std::strcmp(argv[2], "--mended") == 0;
  if (chosen == cases.end() || (argc != 2 && !is_mended)) {
    std::fputs("planted stencil|sleeper|unbalanced|staged|late|host [--mended BYTES EXCHANGE_NS]\n", stderr);
    return 2;
  }
  const Sizes sizes_of_twin =
      is_mended ? Sizes{std::atoi(argv[3]), std::strtoull(argv[4], nullptr, 10)} : Sizes{};
  MPI_Init(&argc, &argv);
  Program(chosen->second, is_mended, is_mended ? &sizes_of_twin : nullptr).run();
  MPI_Finalize();
  return 0;
}
