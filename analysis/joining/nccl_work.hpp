// Finds, within one rank, which kernels each call of NCCL issued, and names what other ranks do with it. Must
// not know other ranks.
//
//   a call by itself    the kernels that its thread launched while it was in it
//   calls in a group    those that the thread launched in the ncclGroupEnd behind them
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/recording/nccl_names.hpp"
#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis {

/// A call of NCCL that moves something.
struct NcclCallFacts {
  std::uint32_t call;  ///< in RankTrace::nccl_calls
  NcclKind kind;
  bool sends = false;         ///< it is ncclSend
  bool is_root = false;       ///< this rank is
  std::uint64_t meeting = 0;  ///< what all that take part call it; 0: not known, or nobody else does
  std::uint32_t ordinal = 0;  ///< of the meeting
  std::int32_t expected = 0;  ///< ranks that take part; 0: all that made the communicator
  std::uint64_t made = 0;     ///< what those call the communicator
};

/// A kernel of NCCL.
struct NcclKernelFacts {
  std::uint32_t kernel;          ///< in RankTrace::kernels
  NcclKind kind;                 ///< of its calls or, if they are not known, by its name
  std::uint32_t first_call = 0;  ///< in NcclWork::calls
  std::uint32_t calls = 0;       ///< 0: not known
};

/// A communicator that this process made.
struct NcclCommunicatorFacts {
  std::uint64_t made = 0;  ///< what all ranks call it that made it; 0: the process has several of its GPUs
  std::int32_t ranks = 0;  ///< 0: not told
  std::int32_t rank = -1;  ///< -1: not told
  std::uint64_t at_ns = 0;
};

struct NcclWork {
  std::unordered_map<std::uint64_t, NcclCommunicatorFacts> communicators;  ///< by NCCL's hash
  std::vector<NcclCallFacts> calls;  ///< those of a kernel lie beside each other
  std::vector<NcclKernelFacts> kernels;
  std::vector<NcclCallFacts> without_kernel;  ///< calls whose kernel is not known, or that need none

  [[nodiscard]] std::span<const NcclCallFacts> calls_of(const NcclKernelFacts& kernel) const {
    return std::span(calls).subspan(kernel.first_call, kernel.calls);
  }
};

[[nodiscard]] NcclWork nccl_work_of(const RankTrace& rank);

}  // namespace penstock::analysis
