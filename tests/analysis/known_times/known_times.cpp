// A program of two ranks that waits for known reasons for known times, and writes down which, by clocks of
// its own:
//   known_times STEPS FILE
// Rank 0 has the kernels, rank 1 is late or waits for them. What is written to FILE is JSON, in seconds of
// both ranks together: what a report's `counted` should say of its steps.
#include <cuda_runtime.h>
#include <mpi.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <thread>
#include <vector>

#include "tests/analysis/known_times/spin_kernel.hpp"
#include "tests/support/exit_code.hpp"

namespace {

using penstock::known_times::KernelMarks;

constexpr std::uint64_t ms = 1'000'000;
constexpr int payload_bytes = 1 << 20;

void check(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "known_times: %s\n", cudaGetErrorString(error));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

void stay_away(std::uint64_t duration_ns) {
  for (const std::uint64_t begin_ns = now_ns(); now_ns() - begin_ns < duration_ns;) {
  }
}

struct Span {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

template <typename Call>
Span timed(Call call) {
  const std::uint64_t begin_ns = now_ns();
  call();
  return {begin_ns, now_ns()};
}

/// Calls and kernels of one rank in one step, by the parts of the step.
struct Step {
  std::array<Span, 5> calls;
  std::array<Span, 5> kernels;  ///< of rank 0; none: empty
};

/// Sees by the host's clock when kernels begin and end: a thread looks at what they write into memory that
/// both see. (Not by the GPU's clock, which is off by up to 80 µs of what was interpolated, seen on an H200.)
class KernelWatch {
 public:
  static constexpr std::size_t slots = 5;

  KernelWatch() {
    check(cudaHostAlloc(reinterpret_cast<void**>(&marks_), sizeof(KernelMarks) * slots, cudaHostAllocMapped));
    forget();
    thread_ = std::thread([this] { watch(); });
  }
  ~KernelWatch() {
    is_over_ = true;
    thread_.join();
    cudaFreeHost(marks_);
  }
  KernelWatch(const KernelWatch&) = delete;
  KernelWatch& operator=(const KernelWatch&) = delete;

  /// Of one kernel, to be launched after this.
  [[nodiscard]] KernelMarks* marks(std::size_t slot) {
    is_expected_[slot] = true;
    return &marks_[slot];
  }
  /// Of all kernels since the last time, which are over; of none, an empty span.
  [[nodiscard]] std::array<Span, slots> take() {
    std::array<Span, slots> spans{};
    for (std::size_t slot = 0; slot < slots; ++slot) {
      if (is_expected_[slot]) {
        while (end_ns_[slot] == 0) {
        }
        spans[slot] = {begin_ns_[slot], end_ns_[slot]};
      }
    }
    forget();
    return spans;
  }

 private:
  void forget() {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      is_expected_[slot] = false;
      marks_[slot].has_begun = 0;
      marks_[slot].has_ended = 0;
      begin_ns_[slot] = 0;
      end_ns_[slot] = 0;
    }
  }
  void watch() {
    while (!is_over_) {
      for (std::size_t slot = 0; slot < slots; ++slot) {
        if (is_expected_[slot] && begin_ns_[slot] == 0 && marks_[slot].has_begun != 0) {
          begin_ns_[slot] = now_ns();
        }
        if (is_expected_[slot] && end_ns_[slot] == 0 && marks_[slot].has_ended != 0) {
          end_ns_[slot] = now_ns();
        }
      }
    }
  }

  KernelMarks* marks_ = nullptr;
  std::array<std::atomic<bool>, slots> is_expected_{};
  std::array<std::atomic<std::uint64_t>, slots> begin_ns_{};
  std::array<std::atomic<std::uint64_t>, slots> end_ns_{};
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

/// Length of [begin, end) outside `hidden`.
double exposed_s(std::uint64_t begin_ns, std::uint64_t end_ns, Span hidden) {
  if (end_ns <= begin_ns) {
    return 0;
  }
  const std::uint64_t hidden_begin_ns = std::clamp(hidden.begin_ns, begin_ns, end_ns);
  const std::uint64_t hidden_end_ns = std::clamp(hidden.end_ns, begin_ns, end_ns);
  return static_cast<double>(end_ns - begin_ns - (hidden_end_ns - hidden_begin_ns)) / 1e9;
}

struct Truth {
  double counted_s = 0;
  double late_sender_s = 0;
  double late_receiver_s = 0;
  double wait_at_collective_s = 0;
  double gpu_not_ready_s = 0;

  void add(const Step& first, const Step& second) {
    for (std::size_t part = 0; part < first.calls.size(); ++part) {
      counted_s += exposed_s(first.calls[part].begin_ns, first.calls[part].end_ns, first.kernels[part]);
      counted_s += exposed_s(second.calls[part].begin_ns, second.calls[part].end_ns, {});
    }
    add_message(second.calls[0], {}, first.calls[0], first.kernels[0]);
    add_message(first.calls[2], first.kernels[2], second.calls[2], {});
    add_message(first.calls[3], {}, second.calls[3], {});
    add_message(second.calls[4], {}, first.calls[4], first.kernels[4]);
    // the payload of this one follows a kernel in its stream
    const std::uint64_t both_ns = std::max(first.calls[2].begin_ns, second.calls[2].begin_ns);
    gpu_not_ready_s += exposed_s(both_ns, std::min(first.kernels[2].end_ns, second.calls[2].end_ns), {});
    wait_at_collective_s += exposed_s(
        first.calls[1].begin_ns, std::min(second.calls[1].begin_ns, first.calls[1].end_ns), first.kernels[1]);
    wait_at_collective_s +=
        exposed_s(second.calls[1].begin_ns, std::min(first.calls[1].begin_ns, second.calls[1].end_ns), {});
  }

 private:
  void add_message(Span send, Span senders_kernel, Span receive, Span receivers_kernel) {
    late_sender_s += exposed_s(receive.begin_ns, std::min(send.begin_ns, receive.end_ns), receivers_kernel);
    late_receiver_s += exposed_s(send.begin_ns, std::min(receive.begin_ns, send.end_ns), senders_kernel);
  }
};

class Program {
 public:
  Program() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
      std::puts("SKIPPED: no GPU");
      MPI_Finalize();
      std::exit(penstock::test_support::skipped);
    }
    check(cudaSetDevice(rank_ % gpus));
    check(cudaMalloc(&payload_, payload_bytes));
    check(cudaMemset(payload_, 0, payload_bytes));
    check(cudaDeviceSynchronize());
    if (rank_ == 0) {
      kernels_.emplace();
    }
  }

  [[nodiscard]] std::vector<Step> run(int count) {
    std::vector<Step> steps;
    for (int warm_up = 0; warm_up < 5; ++warm_up) {
      take_step(false);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < count; ++step) {
      nvtxRangePushA("step");
      steps.push_back(take_step(true));
      nvtxRangePop();
    }
    return steps;
  }

  [[nodiscard]] int rank() const { return rank_; }

 private:
  Step take_step(bool is_slow) {
    Step step;
    const std::uint64_t unit_ns = is_slow ? ms : ms / 100;
    const bool computes = rank_ == 0;
    const auto kernel = [&](std::size_t part, std::uint64_t units) {
      if (computes) {
        check(penstock::known_times::spin(units * unit_ns, kernels_->marks(part), nullptr));
      } else {
        stay_away(2 * units * unit_ns);
      }
    };
    const auto send = [this] { MPI_Send(payload_, payload_bytes, MPI_BYTE, 1 - rank_, 0, MPI_COMM_WORLD); };
    const auto receive = [this] {
      MPI_Recv(payload_, payload_bytes, MPI_BYTE, 1 - rank_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    };

    kernel(0, 3);
    step.calls[0] = computes ? timed(receive) : timed(send);
    kernel(1, 3);
    int one = 1;
    int sum = 0;
    step.calls[1] = timed([&] { MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); });
    if (computes) {
      kernel(2, 5);
      step.calls[2] = timed(send);
      step.calls[3] = timed([this] { MPI_Ssend(payload_, payload_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD); });
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(payload_, payload_bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
      kernel(4, 8);
      step.calls[4] = timed([&] { MPI_Wait(&request, MPI_STATUS_IGNORE); });
    } else {
      step.calls[2] = timed(receive);
      stay_away(6 * unit_ns);
      step.calls[3] = timed(receive);
      stay_away(4 * unit_ns);
      step.calls[4] = timed(send);
    }
    check(cudaDeviceSynchronize());
    if (computes) {
      step.kernels = kernels_->take();
    }
    return step;
  }

  int rank_ = 0;
  void* payload_ = nullptr;
  std::optional<KernelWatch> kernels_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("known_times STEPS FILE\n", stderr);
    return 2;
  }
  MPI_Init(&argc, &argv);
  Program program;
  const std::vector<Step> steps = program.run(std::atoi(argv[1]));
  const int bytes = static_cast<int>(steps.size() * sizeof(Step));
  if (program.rank() == 1) {
    MPI_Send(steps.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  } else {
    std::vector<Step> others(steps.size());
    MPI_Recv(others.data(), bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Truth truth;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      truth.add(steps[i], others[i]);
    }
    std::FILE* const file = std::fopen(argv[2], "w");
    if (file == nullptr) {
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    std::fprintf(
        file,
        "{\"counted\": %.9f, \"late_sender\": %.9f, \"late_receiver\": %.9f, \"wait_at_collective\": %.9f, "
        "\"gpu_not_ready\": %.9f}\n",
        truth.counted_s, truth.late_sender_s, truth.late_receiver_s, truth.wait_at_collective_s,
        truth.gpu_not_ready_s);
    std::fclose(file);
  }
  MPI_Finalize();
  return 0;
}
