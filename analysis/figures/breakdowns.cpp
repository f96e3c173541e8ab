#include "analysis/figures/breakdowns.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/naming/code_names.hpp"

namespace penstock::analysis {
namespace {

bool is_newer_than(const std::filesystem::path& file, std::uint64_t realtime_ns) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 && status.st_mtim.tv_sec > 0 &&
         static_cast<std::uint64_t>(status.st_mtim.tv_sec) > realtime_ns / 1'000'000'000;
}

/// Notes which executables were built again after the run. All sites must have been named.
void add_flaws_of_modules(Report& report, const NamedModules& named) {
  for (Flaw& flaw : flaws_of_other_builds(named)) {
    report.rebuilt_modules.push_back(flaw.file);
    report.flaws.push_back(std::move(flaw));
  }
  std::set<std::string> modules;
  for (const CallSiteFigures& site : report.call_sites) {
    const auto known = named.find(site.module);
    const bool may_be_another = known != named.end() && known->second == NamedBy::unknown_build;
    if (may_be_another && modules.insert(site.module).second &&
        is_newer_than(site.module, report.began_realtime_ns)) {
      report.flaws.push_back(
          {site.module, std::nullopt, "is newer than the recording; its call sites may be named wrongly"});
    }
  }
}

/// Notes that this build tells no lines, if a call site lacks one.
void add_flaw_of_missing_lines(Report& report) {
  const std::string why = why_no_lines();
  if (why.empty()) return;
  for (const CallSiteFigures& site : report.call_sites) {
    if (site.line == 0 && !site.module.empty()) {
      report.tells_lines = false;
      report.flaws.push_back({site.module, std::nullopt, why});
      return;
    }
  }
}

/// Names a call site; it has no times yet.
CallSiteFigures named_site(std::uint32_t id, SiteNames& names) {
  const NamedFrame& shown = names.path_of(id).call_site();
  return {.function = shown.place.function,
          .file = shown.place.file,
          .line = shown.place.line,
          .module = shown.module,
          .module_offset = shown.offset,
          .mpi_function = names.function_of(id)};
}

}  // namespace

void Breakdowns::add(const WaitInput& wait) {
  const Counterpart& counterpart = wait.span.counterpart;
  const std::uint32_t communicator =
      counterpart.communicator != 0 ? counterpart.communicator : wait.call.call.communicator;
  Waited& waited = waits_[{wait.call.site, counterpart.rank,
                           wait.call.rank.trace.global_communicator(communicator)}][wait.cause()];
  waited.time_ns += wait.counted_ns;
  waited.within_error_ns += wait.within_error_ns;
}

void Breakdowns::add(const RankInput& rank) {
  const Interval window = rank.window.window;
  const std::size_t counted_calls = rank.is_counted ? rank.trace.calls.size() : 0;
  for (std::size_t i = 0; i < counted_calls; ++i) {
    const trace::MpiCall& call = rank.trace.calls[i].record;
    const std::uint32_t site = rank.window.site_of_call[i];
    if (site != RankWindow::no_site && call.end_ns > window.begin_ns && call.begin_ns < window.end_ns) {
      Traffic& traffic = traffic_at(site);
      traffic.calls += call.repeats;
      traffic.bytes += call.bytes;
    }
  }
  for (const trace::Communicator& each : rank.trace.communicators) {
    learn(each.global_id,
          {each.name == trace::no_string ? std::string{} : rank.trace.strings.at(each.name), each.size});
  }
}

/// A name that only some ranks gave counts for all.
void Breakdowns::learn(std::uint64_t global_id, NamedCommunicator&& communicator) {
  NamedCommunicator& known = communicators_.try_emplace(global_id, communicator).first->second;
  if (known.name.empty()) {
    known.name = std::move(communicator.name);
  }
}

void Breakdowns::merge(Breakdowns&& part, const Renumbering& numbers) {
  merge_into(waits_, std::move(part.waits_), numbers);
  for (std::size_t site = 0; site < part.traffic_.size(); ++site) {
    merge_into(traffic_at(numbers.paths[site]), std::move(part.traffic_[site]), numbers);
  }
  for (auto& [global_id, communicator] : part.communicators_) {
    learn(global_id, std::move(communicator));
  }
}

std::uint64_t Breakdowns::time_of(const WaitedByCause& waited) {
  std::uint64_t sum_ns = 0;
  for (const Waited& each : waited) {
    sum_ns += each.time_ns;
  }
  return sum_ns;
}

template <typename Figures>
void Breakdowns::charge(Figures& figures, const WaitedByCause& waited) {
  for (std::size_t cause = 0; cause < cause_count; ++cause) {
    figures.counted_ns += waited[cause].time_ns;
    figures.by_cause[cause] += waited[cause].time_ns;
    figures.within_error[cause] += waited[cause].within_error_ns;
  }
}

void Breakdowns::finish(Report& report, SiteNames& names) {
  traffic_.resize(sites_.sites().size());
  finish_peers(report);
  finish_communicators(report);
  finish_functions(report);
  finish_call_sites(report, names);
  finish_call_paths(report, names);
  add_flaws_of_modules(report, names.modules());
  add_flaw_of_missing_lines(report);
}

void Breakdowns::finish_peers(Report& report) const {
  std::map<std::int32_t, PeerFigures> peers;
  for (const auto& [key, waited] : waits_.entries()) {
    charge(peers[key.peer], waited);
  }
  for (auto& [rank, figures] : peers) {
    figures.rank = rank;
    report.peers.push_back(std::move(figures));
  }
  sort_by_counted(report.peers);
}

void Breakdowns::finish_communicators(Report& report) const {
  std::map<std::uint64_t, CommunicatorFigures> communicators;
  for (const auto& [key, waited] : waits_.entries()) {
    charge(communicators[key.communicator], waited);
  }
  for (auto& [global_id, figures] : communicators) {
    figures.global_id = global_id;
    if (const auto known = communicators_.find(global_id); known != communicators_.end()) {
      figures.name = known->second.name;
      figures.size = known->second.size;
    }
    report.communicators.push_back(std::move(figures));
  }
  sort_by_counted(report.communicators);
}

void Breakdowns::finish_functions(Report& report) const {
  const auto function_of = [this](std::size_t site) -> const std::string& {
    return strings_.at(sites_.sites()[site].function);
  };
  std::map<std::string, FunctionFigures> functions;
  for (const auto& [key, waited] : waits_.entries()) {
    charge(functions[function_of(key.site)], waited);
  }
  for (std::size_t site = 0; site < traffic_.size(); ++site) {
    if (traffic_[site].calls != 0) {
      FunctionFigures& function = functions[function_of(site)];
      function.calls += traffic_[site].calls;
      function.bytes += traffic_[site].bytes;
    }
  }
  for (auto& [name, figures] : functions) {
    figures.mpi_function = name;
    report.functions.push_back(std::move(figures));
  }
  sort_by_counted(report.functions);
}

/// Returns the waits of each site that was called or waited, by cause; empty for others.
std::vector<std::optional<Breakdowns::WaitedByCause>> Breakdowns::waits_by_site() const {
  std::vector<std::optional<WaitedByCause>> by_site(traffic_.size());
  for (std::size_t site = 0; site < traffic_.size(); ++site) {
    if (traffic_[site].calls != 0) {
      by_site[site].emplace();
    }
  }
  for (const auto& [key, waited] : waits_.entries()) {
    std::optional<WaitedByCause>& of_site = by_site[key.site];
    if (!of_site) {
      of_site.emplace();
    }
    for (std::size_t cause = 0; cause < cause_count; ++cause) {
      (*of_site)[cause].time_ns += waited[cause].time_ns;
      (*of_site)[cause].within_error_ns += waited[cause].within_error_ns;
    }
  }
  return by_site;
}

/// Names the call sites. Sites that read alike (two calls on a line, the same line inlined twice, paths that
/// differ outside of the call site) become one for the reader.
void Breakdowns::finish_call_sites(Report& report, SiteNames& names) const {
  const std::vector<std::optional<WaitedByCause>> by_site = waits_by_site();
  std::map<std::pair<std::uint32_t, std::int32_t>, std::uint64_t> by_site_and_peer;
  for (const auto& [key, waited] : waits_.entries()) {
    by_site_and_peer[{key.site, key.peer}] += time_of(waited);
  }
  std::map<SiteProperties, CallSiteFigures> merged;
  std::map<const CallSiteFigures*, std::map<std::int32_t, std::uint64_t>> by_peer;
  for (std::uint32_t i = 0; i < by_site.size(); ++i) {
    if (!by_site[i]) {
      continue;
    }
    const auto [known, is_new] = merged.try_emplace(names.properties_of(i));
    CallSiteFigures& figures = known->second;
    if (is_new) {
      figures = named_site(i, names);
    }
    figures.calls += traffic_[i].calls;
    figures.gpu_wait_ns += traffic_[i].gpu_wait_ns;
    charge(figures, *by_site[i]);
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
    report.call_sites.push_back(std::move(figures));
  }
  sort_by_counted(report.call_sites);
}

/// Names the paths to the call sites, which are finished; those that read alike become one.
void Breakdowns::finish_call_paths(Report& report, SiteNames& names) const {
  std::map<SiteProperties, std::size_t> rows;
  for (std::size_t row = 0; row < report.call_sites.size(); ++row) {
    const CallSiteFigures& site = report.call_sites[row];
    rows.emplace(SiteProperties{site.mpi_function, site.module, site.function, site.file, site.line,
                                site.line == 0 ? site.module_offset : 0},
                 row);
  }
  const std::vector<std::optional<WaitedByCause>> by_site = waits_by_site();
  std::map<std::pair<std::string, std::vector<std::string>>, CallPathFigures> merged;
  for (std::uint32_t i = 0; i < by_site.size(); ++i) {
    if (!by_site[i]) {
      continue;
    }
    CallPathFigures& path = merged[{names.function_of(i), names.places_on_path(i)}];
    path.shown = names.path_of(i).shown;
    path.call_site = rows.at(names.properties_of(i));
    path.calls += traffic_[i].calls;
    for (std::size_t cause = 0; cause < cause_count; ++cause) {
      path.by_cause[cause] += (*by_site[i])[cause].time_ns;
      path.counted_ns += (*by_site[i])[cause].time_ns;
    }
  }
  for (auto& [key, path] : merged) {
    path.mpi_function = key.first;
    path.frames = key.second;
    report.call_paths.push_back(std::move(path));
  }
  sort_by_counted(report.call_paths);
}

}  // namespace penstock::analysis
