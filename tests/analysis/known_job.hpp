// A job of any size whose report is known in closed form: what each rank waits for, and why, follows from its
// number and the step's alone. Written rank by rank and record by record, so that its size is bounded by the
// disk only. Test only.
//
// Each step is 60 µs. Ranks meet in pairs, which alternate: in step s rank r is the first of its pair if r +
// s is even, and its partner is the next rank, else the one before. Both exchange
//   a host message whose sender comes late; one whose receiver comes late; a device message with a transfer
//   that waits for the GPU, packs and moves; one that is posted early and whose sender returns to MPI late,
// all ranks meet in an MPI_Allreduce to which they come one after the other, and each probes for something
// that is not recorded. Kernels hide a known part of it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "analysis/causes/causes.hpp"

namespace penstock::analysis::testing {

/// What the report must say of a rank. Unit: ns.
struct KnownRank {
  std::uint64_t total_ns = 0;          ///< its steps
  TimeByCause by_cause{};              ///< exposed
  std::uint64_t kernels_ns = 0;        ///< K
  std::uint64_t host_ns = 0;           ///< H
  std::uint64_t communication_ns = 0;  ///< C
  std::uint64_t hidden_ns = 0;         ///< C ∩ K
  std::uint64_t messages = 0;          ///< received
};

class KnownJob {
 public:
  static constexpr std::int32_t most_ranks = 8192;

  /// `ranks`: even, up to most_ranks. `events`: about so many records on each rank, a step's at least.
  KnownJob(std::int32_t ranks, std::uint64_t events);
  [[nodiscard]] std::int32_t ranks() const noexcept { return ranks_; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

  [[nodiscard]] KnownRank answer(std::int32_t rank) const;
  /// Writes `rank-<rank>.penstock` and returns how many records with times are in it. Memory: two blocks.
  std::uint64_t write(std::int32_t rank, const std::filesystem::path& directory) const;

 private:
  [[nodiscard]] std::uint64_t arrival_ns(std::int32_t rank, std::uint64_t step) const noexcept;

  std::int32_t ranks_;
  std::uint64_t steps_;
  std::uint64_t arrival_unit_ns_;  ///< between two ranks that come to the collective one after the other
};

}  // namespace penstock::analysis::testing
