// Reductions of vectors in device memory: messages bring the other ranks' parts into memory of Penstock's
// own, and a kernel combines them. Knows the algorithms, not which MPI call asks for them.
//
// The order in which elements are combined is that of the ranks; with more than eight ranks the rank that
// combines an element comes first. So the bits are the same from run to run, and on all ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "interpose/calls/call_scope.hpp"
#include "interpose/collectives/reduction_kind.hpp"
#include "transports/device_memory/relay_memory.hpp"
#include "transports/host/status.hpp"

namespace penstock::interpose {

/// Elements of a vector.
struct ElementRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// What the ranks of a reduction agree on without a word, as it follows from the call's arguments.
struct ReductionShape {
  ReductionKind kind;
  int rank = 0;
  int ranks = 0;

  [[nodiscard]] std::size_t element_bytes() const noexcept { return transports::bytes_of(kind.type); }
  /// Of one of the pieces in which a range of `largest` elements is combined, and the memory that it takes.
  [[nodiscard]] std::size_t piece_elements(std::size_t largest) const noexcept;
  [[nodiscard]] std::size_t slot_bytes(std::size_t piece) const noexcept;
};

/// What a rank that combines needs: the context of its buffers, and memory for the others' parts. Made before
/// the ranks agree, as it may be refused. Owns: the memory.
class ReductionWorkplace {
 public:
  /// None: the buffers are of different contexts or not the GPU's, no kernels, no memory. `largest`: elements
  /// of the largest range that is combined at a time.
  [[nodiscard]] static std::optional<ReductionWorkplace> make(const ReductionShape& shape, const void* own,
                                                              const void* result, std::size_t largest);

  [[nodiscard]] const transports::cuda::ContextRef& context() const noexcept { return context_; }
  [[nodiscard]] std::byte* memory() const noexcept {
    return static_cast<std::byte*>(memory_.buffer().pointer);
  }

 private:
  transports::cuda::ContextRef context_;
  transports::cuda::RelaySlice memory_;
};

/// One reduction, of vectors of `MPI_BYTE`s on the communicator `messages`. `own` is this rank's vector.
/// Thread: one. Errors: a code that has not been raised, or a status.
class ReductionExchange {
 public:
  ReductionExchange(const CallScope& scope, MPI_Comm messages, const ReductionShape& shape) noexcept
      : scope_(scope), messages_(messages), shape_(shape) {}

  /// All vectors, combined, to all ranks. `result` may be `own`.
  void all_to_all(ReductionWorkplace& place, const void* own, void* result, std::size_t count);
  /// To the root only; `place` and `result` are its alone. `result` may be `own`.
  void all_to_root(ReductionWorkplace* place, const void* own, void* result, std::size_t count, int root);
  /// Of each rank's range, to that rank. `result` holds this rank's range and nothing else, and is not in
  /// `own`.
  void scatter(ReductionWorkplace& place, const void* own, void* result,
               std::span<const ElementRange> ranges);

  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] const Status& status() const noexcept { return status_; }

  /// Elements that a rank must have room for at a time.
  [[nodiscard]] static std::size_t largest_at_a_time(const ReductionShape& shape, std::size_t count);

 private:
  class Pieces;

  void in_one_step(ReductionWorkplace& place, const void* own, void* result, std::size_t count);
  void gather_ranges(void* result, std::span<const ElementRange> ranges);
  [[nodiscard]] bool is_well() const noexcept { return code_ == MPI_SUCCESS && status_.ok(); }
  void note(int code) noexcept {
    if (code_ == MPI_SUCCESS) code_ = code;
  }
  void note(const Status& status) noexcept {
    if (status_.ok()) status_ = status;
  }

  const CallScope& scope_;
  MPI_Comm messages_;
  ReductionShape shape_;
  int code_ = MPI_SUCCESS;
  Status status_;
};

}  // namespace penstock::interpose
