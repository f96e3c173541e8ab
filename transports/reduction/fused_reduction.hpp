// Vectors of several processes combined by a kernel in each, which exchange them as they go: a launch and one
// way over the link, and no message. Knows no MPI, nor how the processes came to launch them together.
//
// For processes with a GPU each: where two share one, their kernels do not run side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "transports/cuda/flagged_launch.hpp"
#include "transports/kernels/fused_reduction.hpp"
#include "transports/reduction/device_reduction.hpp"
#include "transports/reduction/symmetric_memory.hpp"
#include "transports/small/small_copies.hpp"

namespace penstock::transports {

/// This process's vector, and where the result goes, which may be the same place. Else they do not overlap.
/// Both as kernels of the memory's context reach them.
struct FusedVectors {
  const void* own = nullptr;
  void* to = nullptr;
  std::size_t count = 0;  ///< elements, at least 1
  ElementType type = ElementType::int8;
  ReductionOperation operation = ReductionOperation::sum;
};

/// One process's part in a series of reductions. The processes of the memory begin the same ones, in the same
/// order, each after its last is complete. Every result is combined in the order of the processes, with the
/// same bits in all. The memory must be open, and outlive this. Thread: one at a time.
class FusedReduction {
 public:
  enum class Outcome : std::uint8_t {
    pending,
    complete,
    waiting  ///< the kernel has ended without the others' vectors: launch_again()
  };

  /// The most processes, and the largest vector that they can combine in memory of `bytes` each.
  static constexpr std::size_t most_processes = kernels::most_sources;
  [[nodiscard]] static std::size_t largest_vector(std::size_t memory_bytes, std::size_t processes) noexcept;
  /// After so many, new memory is needed: stamps would come again.
  static constexpr std::uint32_t most_reductions = UINT32_MAX;

  /// Waits for a copy to its part of the memory. Where that fails, no kernel stands by for it.
  FusedReduction(const SymmetricMemory& memory, std::size_t own_process) noexcept;

  /// Tells a kernel that stands by, or queues one on a stream of Penstock's, and returns; what the
  /// application has queued is not waited for. Errors: the driver's refusal, or out_of_memory where no flag
  /// is free: this process's part is missing then, and the others wait for it in vain.
  [[nodiscard]] Status launch(const FusedVectors& vectors) noexcept;
  /// The same reduction once more, when it is `waiting`.
  [[nodiscard]] Status launch_again() noexcept;
  /// Cost: a load. Errors: as FlaggedLaunch::query's.
  [[nodiscard]] Status query(Outcome& outcome) noexcept;
  [[nodiscard]] std::uint32_t reductions() const noexcept { return stamp_; }

 private:
  [[nodiscard]] bool order(kernels::StandbyType type) noexcept;
  [[nodiscard]] Status launch_kernel(bool sends) noexcept;
  [[nodiscard]] Status query_order(Outcome& outcome) noexcept;

  const SymmetricMemory& memory_;
  std::size_t own_process_;
  FusedVectors vectors_;
  std::uint32_t stamp_ = 0;  ///< of the last reduction
  kernels::FusedRoute route_{};
  const kernels::FusedRoute* route_on_device_ = nullptr;  ///< the same, behind the slots of its own part
  std::unique_ptr<OrderedReduction> ordered_;             ///< under way
  cuda::FlaggedLaunch launch_{"a fused reduction that did not raise its flag"};
};

}  // namespace penstock::transports
