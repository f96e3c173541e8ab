// Vectors of several processes combined, or their blocks exchanged, by a kernel in each: a launch and one way
// over the link, and no message. Knows no MPI, nor how the processes came to launch them together.
//
// For processes with a GPU each: where two share one, their kernels do not run side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "transports/cuda/flagged_launch.hpp"
#include "transports/cuda/kernels.hpp"
#include "transports/fused/symmetric_memory.hpp"
#include "transports/kernels/fused_collective.hpp"
#include "transports/reduction/device_reduction.hpp"
#include "transports/small/small_copies.hpp"

namespace penstock::transports {

/// How vectors are combined: in the order of the processes, with the same bits in all.
struct FusedReduction {
  ElementType type = ElementType::int8;
  ReductionOperation operation = ReductionOperation::sum;
  /// The result is made of the vectors of so many processes, from the first on. 0: there is none.
  std::uint32_t combined = kernels::most_sources;
};

/// One process's part in one collective, with memory as kernels of the symmetric memory's context reach it.
struct FusedWork {
  const void* own = nullptr;  ///< what it sends
  /// Where the result goes, which may be `own`; or the blocks from each process, in their order, one behind
  /// the other, of which its own may lie there already. Else they do not overlap. Some memory in any case.
  void* to = nullptr;
  FusedParts parts{};
  std::optional<FusedReduction> reduction;  ///< none: blocks, which are not combined
};

/// To each and from each the same.
[[nodiscard]] FusedParts equal_parts(std::size_t bytes, bool is_for_each) noexcept;

/// One process's part in a series of collectives. The processes of the memory begin the same ones, in the
/// same order, each after its last is complete. The memory must be open, and outlive this. Thread: one at a
/// time.
class FusedCollective {
 public:
  /// When this process begins a collective: the others are about to, or they may be late, and other kernels
  /// must not wait behind its own.
  enum class Partners : std::uint8_t { have_come, may_be_late };
  enum class Outcome : std::uint8_t {
    pending,
    complete,
    waiting,    ///< the kernel has ended without the others' parts: launch_again()
    mismatched  ///< over: somebody has sent more or less than is expected, so that not all is there
  };

  /// The most processes, and the largest vector or block that they can exchange in memory of `bytes` each.
  static constexpr std::size_t most_processes = kernels::most_sources;
  [[nodiscard]] static std::size_t largest_vector(std::size_t memory_bytes, std::size_t processes) noexcept;
  /// After so many, stamps come again: new memory is needed, unless all are of the same bytes, of which each
  /// overwrites all stamps of the last but one.
  static constexpr std::uint32_t most_collectives = UINT32_MAX;
  /// Memory for vectors or blocks of so many bytes.
  [[nodiscard]] static std::size_t memory_for(std::size_t bytes, std::size_t processes) noexcept;

  /// Waits for a copy to its part of the memory. Where that fails, no kernel stands by for it.
  FusedCollective(const SymmetricMemory& memory, std::size_t own_process,
                  Partners partners = Partners::have_come) noexcept;

  /// Tells a kernel that stands by, or queues one on a stream of Penstock's, and returns. What the
  /// application has queued is not waited for, unless `since_ns` is set: then the kernel comes after what was
  /// queued then. Errors: the driver's refusal, or out_of_memory where no flag is free: this process's part
  /// is missing then, and the others wait for it in vain.
  [[nodiscard]] Status launch(const FusedWork& work, std::uint64_t since_ns = 0) noexcept;
  /// The same once more, when it is `waiting`.
  [[nodiscard]] Status launch_again() noexcept;
  /// Cost: a load. Errors: as FlaggedLaunch::query's.
  [[nodiscard]] Status query(Outcome& outcome) noexcept;
  [[nodiscard]] std::uint32_t collectives() const noexcept { return stamp_; }

 private:
  [[nodiscard]] bool order() noexcept;
  [[nodiscard]] Status launch_kernel(bool sends, std::uint64_t since_ns = 0) noexcept;
  [[nodiscard]] Status query_order(Outcome& outcome) noexcept;

  const SymmetricMemory& memory_;
  std::size_t own_process_;
  Partners partners_;
  FusedWork work_;
  std::uint64_t largest_ = 0;  ///< of its parts, bytes
  std::uint32_t stamp_ = 0;    ///< of the last one
  kernels::FusedRoute route_{};
  const kernels::FusedRoute* route_on_device_ = nullptr;  ///< the same, behind the slots of its own part
  std::unique_ptr<OrderedCollective> ordered_;            ///< under way
  cuda::FlaggedLaunch launch_{"a fused collective that did not raise its flag"};
};

}  // namespace penstock::transports
