// The part of a report about each rank, and about what its recording lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/causes/cause.hpp"
#include "analysis/report/part_figures.hpp"
#include "analysis/report/thread_figures.hpp"

namespace penstock::analysis {

struct RankFigures {
  std::int32_t rank = 0;
  std::string host;
  bool finished = false;  ///< reached MPI_Finalize
  bool used_gpu = false;
  bool kernels_known = false;          ///< false: figures that need K must not be shown
  bool launches_known = true;          ///< when its kernels were launched; false: not, as in older recordings
  std::uint64_t run_ns = 0;            ///< MPI_Init to MPI_Finalize, or to the last record
  std::uint64_t recorded_ns = 0;       ///< of run_ns, until its own records begin to be missing
  std::uint64_t known_ns = 0;          ///< of run_ns, until those of any rank do
  std::uint64_t recorded_from_ns = 0;  ///< of run_ns, since which its own records are there
  std::uint64_t known_from_ns = 0;     ///< of run_ns, since which those of all ranks are
  bool ends_early = false;             ///< it ran longer than known_ns
  bool is_of_window = false;           ///< lacks only what was not to be recorded, as far as its own go
  bool awaits_window = false;          ///< the window that was to be recorded never began
  std::uint64_t total_ns = 0;          ///< the part that the figures below cover: all steps, or the
                                       ///< whole run
  std::uint64_t kernels_ns = 0;        ///< K
  std::uint64_t host_ns = 0;           ///< H
  std::uint64_t in_flight_ns = 0;      ///< R
  std::uint64_t communication_ns = 0;  ///< C = H ∪ R
  std::uint64_t exposed_ns = 0;        ///< H \ K
  std::uint64_t upper_bound_ns = 0;    ///< C \ K
  std::uint64_t hidden_ns = 0;         ///< C ∩ K
  std::uint64_t cuda_synchronisation_ns = 0;  ///< host in CUDA synchronisation calls of the application
  std::uint64_t computing_ns =
      0;  ///< its GPU computes, or its host is in neither MPI nor CUDA synchronisation
  std::uint64_t gpu_busy_ns = 0;  ///< kernels and copies, the application's and others
  bool is_counted = false;        ///< this rank is part of the report's sums
  bool lacks_steps = false;       ///< it is not, as it has no step
  std::uint64_t counted_ns = 0;   ///< exposed_ns or host_ns, by the report's measure
  TimeByCause by_cause{};         ///< sums to counted_ns
  TimeByCause within_error{};
  std::optional<TimeByPart> parts;  ///< sums to total_ns; none: not counted, or not known; of the finished
                                    ///< report only, so not exchanged
  std::uint64_t records = 0;
  std::uint64_t dropped_records = 0;
  std::uint64_t dropped_gpu_records = 0;
  std::optional<std::uint64_t> start_cost_ns;   ///< of recording, before the first event; none in older or
                                                ///< unfinished recordings
  std::optional<std::uint64_t> finish_cost_ns;  ///< after the last event; likewise
  std::optional<std::uint64_t> own_cost_ns;     ///< of recording; known if the rank finished
  std::optional<std::uint64_t>
      clock_error_ns;                  ///< of GPU timestamps; none if there is no GPU or it is unknown
  std::vector<ThreadFigures> threads;  ///< by number; none: fewer than two communicate. Added last

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(rank, host, finished, used_gpu, kernels_known, launches_known, run_ns, recorded_ns, known_ns,
            recorded_from_ns, known_from_ns, ends_early, is_of_window, awaits_window, total_ns, kernels_ns,
            host_ns, in_flight_ns, communication_ns, exposed_ns, upper_bound_ns, hidden_ns,
            cuda_synchronisation_ns, computing_ns, gpu_busy_ns, is_counted, lacks_steps, counted_ns, by_cause,
            within_error, records, dropped_records, dropped_gpu_records, start_cost_ns, finish_cost_ns,
            own_cost_ns, clock_error_ns);
  }
};

/// The part of a job that is known where records were dropped for want of space, the oldest were overwritten,
/// or only a window was to be recorded.
struct RecordedPart {
  std::uint64_t from_ns = 0;      ///< since the job's begin; 0: from there on
  std::uint64_t recorded_ns = 0;  ///< where it ends, since the job's begin
  std::uint64_t run_ns = 0;       ///< of the rank that ran longest
  bool ends_early = false;        ///< the run goes on where it ends
  bool finished = true;           ///< false: the end of the run is not known either
  std::int32_t first_rank = -1;   ///< whose records end first; -1: it is not in the report
  std::int32_t last_rank = -1;    ///< whose records begin last; likewise
  /// All ranks lack only what was not to be recorded: of the window, everything is known.
  bool is_window = false;
  std::int32_t awaiting_rank = -1;  ///< on which the window never began; -1: on none

  [[nodiscard]] bool lacks_begin() const noexcept { return from_ns != 0; }
  [[nodiscard]] bool lacks_end() const noexcept { return !finished || ends_early; }
};

struct NoticeFigures {
  std::string text;
  std::uint64_t ranks = 0;
  std::int32_t first_rank = 0;

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(text, ranks, first_rank);
  }
};

}  // namespace penstock::analysis
