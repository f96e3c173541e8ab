// The second half of Metrics: computes the report's breakdowns from the sums by fact.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/figures/metrics.hpp"
#include "analysis/replay/what_if.hpp"
#include "analysis/report/text_figures.hpp"
#include "analysis/tables/median.hpp"

namespace penstock::analysis {
namespace {

template <typename Figures>
void sort_by_time(std::vector<Figures>& list) {
  std::stable_sort(list.begin(), list.end(), [](const Figures& left, const Figures& right) {
    return left.counted_ns > right.counted_ns;
  });
}

std::optional<RecordedPart> recorded_part_of(const std::vector<RankFigures>& ranks) {
  if (std::all_of(ranks.begin(), ranks.end(), [](const RankFigures& rank) { return rank.is_known; })) {
    return std::nullopt;
  }
  RecordedPart part{.recorded_ns = ~std::uint64_t{0}};
  std::uint64_t shortest_ns = ~std::uint64_t{0};
  for (const RankFigures& rank : ranks) {
    part.recorded_ns = std::min(part.recorded_ns, rank.known_ns);
    part.run_ns = std::max(part.run_ns, rank.run_ns);
    part.finished = part.finished && rank.finished;
    if (rank.dropped_records != 0 && rank.recorded_ns < shortest_ns) {
      shortest_ns = rank.recorded_ns;
      part.first_rank = rank.rank;
    }
  }
  return part;
}

bool is_newer_than(const std::filesystem::path& file, std::uint64_t realtime_ns) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 && status.st_mtim.tv_sec > 0 &&
         static_cast<std::uint64_t>(status.st_mtim.tv_sec) > realtime_ns / 1'000'000'000;
}

}  // namespace

template <typename Figures>
void Metrics::charge(Figures& figures, Cause cause, Waited waited) {
  figures.counted_ns += waited.time_ns;
  figures.by_cause[static_cast<std::size_t>(cause)] += waited.time_ns;
  figures.within_error[static_cast<std::size_t>(cause)] += waited.within_error_ns;
}

Report Metrics::finish(const std::optional<StepMark>& step_mark) {
  traffic_of_site_.resize(sites_.sites().size());
  finish_breakdowns();
  const auto place = [this](std::uint32_t site) { return place_of_site(site); };
  report_.recorded_part = recorded_part_of(report_.ranks);
  report_.transports = transports_.finish();
  report_.matrix = matrix_.finish(report_.transports);
  report_.kernels = kernels_.finish(place);
  report_.collectives = collectives_.finish();
  report_.hand_staging = hand_staging_.finish([this](std::uint32_t site) { return call_of_site(site); });
  report_.late_receives = late_receives_.finish([this](std::uint32_t site) { return call_of_site(site); });
  report_.late_ranks = collectives_.finish_late_ranks(place);
  for (const LongWait& each : longest_waits_.take()) {
    report_.longest_waits.push_back({each.rank, each.when.begin_ns, each.when.end_ns - each.when.begin_ns,
                                     each.counted_ns, each.cause, each.counterpart, call_of_site(each.site),
                                     each.other_ranks, each.within_error_ns});
  }
  for (const auto& [gap, time_ns] : gaps_) {
    report_.gaps.push_back({gap.first, strings_.at(gap.second), time_ns});
  }
  std::sort(report_.gaps.begin(), report_.gaps.end(), [](const GapFigures& left, const GapFigures& right) {
    return std::tie(right.counted_ns, left.gap, left.mpi_function) <
           std::tie(left.counted_ns, right.gap, right.mpi_function);
  });
  if (step_mark) {
    finish_steps(*step_mark);
  }
  for (auto& [name, times] : phases_) {
    report_.phases.push_back({name, times.first, times.second});
  }
  sort_by_time(report_.phases);
  for (auto& [text, notice] : notices_) {
    report_.notices.push_back(std::move(notice));
  }
  if (graph_ && report_.counted_ranks != 0) {
    graph_->join();
    report_.replay = replay(*graph_, report_, [this](std::uint32_t site) { return call_of_site(site); });
  }
  std::sort(report_.ranks.begin(), report_.ranks.end(),
            [](const RankFigures& left, const RankFigures& right) { return left.rank < right.rank; });
  return std::move(report_);
}

void Metrics::finish_breakdowns() {
  std::map<std::int32_t, PeerFigures> peers;
  std::map<std::uint64_t, CommunicatorFigures> communicators;
  std::map<std::string, FunctionFigures> functions;
  std::map<std::pair<std::uint32_t, std::int32_t>, std::uint64_t> by_site_and_peer;
  std::vector<WaitedByCause> by_site(sites_.sites().size());
  for (const auto& [fact, waited] : facts_.entries()) {
    charge(peers[fact.peer], fact.cause, waited);
    charge(communicators[fact.communicator], fact.cause, waited);
    charge(functions[strings_.at(sites_.sites()[fact.site].function)], fact.cause, waited);
    by_site[fact.site][static_cast<std::size_t>(fact.cause)] += waited;
    by_site_and_peer[{fact.site, fact.peer}] += waited.time_ns;
  }
  for (std::size_t i = 0; i < sites_.sites().size(); ++i) {
    if (traffic_of_site_[i].calls == 0) {
      continue;
    }
    FunctionFigures& function = functions[strings_.at(sites_.sites()[i].function)];
    function.calls += traffic_of_site_[i].calls;
    function.bytes += traffic_of_site_[i].bytes;
  }
  for (auto& [rank, figures] : peers) {
    figures.rank = rank;
    report_.peers.push_back(std::move(figures));
  }
  for (auto& [global_id, figures] : communicators) {
    figures.global_id = global_id;
    if (const auto known = communicators_.find(global_id); known != communicators_.end()) {
      std::tie(figures.name, figures.size) = known->second;
    }
    report_.communicators.push_back(std::move(figures));
  }
  for (auto& [name, figures] : functions) {
    figures.mpi_function = name;
    report_.functions.push_back(std::move(figures));
  }
  sort_by_time(report_.peers);
  sort_by_time(report_.communicators);
  sort_by_time(report_.functions);
  finish_call_sites(by_site_and_peer, by_site);
}

/// Names the call sites. Sites that read alike (two calls on a line, the same line inlined twice) become one
/// for the reader.
void Metrics::finish_call_sites(
    const std::map<std::pair<std::uint32_t, std::int32_t>, std::uint64_t>& by_site_and_peer,
    const std::vector<WaitedByCause>& by_site) {
  std::map<std::tuple<std::string, std::string, std::string, int, std::uint64_t>, CallSiteFigures> merged;
  std::map<const CallSiteFigures*, std::map<std::int32_t, std::uint64_t>> by_peer;
  for (std::uint32_t i = 0; i < sites_.sites().size(); ++i) {
    const bool is_counted =
        std::any_of(by_site[i].begin(), by_site[i].end(), [](Waited each) { return each.time_ns != 0; });
    if (traffic_of_site_[i].calls == 0 && !is_counted) {
      continue;
    }
    const Site& site = sites_.sites()[i];
    const std::string& module = strings_.at(site.module);
    SourcePlace place = names_.name(module, site.address);
    const std::uint64_t told_apart_by_offset = place.line == 0 ? site.offset : 0;
    CallSiteFigures& figures = merged[{module, strings_.at(site.function), place.function + '\n' + place.file,
                                       place.line, told_apart_by_offset}];
    figures.function = std::move(place.function);
    figures.file = std::move(place.file);
    figures.line = place.line;
    figures.module = module;
    figures.module_offset = site.offset;
    figures.mpi_function = strings_.at(site.function);
    figures.calls += traffic_of_site_[i].calls;
    figures.gpu_wait_ns += traffic_of_site_[i].gpu_wait_ns;
    for (std::size_t cause = 0; cause < cause_count; ++cause) {
      charge(figures, static_cast<Cause>(cause), by_site[i][cause]);
    }
    const auto end = by_site_and_peer.lower_bound({i + 1, std::numeric_limits<std::int32_t>::min()});
    for (auto each = by_site_and_peer.lower_bound({i, std::numeric_limits<std::int32_t>::min()}); each != end;
         ++each) {
      by_peer[&figures][each->first.second] += each->second;
    }
  }
  for (auto& [key, figures] : merged) {
    for (const auto& [peer, time_ns] : by_peer[&figures]) {
      if (time_ns * 2 > figures.counted_ns) {
        figures.main_counterpart = peer;
      }
    }
    report_.call_sites.push_back(std::move(figures));
  }
  sort_by_time(report_.call_sites);
  std::set<std::string> modules;
  for (const CallSiteFigures& site : report_.call_sites) {
    if (modules.insert(site.module).second && is_newer_than(site.module, report_.began_realtime_ns)) {
      report_.flaws.push_back(
          {site.module, std::nullopt, "is newer than the recording; call sites in it may be named wrongly"});
    }
  }
}

/// Formats a site for people.
std::string Metrics::place_of_site(std::uint32_t id) {
  const Site& site = sites_.sites()[id];
  SourcePlace place = names_.name(strings_.at(site.module), site.address);
  CallSiteFigures named;
  named.function = std::move(place.function);
  named.file = std::move(place.file);
  named.line = place.line;
  named.module = strings_.at(site.module);
  named.module_offset = site.offset;
  return place_in_sentence(named);
}

/// Returns "MPI_Isend at exchange (halo.cpp:120)".
std::string Metrics::call_of_site(std::uint32_t id) {
  return fmt::format("{} at {}", strings_.at(sites_.sites()[id].function), place_of_site(id));
}

void Metrics::finish_steps(const StepMark& mark) {
  StepsFigures steps;
  steps.each = steps_.take();
  steps.before = before_steps_;
  steps.behind = behind_steps_;
  steps.is_range = !mark.range.empty();
  steps.mark = steps.is_range ? mark.range : call_of_site(mark.site);
  std::vector<std::uint64_t> lengths_ns;
  for (const StepFigures& each : steps.each) {
    lengths_ns.push_back(each.longest_ns);
  }
  steps.median_ns = median_of(lengths_ns).value_or(0);
  report_.steps = std::move(steps);
}

}  // namespace penstock::analysis
