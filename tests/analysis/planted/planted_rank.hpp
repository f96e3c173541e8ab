// One rank of a program with a fault: its GPU, its buffers, its neighbours in a ring, and how large messages
// and how long kernels are. Must not know the faults.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "tests/analysis/planted/planted_kernels.hpp"

namespace penstock::planted {

constexpr std::uint64_t ms = 1'000'000;  ///< in ns
constexpr int least_bytes = 1 << 20;
#if PENSTOCK_SIMULATED_GPU
constexpr bool is_simulated = true;
#else
constexpr bool is_simulated = false;
#endif
constexpr int number_count = 100;  ///< that are reduced in a step

/// What the messages' size and the number of steps follow from.
struct Sizes {
  int payload_bytes = least_bytes;
  std::uint64_t exchange_ns = 0;
};

class Rank;

struct Case {
  const char* name;
  void (*step)(Rank&);
  void (*exchange)(Rank&) = nullptr;  ///< what is to take some ms; null: it does not matter
  int most_bytes = least_bytes;       ///< of a message
  bool uses_host_memory = false;      ///< for messages that are copied by hand
  std::uint64_t most_steps = 100;
};

class Rank {
 public:
  /// Call it behind MPI_Init. Ends the program where there is no GPU. `sizes_of_twin`: by which to go; null:
  /// they are chosen by what an exchange takes.
  Rank(const Case& planted, bool is_mended, const Sizes* sizes_of_twin);
  /// Does all steps, each in a range of NVTX.
  void run();

  [[nodiscard]] bool is_mended() const { return is_mended_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int next() const { return (rank_ + 1) % size_; }
  [[nodiscard]] int previous() const { return (rank_ + size_ - 1) % size_; }

  /// Returns how many steps are done.
  [[nodiscard]] std::uint64_t step() const { return step_; }
  [[nodiscard]] int payload_bytes() const { return sizes_.payload_bytes; }
  [[nodiscard]] std::uint64_t exchange_ns() const { return sizes_.exchange_ns; }
  /// Returns the length of a kernel behind which an exchange fits.
  [[nodiscard]] std::uint64_t long_kernel_ns() const;
  [[nodiscard]] void* out() const { return out_; }
  [[nodiscard]] void* in() const { return in_; }
  /// Returns where a rank's numbers lie that all ranks reduce: in device memory, where that takes 10 to 20 µs
  /// on one host, ten times as long as in host memory. Ranks that share a GPU, or the processor with a
  /// simulated GPU's kernels, have them in host memory: else that they are staged there, or wait for cores,
  /// would be the larger fault.
  [[nodiscard]] double* numbers() { return reduces_on_gpu_ ? static_cast<double*>(out_) : host_numbers_; }
  /// Returns where the results go.
  [[nodiscard]] double* reduced_numbers() {
    return reduces_on_gpu_ ? static_cast<double*>(in_) : host_reduced_;
  }
  [[nodiscard]] void* host_out() const { return host_out_; }
  [[nodiscard]] void* host_in() const { return host_in_; }

  /// Queues a kernel on the main stream.
  void launch(Kernel kernel, std::uint64_t duration_ns);
  /// Queues a kernel beside the main stream's.
  void launch_beside(Kernel kernel, std::uint64_t duration_ns);
  void wait_for_main_stream();
  void wait_for_gpu();

 private:
  void warm_up(const Sizes* sizes_of_twin);
  void choose_sizes();
  std::uint64_t best_time_of(void (*exchange)(Rank&));

  const Case planted_;
  const bool is_mended_;
  Sizes sizes_;
  int rank_ = 0;
  int size_ = 1;
  bool reduces_on_gpu_ = false;
  std::uint64_t step_ = 0;
  void* out_ = nullptr;
  void* in_ = nullptr;
  cudaStream_t main_ = nullptr;
  cudaStream_t side_ = nullptr;
  void* host_out_ = nullptr;
  void* host_in_ = nullptr;
  double host_numbers_[number_count] = {};
  double host_reduced_[number_count] = {};
};

/// Ends the job if a call of CUDA failed.
void check(cudaError_t error);
/// Is host code for that time.
void stay_away(std::uint64_t duration_ns);

}  // namespace penstock::planted
