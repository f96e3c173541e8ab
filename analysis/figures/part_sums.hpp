// Divides each rank's time, and each step's, into parts that add up to the nanosecond
// (report/part_figures.hpp has them in order of precedence). What no record tells of, such as the
// host's side of copies, is host code; older recordings do not tell of launches, either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"
#include "analysis/figures/places.hpp"
#include "analysis/tables/id_table.hpp"

namespace penstock::analysis {

/// Must be finished behind the figures of ranks and steps, which know the causes. Thread: one at a time.
/// Memory: 136 bytes a step, 144 a rank.
class PartSums {
 public:
  explicit PartSums(const FigureContext& context)
      : choice_(context.choice.measure),
        mark_(context.mark),
        host_code_(context.strings),
        other_copies_(context.strings),
        kernel_launch_(context.strings),
        cuda_synchronisation_(context.strings) {}
  void add(const WaitInput& wait);
  void add(const RankInput& rank);
  void merge(PartSums&& part, const Renumbering& numbers);
  auto members() {
    return std::tie(ranks_, steps_, ranks_on_gpus_, host_code_, other_copies_, kernel_launch_,
                    cuda_synchronisation_);
  }
  void finish(Report& report, SiteNames& names);

 private:
  /// Parts but for those by cause, which others sum up.
  struct Sums {
    TimeByPart parts{};
    std::uint64_t unattributed_in_files_ns = 0;  ///< that is told apart from the cause
  };
  struct OfRank {
    std::int32_t rank;
    Sums sums;
  };
  [[nodiscard]] static TimeByPart parts_of(const Sums& sums, const TimeByCause& by_cause);
  [[nodiscard]] bool is_in_files(const RankTrace& rank, const trace::MpiCall& call);

  Measure choice_;
  const std::optional<StepMark>& mark_;
  IdTable<bool> is_file_call_;        ///< by the name's number in the rank that is being fed
  std::vector<Interval> file_waits_;  ///< of the rank that is being fed
  std::vector<OfRank> ranks_;         ///< that are counted
  std::vector<Sums> steps_;
  std::uint64_t ranks_on_gpus_ = 0;
  PlaceSums host_code_;
  PlaceSums other_copies_;
  PlaceSums kernel_launch_;
  PlaceSums cuda_synchronisation_;
};

}  // namespace penstock::analysis
