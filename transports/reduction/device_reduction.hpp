// A kernel combines vectors in a GPU's reach element by element. This header knows no MPI, nor where the
// vectors come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "transports/cuda/context.hpp"
#include "transports/cuda/flagged_launch.hpp"
#include "transports/kernels/reduction.hpp"

namespace penstock::transports {

using kernels::ReductionOperation;

/// The elements that the kernels know, by the name of their kernel.
enum class ElementType : std::uint8_t {
#define PENSTOCK_ROW(name, Type) name,
  PENSTOCK_REDUCED_TYPES(PENSTOCK_ROW)
#undef PENSTOCK_ROW
};
[[nodiscard]] std::size_t bytes_of(ElementType type) noexcept;
/// Returns whether a kernel knows the operation. Integers have all operations but those on pairs, which have
/// no others; real numbers have neither logical nor bitwise operations, and complex ones sum and product
/// only.
[[nodiscard]] bool is_defined(ReductionOperation operation, ElementType type) noexcept;

/// to[i] = sources[0][i] ∘ sources[1][i] ∘ …, from left to right: the same bits whenever the sources are the
/// same. The gaps of pairs keep their bytes. At least one source. `to` may be one of the first eight;
/// otherwise the vectors must not overlap. Addresses are those of the context's kernels; fastest if all are
/// aligned to 16 bytes.
struct VectorReduction {
  void* to = nullptr;
  std::span<const void* const> sources;
  std::size_t count = 0;  ///< elements
  ElementType type = ElementType::int8;
  ReductionOperation operation = ReductionOperation::sum;
};

/// One launch() at a time. The caller owns the vectors, which must stay until the launch is done; the
/// destructor waits for that. Thread: one at a time. Errors: the driver's refusal; the result is undefined
/// then.
class DeviceReduction {
 public:
  explicit DeviceReduction(cuda::ContextRef context) noexcept : context_(std::move(context)) {}

  /// Queues the reduction on a stream of Penstock's, behind the last one, and returns. Does not wait for what
  /// the application has queued. Cost: a launch for each eight sources.
  [[nodiscard]] Status launch(const VectorReduction& reduction) noexcept {
    return launch_in_turn({&reduction, 1});
  }
  /// Queues several, each after the one before, whose result it may read.
  [[nodiscard]] Status launch_in_turn(std::span<const VectorReduction> reductions) noexcept;
  /// As FlaggedLaunch's.
  [[nodiscard]] Status query(bool& done) noexcept { return launch_.query(done); }
  [[nodiscard]] Status wait() noexcept { return launch_.wait(); }

 private:
  cuda::ContextRef context_;
  cuda::FlaggedLaunch launch_{"a reduction kernel, which did not signal its end,"};
};

}  // namespace penstock::transports
