// The part of a report about NCCL: what its calls took on the GPUs, and who came late to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace penstock::analysis {

/// Calls and kernels of one kind. Sums over the counted ranks, in what is counted.
struct NcclKindFigures {
  std::string kind;  ///< "AllReduce"
  std::uint64_t calls = 0;
  std::uint64_t calls_without_bytes = 0;  ///< NCCL did not tell them
  std::uint64_t bytes = 0;  ///< of the other calls, as NCCL tells them: count times size of the type
  std::uint64_t kernels = 0;
  std::uint64_t joined_kernels = 0;  ///< those of which it is known when all ranks' kernels began
  std::uint64_t kernel_ns = 0;
  std::uint64_t exposed_ns = 0;          ///< the part in which no kernel of the program ran
  std::uint64_t waiting_ns = 0;          ///< the part in which other ranks' kernels had not begun
  std::uint64_t exposed_waiting_ns = 0;  ///< of both
  std::uint64_t waiting_within_error_ns = 0;
  std::optional<double>
      median_gbps;  ///< bytes through a GPU's link, by the time from the last rank's begin on
};

/// A rank whose kernels of one kind others' waited for, and what it did meanwhile.
struct NcclLateFigures {
  std::int32_t rank = -1;
  std::string kind;
  std::uint64_t times = 0;
  std::uint64_t late_ns = 0;        ///< from the first rank's kernel to its own
  std::uint64_t in_kernels_ns = 0;  ///< the part in which its GPU computed
  std::uint64_t in_mpi_ns = 0;      ///< the part in which it was in MPI and its GPU did not compute
  std::string main_kernel;          ///< that ran for most of it; empty: none
  std::uint64_t within_error_ns = 0;
};

struct NcclFigures {
  std::vector<NcclKindFigures> kinds;     ///< by exposed_ns, then kernel_ns, then kind
  std::vector<NcclLateFigures> late;      ///< by late_ns
  std::uint64_t ranks_without_calls = 0;  ///< that ran kernels of NCCL, which told nothing of its calls
};

/// Returns what is not known of NCCL, and why, a sentence each.
[[nodiscard]] std::vector<std::string> unknowns_of(const NcclFigures& nccl);

}  // namespace penstock::analysis
