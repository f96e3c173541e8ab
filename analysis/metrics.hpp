// Adds up what timelines and causes say of each rank into a report: by cause, call site, peer, communicator,
// function, phase and transport. Knows no files and no text.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/call_sites.hpp"
#include "analysis/causes.hpp"
#include "analysis/collective_sums.hpp"
#include "analysis/hand_staging.hpp"
#include "analysis/job_axis.hpp"
#include "analysis/kernel_sums.hpp"
#include "analysis/late_receives.hpp"
#include "analysis/longest_waits.hpp"
#include "analysis/message_matrix.hpp"
#include "analysis/messages.hpp"
#include "analysis/rank_trace.hpp"
#include "analysis/replay/replay_graph.hpp"
#include "analysis/report.hpp"
#include "analysis/site_table.hpp"
#include "analysis/step_sums.hpp"
#include "analysis/steps.hpp"
#include "analysis/string_pool.hpp"
#include "analysis/timeline.hpp"
#include "analysis/transport_sums.hpp"

namespace penstock::analysis {

/// Whether a report can speak of exposed communication, decided once all ranks are known.
struct MeasureChoice {
  Measure measure = Measure::exposed_communication;
  std::string why_not;
};

/// Thread: one at a time. Memory: by the number of distinct call sites, peers and message classes.
class Metrics {
 public:
  /// `strings` and `sites` may hold more than what is added; all three must outlive the metrics.
  Metrics(const MessageIndex& index, StringPool& strings, SiteTable& sites, MeasureChoice choice);
  /// `position`: of the rank in the index. `step_bounds`: of its steps, the only part that is counted; empty:
  /// all.
  void add(const RankTrace& rank, std::size_t position, std::span<const std::uint64_t> step_bounds);
  /// The sums, with call sites named. To be called once.
  [[nodiscard]] Report finish(const std::optional<StepMark>& step_mark);

 private:
  /// What a second of waiting is told apart by. All breakdowns are sums over these.
  struct Fact {
    std::uint32_t site;
    Cause cause;
    std::int32_t peer;
    std::uint64_t communicator;
    auto operator<=>(const Fact&) const = default;
  };
  struct Waited {
    std::uint64_t time_ns = 0;
    std::uint64_t within_error_ns = 0;  ///< of the hosts' clocks
    Waited& operator+=(Waited other) noexcept {
      time_ns += other.time_ns;
      within_error_ns += other.within_error_ns;
      return *this;
    }
  };
  using WaitedByCause = std::array<Waited, cause_count>;
  struct Traffic {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t gpu_wait_ns = 0;
  };
  [[nodiscard]] const IntervalSet& counted_of(const Timeline& timeline) const noexcept;
  void add_to_graph(const RankTrace& rank, const Timeline& timeline, Interval window, CauseFinder& finder);
  void give_up_replay(std::string why);
  void add_outside(const RankTrace& rank, const Timeline& run, Interval window);
  [[nodiscard]] std::uint32_t site_of(const RankTrace& rank, const trace::MpiCall& call);
  [[nodiscard]] std::uint32_t site_of(const RankTrace& rank, std::uint64_t address, std::uint32_t function);
  void add_causes(const RankTrace& rank, std::size_t position, const Timeline& timeline, CauseFinder& finder,
                  RankFigures& figures);
  void add_operations(const RankTrace& rank, const Timeline& timeline, const CauseFinder& finder,
                      std::uint32_t call, std::span<const CauseSpan> spans);
  void add_calls(const RankTrace& rank, Interval window);
  void add_phases(const RankTrace& rank, Interval window, const IntervalSet& counted);
  void add_job(const RankTrace& rank);
  template <typename Figures>
  static void charge(Figures& figures, Cause cause, Waited waited);
  void finish_breakdowns();
  void finish_call_sites(
      const std::map<std::pair<std::uint32_t, std::int32_t>, std::uint64_t>& by_site_and_peer,
      const std::vector<WaitedByCause>& by_site);
  [[nodiscard]] std::string place_of_site(std::uint32_t id);
  [[nodiscard]] std::string call_of_site(std::uint32_t id);
  void finish_steps(const StepMark& mark);

  const MessageIndex& index_;
  Report report_;
  StringPool& strings_;
  SiteTable& sites_;
  std::vector<Traffic> traffic_of_site_;
  std::map<Fact, Waited> facts_;
  std::map<std::uint64_t, std::pair<std::string, std::int32_t>>
      communicators_;                                                      ///< name and size by global id
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> phases_;  ///< total and counted ns
  std::map<std::pair<Gap, std::uint32_t>, std::uint64_t> gaps_;            ///< by MPI function
  TransportSums transports_;
  MessageMatrix matrix_;
  KernelSums kernels_;
  CollectiveSums collectives_;
  HandStaging hand_staging_;
  LateReceives late_receives_;
  std::optional<ReplayGraph> graph_;  ///< none: it cannot be made, as the report says
  std::map<std::string, NoticeFigures> notices_;
  StepSums steps_;
  JobAxis axis_;
  LongestWaits longest_waits_;
  OutsideFigures before_steps_;
  OutsideFigures behind_steps_;
  CallSites names_;
};

}  // namespace penstock::analysis
