// A kernel in each of several processes combines their vectors, or exchanges their blocks: one launch and one
// way over the link, and no message. This header knows no MPI, nor how the processes agreed to launch them
// together.
//
// For processes with a GPU each: if two share one, their kernels do not run side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "transports/cuda/flagged_launch.hpp"
#include "transports/cuda/kernels.hpp"
#include "transports/kernels/one_shot_collective.hpp"
#include "transports/one_shot/symmetric_memory.hpp"
#include "transports/reduction/device_reduction.hpp"
#include "transports/small/resident.hpp"

namespace penstock::transports {

/// Combines vectors in the order of the processes, with the same bits in all.
struct OneShotReduction {
  ElementType type = ElementType::int8;
  ReductionOperation operation = ReductionOperation::sum;
  /// The result combines the vectors of that many processes, from the first on. 0: there is no result.
  std::uint32_t combined = kernels::most_sources;
};

/// One process's part in one collective, in memory as kernels of the symmetric memory's context reach it.
struct OneShotWork {
  const void* own = nullptr;  ///< what this process sends
  /// The destination of the result, which may be `own`; or of the blocks from each process, in their order,
  /// one behind the other. `to` and `own` must not overlap then, except that the process's own block may
  /// already be in place. Never null.
  void* to = nullptr;
  OneShotParts parts{};
  std::optional<OneShotReduction> reduction;  ///< none: blocks, which are not combined
};

/// Returns parts of equal size to each and from each.
[[nodiscard]] OneShotParts equal_parts(std::size_t bytes, bool is_for_each) noexcept;

/// One process's part in a series of collectives. The processes of the memory begin the same collectives, in
/// the same order, each after its last is complete. The memory must be open, and outlive this object. Thread:
/// one at a time.
class OneShotCollective {
 public:
  /// The other processes when this one begins a collective: they are about to begin it, or they may be late,
  /// and then other kernels must not wait behind this one.
  enum class Partners : std::uint8_t { have_come, may_be_late };
  enum class Outcome : std::uint8_t {
    pending,
    complete,
    waiting,    ///< the kernel has ended without the others' parts: launch_again()
    mismatched  ///< complete, but some process has sent more or less than expected, so the result is not
                ///< whole
  };

  /// The most processes, and the largest vector or block that they can exchange in memory of `memory_bytes`
  /// each.
  static constexpr std::size_t most_processes = kernels::most_sources;
  [[nodiscard]] static std::size_t largest_vector(std::size_t memory_bytes, std::size_t processes) noexcept;
  /// After that many, stamps repeat: new memory is needed, unless all collectives have the same size, so that
  /// each overwrites all stamps of the last but one.
  static constexpr std::uint32_t most_collectives = UINT32_MAX;
  /// Returns the memory for vectors or blocks of that many bytes.
  [[nodiscard]] static std::size_t memory_for(std::size_t bytes, std::size_t processes) noexcept;

  /// Waits for a copy to its part of the memory. If that fails, the resident kernel does not serve it.
  OneShotCollective(const SymmetricMemory& memory, std::size_t own_process,
                    Partners partners = Partners::have_come) noexcept;

  /// Orders the collective from the resident kernel, or queues a kernel on a stream of Penstock's, and
  /// returns. Does not wait for what the application has queued, unless `since_ns` is set: then the kernel
  /// runs after what was queued at that time. Errors: the driver's refusal, or out_of_memory if no flag is
  /// free: then this process's part is missing, and the others wait for it in vain.
  [[nodiscard]] Status launch(const OneShotWork& work, std::uint64_t since_ns = 0) noexcept;
  /// Launches it once more, when it is `waiting`.
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
  OneShotWork work_;
  std::uint64_t largest_ = 0;  ///< of its parts, bytes
  std::uint32_t stamp_ = 0;    ///< of the last collective
  kernels::OneShotRoute route_{};
  const kernels::OneShotRoute* route_on_device_ = nullptr;  ///< a copy, behind the slots of its own part
  std::unique_ptr<OrderedCollective> ordered_;              ///< in flight
  cuda::FlaggedLaunch launch_{"the kernel of a collective, which did not signal its end,"};
};

}  // namespace penstock::transports
