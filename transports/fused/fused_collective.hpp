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

/// This process's vector, and where the result goes, which may be the same place. Else they do not overlap.
/// Both as kernels of the memory's context reach them.
struct FusedVectors {
  const void* own = nullptr;
  void* to = nullptr;
  std::size_t count = 0;  ///< elements, at least 1
  ElementType type = ElementType::int8;
  ReductionOperation operation = ReductionOperation::sum;
  /// `own` has such a vector for each process, in their order, one behind the other; else one for all.
  bool is_for_each = false;
  /// The result is made of the vectors of so many processes, from the first on. 0: there is none.
  std::uint32_t combined = kernels::most_sources;
};

/// The same of blocks: of each process one comes to lie in `to`, in their order, one behind the other. The
/// own one is there already if that is where `own` lies; else they do not overlap.
struct FusedBlocks {
  const void* own = nullptr;
  void* to = nullptr;
  std::size_t bytes = 0;  ///< of a block, at least 1
  /// `own` has a block for each process, in their order; else one for all.
  bool is_for_each = false;
};

/// One process's part in a series of collectives. The processes of the memory begin the same ones, in the
/// same order, each after its last is complete. Vectors are combined in the order of the processes, with the
/// same bits in all. The memory must be open, and outlive this. Thread: one at a time.
class FusedCollective {
 public:
  /// When this process begins a collective: the others are about to, or they may be late, and other kernels
  /// must not wait behind its own.
  enum class Partners : std::uint8_t { have_come, may_be_late };
  enum class Outcome : std::uint8_t {
    pending,
    complete,
    waiting  ///< the kernel has ended without the others' vectors: launch_again()
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
  [[nodiscard]] Status launch(const FusedVectors& vectors, std::uint64_t since_ns = 0) noexcept;
  [[nodiscard]] Status launch(const FusedBlocks& blocks, std::uint64_t since_ns = 0) noexcept;
  /// The same once more, when it is `waiting`.
  [[nodiscard]] Status launch_again() noexcept;
  /// Cost: a load. Errors: as FlaggedLaunch::query's.
  [[nodiscard]] Status query(Outcome& outcome) noexcept;
  [[nodiscard]] std::uint32_t collectives() const noexcept { return stamp_; }

 private:
  /// One of them, as the kernels take it.
  struct Work {
    const void* own = nullptr;
    void* to = nullptr;
    std::size_t count = 0;  ///< elements, or bytes
    std::size_t own_stride = 0;
    std::size_t bytes = 0;  ///< for each process
    std::uint32_t combined = 0;
    cuda::Kernel kernel{};
    std::optional<kernels::StandbyType> standby_type;  ///< none: the kernel that stands by does not know it
    ReductionOperation operation{};
  };
  [[nodiscard]] Status launch_work(std::uint64_t since_ns) noexcept;
  [[nodiscard]] bool order() noexcept;
  [[nodiscard]] Status launch_kernel(bool sends, std::uint64_t since_ns = 0) noexcept;
  [[nodiscard]] Status query_order(Outcome& outcome) noexcept;

  const SymmetricMemory& memory_;
  std::size_t own_process_;
  Partners partners_;
  Work work_;
  std::uint32_t stamp_ = 0;  ///< of the last one
  kernels::FusedRoute route_{};
  const kernels::FusedRoute* route_on_device_ = nullptr;  ///< the same, behind the slots of its own part
  std::unique_ptr<OrderedCollective> ordered_;            ///< under way
  cuda::FlaggedLaunch launch_{"a fused collective that did not raise its flag"};
};

}  // namespace penstock::transports
