// The result of an analysis as plain data, from which text, JSON and page are made; each part has a header of
// its own. Must not know how it is computed or printed. Unit: ns and bytes throughout; sums are exact.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/causes/cause.hpp"
#include "analysis/recording/flaw.hpp"
#include "analysis/report/advice_figures.hpp"
#include "analysis/report/collective_figures.hpp"
#include "analysis/report/gpu_power_figures.hpp"
#include "analysis/report/kernel_figures.hpp"
#include "analysis/report/measure.hpp"
#include "analysis/report/message_figures.hpp"
#include "analysis/report/nccl_figures.hpp"
#include "analysis/report/network_figures.hpp"
#include "analysis/report/part_figures.hpp"
#include "analysis/report/placement_figures.hpp"
#include "analysis/report/rank_figures.hpp"
#include "analysis/report/replay_figures.hpp"
#include "analysis/report/run_facts.hpp"
#include "analysis/report/step_figures.hpp"
#include "analysis/report/unfinished_figures.hpp"
#include "analysis/report/wait_figures.hpp"

namespace penstock::analysis {

struct Report {
  std::string program;
  std::string mpi_version;
  std::vector<std::string> hosts;
  std::vector<std::string> devices;
  std::int32_t world_size = 0;
  std::uint64_t began_realtime_ns = 0;
  std::int64_t first_process_id = 0;  ///< of the first rank, on the first host
  bool simulated_gpu = false;
  RunFacts facts;

  Measure measure = Measure::exposed_communication;
  std::string why_not_exposed;  ///< empty for exposed_communication
  /// None: nothing is missing. Else all figures are of the part in which no rank lacks records.
  std::optional<RecordedPart> recorded_part;
  /// None: each rank that has a recording reached MPI_Finalize. Else what the ranks were, or are, in.
  std::optional<UnfinishedFigures> unfinished;
  std::uint64_t counted_ranks = 0;
  std::optional<StepsFigures> steps;  ///< none: no steps were found, and the whole run is counted
  bool is_whole_run = false;          ///< it was to be counted, so that no steps were looked for
  std::string missing_step;           ///< the NVTX range that was asked for as the step, if there is none
  std::uint64_t total_ns = 0;         ///< of the counted ranks: their steps, or their runs
  std::uint64_t counted_ns = 0;       ///< likewise; every breakdown except by phase sums to it
  TimeByCause by_cause{};
  TimeByCause within_error{};
  std::optional<TimeByPart> parts;        ///< sums to total_ns; none: the GPU's kernels are not known
  bool one_clock = true;                  ///< all ranks ran on one host
  std::size_t aligned_hosts = 0;          ///< if false: the number of hosts whose clocks could be aligned
  std::uint64_t host_clock_error_ns = 0;  ///< the largest error of these clocks
  std::uint64_t unmatched_halves = 0;

  std::vector<Advice> advice;  ///< by saves_ns
  std::optional<ReplayFigures> replay;
  std::string why_no_replay;  ///< empty if there is one

  // Each list is sorted by counted_ns, largest first, unless its comment differs.
  std::vector<CallSiteFigures> call_sites;
  std::vector<CallPathFigures> call_paths;
  std::vector<PeerFigures> peers;
  std::vector<CommunicatorFigures> communicators;
  std::vector<FunctionFigures> functions;
  std::vector<KernelFigures> kernels;             ///< by exposed_after_ns, then hides_ns
  std::vector<CollectiveFigures> collectives;     ///< by waiting and moving
  std::vector<LateRankFigures> late_ranks;        ///< by late_ns
  std::vector<LatecomerFigures> latecomers;       ///< by late_ns
  std::optional<NcclFigures> nccl;                ///< none: NCCL was not used
  std::vector<HandStagingFigures> hand_staging;   ///< by copies_ns
  std::vector<LateReceiveFigures> late_receives;  ///< by hides_ns
  std::vector<LongWaitFigures> longest_waits;     ///< by counted_ns
  std::vector<PlaceFigures> host_code;            ///< by time_ns, like the three below
  std::vector<PlaceFigures> other_copies;
  std::vector<PlaceFigures> kernel_launch;
  std::vector<PlaceFigures> cuda_synchronisation;
  std::vector<GapFigures> gaps;  ///< sums to the unattributed time
  std::vector<PhaseFigures> phases;
  std::vector<TransportFigures> transports;  ///< by bytes
  std::optional<MatrixFigures> matrix;       ///< none: no messages
  std::vector<RankFigures> ranks;            ///< by rank
  std::vector<PlacementFigures> placement;   ///< by rank; empty: an older recording
  std::vector<GpuPowerFigures> gpu_power;    ///< by first rank; empty: not recorded
  std::vector<NetworkFigures> network;       ///< by kind; empty: not known
  std::vector<std::string> rebuilt_modules;  ///< whose functions are not named; their flaws say so, too
  bool tells_lines = true;                   ///< false: this build lacks what that takes; a flaw says so
  std::vector<NoticeFigures> notices;
  std::vector<Flaw> flaws;
};

/// Returns true if CUPTI lost records of a counted rank's GPU: kernels, copies or waits for it may be
/// missing.
[[nodiscard]] inline bool lost_gpu_records(const Report& report) noexcept {
  return std::any_of(report.ranks.begin(), report.ranks.end(), [](const RankFigures& rank) {
    return rank.is_counted && rank.dropped_gpu_records != 0;
  });
}

/// Returns true if it is not recorded of some kernels when they were launched. Host code and CUDA
/// synchronisation then have what belongs to kernel launches.
[[nodiscard]] inline bool lacks_launch_times(const Report& report) noexcept {
  return std::any_of(report.ranks.begin(), report.ranks.end(), [](const RankFigures& rank) {
    return rank.is_counted && rank.kernels_known && !rank.launches_known;
  });
}
[[nodiscard]] constexpr bool depends_on_launch_times(TimePart part) noexcept {
  return part == TimePart::kernel_launch || part == TimePart::host_code ||
         part == TimePart::cuda_synchronisation;
}

/// Returns where the time of a part is spent; empty: the part has no places of its own, or no time.
[[nodiscard]] inline std::span<const PlaceFigures> places_of(const Report& report, TimePart part) noexcept {
  switch (part) {
    case TimePart::host_code:
      return report.host_code;
    case TimePart::other_copies:
      return report.other_copies;
    case TimePart::kernel_launch:
      return report.kernel_launch;
    case TimePart::cuda_synchronisation:
      return report.cuda_synchronisation;
    default:
      return {};
  }
}

[[nodiscard]] inline bool has_steps(const Report& report) noexcept {
  return report.steps && !report.steps->each.empty();
}

/// Returns true if `counted` is exposed communication, false if it is the time in communicating calls.
[[nodiscard]] inline bool counts_exposed(const Report& report) noexcept {
  return report.measure == Measure::exposed_communication;
}
/// Returns all communication that counts, as the table of parts has it: without files.
[[nodiscard]] inline std::uint64_t communication_ns(const Report& report) noexcept {
  return counts_exposed(report) && report.parts ? exposed_in(*report.parts) : report.counted_ns;
}

}  // namespace penstock::analysis
