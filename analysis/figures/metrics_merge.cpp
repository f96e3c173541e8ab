// Merges the sums of some ranks with those of earlier ranks, and adds ranks to the replay graph.
#include <algorithm>
#include <iterator>
#include <utility>

#include "analysis/figures/metrics.hpp"

namespace penstock::analysis {
namespace {

void append_once(std::vector<std::string>& all, std::vector<std::string>&& some) {
  for (std::string& each : some) {
    if (std::find(all.begin(), all.end(), each) == all.end()) {
      all.push_back(std::move(each));
    }
  }
}

template <typename Item>
void append(std::vector<Item>& all, std::vector<Item>&& some) {
  all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
}

}  // namespace

void Metrics::merge(Metrics&& part) {
  const std::vector<std::uint32_t> strings = strings_.take_in(part.strings_);
  const std::vector<std::uint32_t> sites = sites_.take_in(part.sites_, strings);
  traffic_of_site_.resize(sites_.sites().size());
  for (std::size_t site = 0; site < part.traffic_of_site_.size(); ++site) {
    Traffic& traffic = traffic_of_site_[sites[site]];
    traffic.calls += part.traffic_of_site_[site].calls;
    traffic.bytes += part.traffic_of_site_[site].bytes;
    traffic.gpu_wait_ns += part.traffic_of_site_[site].gpu_wait_ns;
  }
  for (const auto& [fact, waited] : part.facts_.entries()) {
    facts_[{sites[fact.site], fact.cause, fact.peer, fact.communicator}] += waited;
  }
  communicators_.merge(part.communicators_);  // of one that is in both, the existing entry stays
  for (const auto& [name, times] : part.phases_) {
    auto& [total_ns, counted_ns] = phases_[name];
    total_ns += times.first;
    counted_ns += times.second;
  }
  for (const auto& [gap, time_ns] : part.gaps_) {
    gaps_[{gap.first, strings[gap.second]}] += time_ns;
  }
  transports_.merge(part.transports_);
  if (use_ == Use::part) {
    append(pairs_, std::move(part.pairs_));
  } else {
    for (std::vector<MessageMatrix::Pair>& of_rank : part.pairs_) {
      matrix_.merge(std::move(of_rank), part.report_.world_size);
    }
  }
  replay_nodes_ += part.replay_nodes_;
  kernels_.merge(part.kernels_, strings, sites);
  collectives_.merge(part.collectives_, strings, sites);
  hand_staging_.merge(part.hand_staging_, sites);
  late_receives_.merge(part.late_receives_, strings, sites);
  for (auto& [text, added] : part.notices_) {
    const auto [notice, is_new] = notices_.try_emplace(text, added);
    notice->second.ranks += is_new ? 0 : added.ranks;
  }
  steps_.merge(part.steps_);
  longest_waits_.merge(part.longest_waits_, sites);
  for (const auto& [all, some] :
       {std::pair(&before_steps_, &part.before_steps_), std::pair(&behind_steps_, &part.behind_steps_)}) {
    all->total_ns += some->total_ns;
    all->counted_ns += some->counted_ns;
  }
  merge_report(std::move(part.report_));
}

std::vector<std::uint32_t> Metrics::sites_of(const Metrics& part) {
  return sites_.take_in(part.sites_, strings_.take_in(part.strings_));
}

void Metrics::merge_report(Report&& part) {
  if (report_.program.empty()) {
    report_.program = std::move(part.program);
    report_.mpi_version = std::move(part.mpi_version);
    report_.began_realtime_ns = part.began_realtime_ns;
  }
  append_once(report_.hosts, std::move(part.hosts));
  append_once(report_.devices, std::move(part.devices));
  report_.world_size = std::max(report_.world_size, part.world_size);  // 0 in a part without ranks
  report_.simulated_gpu = report_.simulated_gpu || part.simulated_gpu;
  report_.counted_ranks += part.counted_ranks;
  report_.total_ns += part.total_ns;
  report_.counted_ns += part.counted_ns;
  for (std::size_t cause = 0; cause < cause_count; ++cause) {
    report_.by_cause[cause] += part.by_cause[cause];
    report_.within_error[cause] += part.within_error[cause];
  }
  append(report_.ranks, std::move(part.ranks));
  append(report_.flaws, std::move(part.flaws));
}

void Metrics::give_up_replay(std::string why) {
  graph_.reset();
  report_.why_no_replay = std::move(why);
}

/// Limits the graph: it holds the whole job, while everything else holds one rank.
bool Metrics::can_replay() {
  constexpr std::uint64_t most_nodes = 4'000'000;  // half a gigabyte, and some seconds
  if (graph_ && replay_nodes_ > most_nodes) {
    give_up_replay("the job has more than four million calls and kernels to be run again");
  }
  return graph_.has_value();
}

void Metrics::add_to_graph(RankWindow& window, std::span<const std::uint32_t> sites) {
  if (graph_ && window.finder) {
    graph_->add(window.rank, ranks_in_graph_++, window.timeline, window.window, *window.finder,
                [&](std::uint32_t call) { return sites[window.site_of_call[call]]; });
  }
}

}  // namespace penstock::analysis
