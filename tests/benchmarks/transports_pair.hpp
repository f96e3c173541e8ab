// The two sides that transports_benchmark moves bytes between: a sender in another process (this program
// started again) on device 0, a receiver here on the last device; and copies by CUDA alone between their
// memories. Knows no MPI and no transport.
#pragma once

#include <benchmark/benchmark.h>
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/benchmarks/sampling.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::benchmarks {

inline constexpr std::size_t largest_bytes = std::size_t{1} << 30;

/// A benchmark has nothing better to do with an error than to end.
void require(CUresult result, const char* call);
void require(const Status& status);
void require(bool condition, const char* what);
#define REQUIRE_CUDA(call) ::penstock::benchmarks::require((call), #call)

/// Device memory in a device's primary context, which becomes current.
class DeviceMemory {
 public:
  DeviceMemory(int device, std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void make_current() const;
  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }
  [[nodiscard]] transports::BufferView place(std::size_t bytes) const;

 private:
  CUcontext context_ = nullptr;
  CUdeviceptr address_ = 0;
};

/// The receiver's, on the last device. Its context becomes current with the first call.
[[nodiscard]] const DeviceMemory& receiver_memory();

/// Host memory that has been touched; pinned if asked for.
class HostMemory {
 public:
  HostMemory(std::size_t bytes, bool pinned);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  [[nodiscard]] char* data() noexcept { return memory_.data(); }

 private:
  std::vector<char> memory_;
  bool pinned_;
};

/// Who sends, and what it does for each payload besides owning it.
enum class SenderIs : std::uint8_t {
  this_process,
  other_process,
  other_process_with_host_ring,    ///< it copies the payload into shared memory …
  other_process_with_device_ring,  ///< … or into a ring on its device
};
[[nodiscard]] constexpr bool has_ring(SenderIs sender) noexcept {
  return sender == SenderIs::other_process_with_host_ring ||
         sender == SenderIs::other_process_with_device_ring;
}

/// An offer of the sender's first bytes. One with a ring answers nothing else until somebody has taken them.
[[nodiscard]] transports::Offer offer_from(SenderIs sender, std::size_t bytes);
/// The other process: answers offer_from() until the socket is closed.
[[nodiscard]] int run_sender(int socket);

/// The other process's memory, mapped through CUDA IPC by the benchmark itself.
class MappedSender {
 public:
  MappedSender();
  ~MappedSender();
  MappedSender(const MappedSender&) = delete;
  MappedSender& operator=(const MappedSender&) = delete;
  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }

 private:
  CUdeviceptr address_ = 0;
};

/// CUDA alone: `count` copies of neighbouring pieces and the wait for them.
class RawCopies {
 public:
  RawCopies();
  ~RawCopies();
  RawCopies(const RawCopies&) = delete;
  RawCopies& operator=(const RawCopies&) = delete;
  void run(CUdeviceptr target, CUdeviceptr source, std::size_t bytes, std::size_t count = 1) const;

 private:
  CUstream stream_ = nullptr;
};

inline void prepare_nothing() {}

/// Times `pull` beside `raw_copy`, by turns, and reports the medians. Both move `bytes`. `prepare` runs
/// before each pull and is not timed.
template <class PullAll, class CopyAll, class Prepare = void (*)()>
void measure_beside_raw(benchmark::State& state, std::size_t bytes, PullAll pull, CopyAll raw_copy,
                        Prepare prepare = prepare_nothing) {
  raw_copy();
  prepare();
  pull();
  std::vector<double> raw_s;
  std::vector<double> pull_s;
  for (auto iteration : state) {
    raw_s.push_back(seconds_of(raw_copy));
    prepare();
    pull_s.push_back(seconds_of(pull));
    state.SetIterationTime(pull_s.back());
  }
  const double raw_median_s = median(raw_s);
  const double pull_median_s = median(pull_s);
  state.counters["pull_us"] = pull_median_s * 1e6;
  state.counters["raw_us"] = raw_median_s * 1e6;
  state.counters["gigabytes_per_s"] = 1e-9 * static_cast<double>(bytes) / pull_median_s;
  state.counters["of_raw"] = pull_median_s / raw_median_s;
}

}  // namespace penstock::benchmarks
