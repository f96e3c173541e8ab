#include "analysis/changes/row_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/joining/message_class.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

/// The share of a saving that is uncertain where only its bound can be run: the messages or the waits that
/// remain.
constexpr std::uint64_t of_bound = 2;

Scenario with_class(std::uint32_t message_class, double factor) {
  Scenario scenario;
  scenario.moving.assign(message_class + std::size_t{1}, 1.0);
  scenario.moving[message_class] = factor;
  return scenario;
}

/// Messages of one row: as fast as others alike, or without the latencies of small ones.
void propose_transports(const Trial& trial) {
  const std::vector<TransportFigures>& rows = trial.report.transports;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const TransportFigures& each = rows[row];
    if ((!is_device_memory(each.source) && !is_device_memory(each.destination)) ||
        each.transport == trace::TransportKind::fused || each.message_class == MessageClasses::no_message) {
      continue;
    }
    const bool is_late = each.reason == "receiver was late";
    const bool is_as_fast_as_can_be = is_direct(each.transport) || is_chosen_for_speed(each);
    if (is_as_fast_as_can_be && !is_late && !pay_a_latency_each(each)) {
      continue;  // nothing is advised
    }
    const TransportFigures* const better =
        is_as_fast_as_can_be ? nullptr : fastest_alike(trial.report.transports, each);
    ChangeFigures change{.kind = AdviceKind::better_transport, .list = "transports", .row = row};
    const double factor = better == nullptr ? 0 : *time_by(*better, each);
    const std::uint64_t saved_ns = trial.saved_ns(with_class(each.message_class, factor));
    change.spread_ns = better == nullptr ? saved_ns / of_bound : 0;
    trial.keep(saved_ns, std::move(change));
  }
}

/// Calls whose messages wait for no kernel.
void propose_ready_data(const Trial& trial, std::size_t sites) {
  const std::vector<CallSiteFigures>& rows = trial.report.call_sites;
  std::optional<std::vector<std::string>> names;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].by_cause[static_cast<std::size_t>(Cause::gpu_not_ready)] < trial.least_ns()) {
      continue;
    }
    if (!names) {
      names.emplace();
      for (std::uint32_t site = 0; site < sites; ++site) {
        names->push_back(trial.call_of_site(site));
      }
    }
    Scenario scenario;
    for (const std::string& name : *names) {
      scenario.ready_data.push_back(
          name == fmt::format("{} at {}", rows[row].mpi_function, place_in_sentence(rows[row])));
    }
    ChangeFigures change{.kind = AdviceKind::waits_for_kernel, .list = "call_sites", .row = row};
    const std::uint64_t saved_ns = trial.saved_ns(scenario);
    change.spread_ns = saved_ns / of_bound;
    trial.keep(saved_ns, std::move(change));
  }
}

/// One rank that computes, in kernels and host code, no longer than the mean of all.
void propose_ranks(const Trial& trial) {
  if (trial.ranks.size() < 2) {
    return;
  }
  std::vector<double> computing_ns(trial.ranks.size(), 0);
  double mean_ns = 0;
  for (const RankFigures& rank : trial.report.ranks) {
    const auto position = std::find(trial.ranks.begin(), trial.ranks.end(), rank.rank);
    if (position != trial.ranks.end()) {
      computing_ns[static_cast<std::size_t>(position - trial.ranks.begin())] =
          static_cast<double>(rank.computing_ns);
      mean_ns += static_cast<double>(rank.computing_ns) / static_cast<double>(trial.ranks.size());
    }
  }
  for (std::size_t position = 0; position < computing_ns.size(); ++position) {
    if (computing_ns[position] - mean_ns >= static_cast<double>(trial.least_ns())) {
      Scenario scenario;
      scenario.computing.assign(position + 1, 1.0);
      scenario.computing[position] = mean_ns / computing_ns[position];
      trial.keep(trial.saved_ns(scenario),
                 {.kind = AdviceKind::balance_ranks, .rank = trial.ranks[position], .list = "peers"});
    }
  }
}

}  // namespace

void propose_by_rows(const Trial& trial, std::size_t sites) {
  propose_transports(trial);
  propose_ready_data(trial, sites);
  propose_ranks(trial);
  if (trial.report.by_cause[static_cast<std::size_t>(Cause::missing_progress)] >= trial.least_ns()) {
    trial.keep(trial.saved_ns({.messages_progress = true}), {.kind = AdviceKind::progress_thread});
  }
}

}  // namespace penstock::analysis
