// Adds up the timelines and causes of each rank into a report: by cause, call site, peer, communicator,
// function, phase and transport. Must not know how recordings are read or reports printed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/causes/causes.hpp"
#include "analysis/causes/rank_window.hpp"
#include "analysis/causes/steps.hpp"
#include "analysis/causes/timeline.hpp"
#include "analysis/figures/collective_sums.hpp"
#include "analysis/figures/hand_staging.hpp"
#include "analysis/figures/kernel_sums.hpp"
#include "analysis/figures/late_receives.hpp"
#include "analysis/figures/longest_waits.hpp"
#include "analysis/figures/message_matrix.hpp"
#include "analysis/figures/step_sums.hpp"
#include "analysis/figures/transport_sums.hpp"
#include "analysis/joining/job_axis.hpp"
#include "analysis/joining/messages.hpp"
#include "analysis/naming/call_sites.hpp"
#include "analysis/recording/name_ids.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/recording/site_table.hpp"
#include "analysis/replay/replay_graph.hpp"
#include "analysis/report/report.hpp"
#include "analysis/tables/string_pool.hpp"
#include "analysis/tables/sum_table.hpp"

namespace penstock::analysis {

/// Sums of some ranks. The sums of several threads or processes, merged in rank order, equal the sums of all
/// ranks: they are whole numbers, so the division of work does not matter. Thread: one at a time. Memory:
/// proportional to the distinct call sites, peers and message classes, and four bytes a message.
class Metrics {
 public:
  /// `part`: will be merged into others; `whole`: will be finished. `strings` and `sites` may hold more than
  /// what is added. The first four arguments must outlive the metrics.
  enum class Use : std::uint8_t { part, whole };
  Metrics(const MessageIndex& index, const JobAxis& axis, StringPool& strings, SiteTable& sites,
          MeasureChoice choice, Use use);
  /// Adds a rank. `window` must contain the rank, its position and its step bounds; add() fills in the rest.
  void add(RankWindow& window);
  /// Merges sums of ranks that follow all of these ranks.
  void merge(Metrics&& part);
  /// Returns this object's number for each site of `part`.
  [[nodiscard]] std::vector<std::uint32_t> sites_of(const Metrics& part);
  /// Returns true if the job is small enough to be replayed. Call it after all ranks are merged.
  [[nodiscard]] bool can_replay();
  /// Adds a rank to the replay graph; ranks in order. `sites`: this object's number for each site of the
  /// rank's part.
  void add_to_graph(RankWindow& window, std::span<const std::uint32_t> sites);
  /// See archive.hpp. Includes its tables of texts and sites.
  template <typename Archive>
  void exchange(Archive& archive) {
    archive(strings_, sites_, traffic_of_site_, facts_, communicators_, phases_, gaps_, transports_, pairs_,
            kernels_, collectives_, hand_staging_, late_receives_, notices_, steps_, longest_waits_,
            before_steps_, behind_steps_, replay_nodes_);
    archive(report_.program, report_.mpi_version, report_.began_realtime_ns, report_.hosts, report_.devices,
            report_.world_size, report_.simulated_gpu, report_.counted_ranks, report_.total_ns,
            report_.counted_ns, report_.by_cause, report_.within_error, report_.ranks, report_.flaws);
  }
  /// Returns the report with named call sites. Call it once.
  [[nodiscard]] Report finish(const std::optional<StepMark>& step_mark);

 private:
  /// The properties that distinguish waiting time. All breakdowns are sums over these.
  struct Fact {
    std::uint32_t site;
    Cause cause;
    std::int32_t peer;
    std::uint64_t communicator;
    friend bool operator==(const Fact&, const Fact&) = default;
  };
  struct HashFact {
    std::uint64_t operator()(const Fact& fact) const noexcept {
      const auto peer = static_cast<std::uint32_t>(fact.peer);
      return mixed(mixed(mixed(static_cast<std::uint64_t>(fact.cause), fact.site), peer), fact.communicator);
    }
  };
  struct Waited {
    std::uint64_t time_ns = 0;
    std::uint64_t within_error_ns = 0;  ///< because of the hosts' clocks
    Waited& operator+=(Waited other) noexcept {
      time_ns += other.time_ns;
      within_error_ns += other.within_error_ns;
      return *this;
    }
  };
  using WaitedByCause = std::array<Waited, cause_count>;
  struct Traffic {  ///< of a call site
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t gpu_wait_ns = 0;
  };
  [[nodiscard]] const IntervalSet& counted_of(const Timeline& timeline) const noexcept;
  void give_up_replay(std::string why);
  void add_sites(RankWindow& window);
  void add_run(RankWindow& window, RankFigures& figures);
  void add_sets(RankWindow& window, RankFigures& figures);
  [[nodiscard]] std::uint32_t site_of(const RankTrace& rank, std::uint64_t address, std::uint32_t function);
  void add_causes(RankWindow& window, NameIds& names, RankFigures& figures);
  void add_operations(const RankWindow& window, const CollectiveSums::Caller& caller, std::uint32_t call,
                      std::span<const CauseSpan> spans);
  void add_calls(const RankWindow& window);
  void add_phases(const RankWindow& window);
  void add_job(const RankTrace& rank);
  void merge_report(Report&& part);
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
  Use use_;
  Report report_;
  StringPool& strings_;
  SiteTable& sites_;
  std::vector<Traffic> traffic_of_site_;
  SumTable<Fact, HashFact, Waited> facts_;
  std::map<std::uint64_t, std::pair<std::string, std::int32_t>>
      communicators_;                                                      ///< name and size by global id
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> phases_;  ///< total and counted ns
  std::map<std::pair<Gap, std::uint32_t>, std::uint64_t> gaps_;            ///< by MPI function
  TransportSums transports_;
  MessageMatrix matrix_;
  std::vector<std::vector<MessageMatrix::Pair>> pairs_;  ///< of the ranks of a part, one list per rank
  KernelSums kernels_;
  CollectiveSums collectives_;
  HandStaging hand_staging_;
  LateReceives late_receives_;
  std::optional<ReplayGraph> graph_;  ///< none: it cannot be made; the report has the reason
  std::size_t ranks_in_graph_ = 0;
  std::uint64_t replay_nodes_ = 0;  ///< calls that begin and end, and kernels, of the counted ranks
  std::map<std::string, NoticeFigures> notices_;
  StepSums steps_;
  const JobAxis& axis_;
  LongestWaits longest_waits_;
  OutsideFigures before_steps_;
  OutsideFigures behind_steps_;
  CallSites names_;
};

}  // namespace penstock::analysis
