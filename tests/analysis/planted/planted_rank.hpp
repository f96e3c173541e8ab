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

  [[nodiscard]] int payload_bytes() const { return sizes_.payload_bytes; }
  [[nodiscard]] std::uint64_t exchange_ns() const { return sizes_.exchange_ns; }
  /// Returns the length of a kernel behind which an exchange fits.
  [[nodiscard]] std::uint64_t long_kernel_ns() const;
  [[nodiscard]] void* out() const { return out_; }
  [[nodiscard]] void* in() const { return in_; }
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
  void* out_ = nullptr;
  void* in_ = nullptr;
  cudaStream_t main_ = nullptr;
  cudaStream_t side_ = nullptr;
  void* host_out_ = nullptr;
  void* host_in_ = nullptr;
};

/// Ends the job if a call of CUDA failed.
void check(cudaError_t error);
/// Is host code for that time.
void stay_away(std::uint64_t duration_ns);

/// Sends device memory to the next rank, and receives from the previous one.
void exchange(Rank& rank);
/// Does the same through host memory.
void exchange_by_hand(Rank& rank);

}  // namespace penstock::planted
