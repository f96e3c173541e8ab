#include "tests/analysis/planted/planted_rank.hpp"

#include <mpi.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>
#include <vector>

#include "tests/analysis/planted/exchanges.hpp"
#include "tests/support/exit_code.hpp"

namespace penstock::planted {
namespace {

constexpr std::uint64_t wanted_exchange_ns = 8 * ms;
constexpr std::uint64_t longest_kernel_ns = 30 * ms;
constexpr std::uint64_t least_steps = 12;
constexpr std::uint64_t wanted_exchanges_ns = 150 * ms;  ///< of all steps

/// Returns whether no two ranks use the same GPU, whether each sees all of them or only its own; `size`: of
/// ranks.
bool each_has_its_own_gpu(int gpu, int size) {
  using Address = std::array<char, 16>;  // "0000:1b:00.0"
  Address mine{};
  check(cudaDeviceGetPCIBusId(mine.data(), static_cast<int>(mine.size()), gpu));
  std::vector<Address> all(static_cast<std::size_t>(size));
  MPI_Allgather(mine.data(), sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  return std::set<Address>(all.begin(), all.end()).size() == all.size();
}

}  // namespace

Rank::Rank(const Case& planted, bool is_mended, const Sizes* sizes_of_twin)
    : planted_(planted), is_mended_(is_mended) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  int gpus = 0;
  if (cudaGetDeviceCount(&gpus) != cudaSuccess) {
    gpus = 0;
  }
  int least_gpus = 0;
  MPI_Allreduce(&gpus, &least_gpus, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (least_gpus == 0) {
    std::puts("SKIPPED: no GPU");
    MPI_Finalize();
    std::exit(test_support::skipped);
  }
  check(cudaSetDevice(rank_ % gpus));
  reduces_on_gpu_ = !is_simulated && each_has_its_own_gpu(rank_ % gpus, size_);
  const auto most_bytes = static_cast<std::size_t>(planted.most_bytes);
  check(cudaMalloc(&out_, most_bytes));
  check(cudaMalloc(&in_, most_bytes));
  check(cudaMemset(out_, 0, sizeof host_numbers_));
  if (planted.uses_host_memory) {
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

void Rank::run() {
  MPI_Barrier(MPI_COMM_WORLD);
  const std::uint64_t wanted = sizes_.exchange_ns == 0 ? 0 : wanted_exchanges_ns / sizes_.exchange_ns;
  const std::uint64_t steps = std::min(std::max(wanted, least_steps), planted_.most_steps);
  for (; step_ < steps; ++step_) {
    nvtxRangePushA("step");
    planted_.step(*this);
    nvtxRangePop();
  }
}

std::uint64_t Rank::long_kernel_ns() const {
  return std::min(2 * sizes_.exchange_ns, longest_kernel_ns);
}

void Rank::launch(Kernel kernel, std::uint64_t duration_ns) {
  check(planted::launch(kernel, duration_ns, main_));
}

void Rank::launch_beside(Kernel kernel, std::uint64_t duration_ns) {
  check(planted::launch(kernel, duration_ns, side_));
}

void Rank::wait_for_main_stream() {
  check(cudaStreamSynchronize(main_));
}

void Rank::wait_for_gpu() {
  check(cudaDeviceSynchronize());
}

/// Goes by a twin's sizes, if there are any. Loads the kernels and opens the ways of messages besides,
/// which no step may pay for.
void Rank::warm_up(const Sizes* sizes_of_twin) {
  for (int kernel = 0; kernel < kernel_count; ++kernel) {
    launch(static_cast<Kernel>(kernel), 0);
  }
  wait_for_gpu();
  if (sizes_of_twin != nullptr) {
    sizes_ = *sizes_of_twin;
  } else if (planted_.exchange != nullptr) {
    choose_sizes();
  }
  best_time_of(exchange);
}

void Rank::choose_sizes() {
  sizes_.exchange_ns = best_time_of(planted_.exchange);
  while (sizes_.exchange_ns < wanted_exchange_ns && sizes_.payload_bytes < planted_.most_bytes) {
    sizes_.payload_bytes *= 2;
    sizes_.exchange_ns = best_time_of(planted_.exchange);
  }
}

/// Returns the least of several times of the slowest rank.
std::uint64_t Rank::best_time_of(void (*exchange)(Rank&)) {
  std::uint64_t best_ns = ~std::uint64_t{0};
  for (int i = 0; i < 3; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    exchange(*this);
    std::uint64_t took_ns = static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
    MPI_Allreduce(MPI_IN_PLACE, &took_ns, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    best_ns = std::min(best_ns, took_ns);
  }
  return best_ns;
}

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "planted: %s\n", cudaGetErrorString(error));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

void stay_away(std::uint64_t duration_ns) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(duration_ns));
}

}  // namespace penstock::planted
