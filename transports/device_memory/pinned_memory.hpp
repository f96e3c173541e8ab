// Host memory of Penstock's own that the GPU copies to and from at full speed: registered with CUDA rather
// than allocated by it, so that the memory outlives the application's contexts. Knows no messages.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <memory>
#include <mutex>

#include "transports/cuda/context.hpp"
#include "transports/device_memory/pinnable_mapping.hpp"
#include "transports/host/host_mapping.hpp"

namespace penstock::transports::cuda {

/// Registers a range of host memory with CUDA on first use, and again if the context it was registered in has
/// died. A refusal (no more pinned memory) is no error: copies are then slower and block their caller. Owns
/// the registration, not the memory. Thread: any.
class Registration {
 public:
  Registration(void* memory, std::size_t bytes) noexcept : memory_(memory), bytes_(bytes) {}
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  /// Registers the memory if it is not registered; `context` must be current. Returns false if that fails.
  bool ensure(const ContextRef& context) noexcept;
  /// Returns whether the memory was registered.
  [[nodiscard]] bool is_there() noexcept;

  /// Returns the last refusal since the previous call, of any registration; ok if there was none. Cost: a
  /// load.
  [[nodiscard]] static Status take_refusal() noexcept;

 private:
  void* memory_;
  std::size_t bytes_;
  std::mutex mutex_;
  ContextRef tried_in_;
  bool registered_ = false;
};

/// A ring of chunks, so that the CPU works on one while the GPU copies others. Thread: one at a time.
class Bounce {
 public:
  /// The GPU loses some µs at the end of each copy: beside 2 MiB, 40 µs of PCIe, that is little.
  static constexpr std::size_t chunk_bytes = 2u << 20;
  static constexpr std::size_t depth = 4;
  /// The most that are kept idle: as many as payloads between nodes have on loan, both ways. Making and
  /// pinning another takes 2 ms.
  static constexpr std::size_t most_kept = 8;
  explicit Bounce(HostMapping mapping) : memory_(std::move(mapping)) {}
  [[nodiscard]] char* chunk(std::size_t index) const noexcept {
    return memory_.address() + index % depth * chunk_bytes;
  }
  /// Returns the bytes of a payload that one step copies: small payloads are cut too, so that both halves of
  /// the way overlap.
  [[nodiscard]] static std::size_t step_bytes_for(std::size_t payload_bytes) noexcept {
    constexpr std::size_t smallest = 128u << 10;
    return std::clamp(std::bit_ceil(payload_bytes / (2 * depth) + 1), smallest, chunk_bytes);
  }
  /// The same while other payloads are in flight: their halves overlap with this one's, and several cores
  /// share an uncut step.
  [[nodiscard]] static std::size_t step_bytes_among_others(std::size_t payload_bytes) noexcept {
    return std::clamp<std::size_t>(payload_bytes, 1, chunk_bytes);
  }
  /// False if the GPU's copies to and from it go through the driver's own staging.
  [[nodiscard]] bool is_pinned() const noexcept { return pinned_; }

  /// Returns the ring to the pool.
  struct GiveBack {
    void operator()(Bounce* bounce) const noexcept;
  };
  using Loan = std::unique_ptr<Bounce, GiveBack>;
  /// Returns null if there is no memory. `context` must be current.
  [[nodiscard]] static Loan take(const ContextRef& context);
  static void drop_idle() noexcept;

 private:
  PinnableMapping memory_;
  bool pinned_ = false;
};

}  // namespace penstock::transports::cuda
