// The vectors of a reduction that the GPU does, as all its ranks know them. This header knows no algorithm.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "interpose/collectives/schedules/collective_blocks.hpp"
#include "interpose/collectives/schedules/reduction_kind.hpp"

namespace penstock::interpose {

/// The facts that follow from the call's arguments, so that ranks know them without a message. A value.
struct ReductionShape {
  ReductionKind kind{};
  int rank = 0;   ///< among those that take part
  int ranks = 0;  ///< that take part
  /// The ranks of the communicator that take part; null: all of them.
  std::shared_ptr<const std::vector<int>> group;

  /// Returns the same among some of them, of which this rank is the `own`-th.
  [[nodiscard]] ReductionShape among(std::vector<int> members, std::size_t own) const {
    const auto count = static_cast<int>(members.size());
    return {kind, static_cast<int>(own), count, std::make_shared<const std::vector<int>>(std::move(members))};
  }
  /// Returns the rank in the communicator of one that takes part.
  [[nodiscard]] int peer(int index) const noexcept {
    return group == nullptr ? index : (*group)[static_cast<std::size_t>(index)];
  }

  /// Aligns what lies one behind the other, so that kernels can load whole vectors.
  static constexpr std::size_t alignment_bytes = 16;

  [[nodiscard]] std::size_t element_bytes() const noexcept { return transports::bytes_of(kind.type); }
  /// Returns a message of that many elements, from element `first` on, into memory where gaps do not matter.
  [[nodiscard]] BlockPlace block(std::size_t elements, std::size_t first = 0) const noexcept {
    return {static_cast<MPI_Count>(elements * element_bytes() - kind.last_gap_bytes), MPI_BYTE,
            static_cast<std::ptrdiff_t>(first * element_bytes())};
  }
  /// The same into the user's memory, where gaps keep their bytes.
  [[nodiscard]] BlockPlace block_without_gaps(std::size_t elements, std::size_t first = 0) const noexcept {
    if (kind.pairs == MPI_DATATYPE_NULL) return block(elements, first);
    return {static_cast<MPI_Count>(elements), kind.pairs,
            static_cast<std::ptrdiff_t>(first * element_bytes())};
  }
  /// Returns the memory for a message of that many elements.
  [[nodiscard]] std::size_t slot_bytes(std::size_t elements) const noexcept {
    return (elements * element_bytes() + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  }
  /// Returns the most elements, at least one, that fit into `bytes` and leave what follows them aligned.
  [[nodiscard]] std::size_t elements_within(std::size_t bytes) const noexcept {
    return (bytes < alignment_bytes ? alignment_bytes : bytes / alignment_bytes * alignment_bytes) /
           element_bytes();
  }
};

}  // namespace penstock::interpose
