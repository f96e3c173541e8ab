#include "analysis/report/json/report_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

using Json = nlohmann::ordered_json;

template <typename Figures>
Json list_of(const std::vector<Figures>& figures);

double seconds(std::uint64_t time_ns) {
  return static_cast<double>(time_ns) * 1e-9;
}

Json seconds_by_cause(const TimeByCause& times) {
  Json object = Json::object();
  for (std::size_t i = 0; i < cause_count; ++i) {
    object[std::string(identifier_of(static_cast<Cause>(i)))] = seconds(times[i]);
  }
  return object;
}

/// Returns the part of such times that lies within the error of the hosts' clocks.
Json within_error(const TimeByCause& times) {
  const bool is_none = std::all_of(times.begin(), times.end(), [](std::uint64_t each) { return each == 0; });
  return is_none ? Json(nullptr) : seconds_by_cause(times);
}
Json within_error(std::uint64_t time_ns) {
  return time_ns == 0 ? Json(nullptr) : Json(seconds(time_ns));
}

/// Returns a figure that needs the GPU's kernels: null if they were not recorded.
Json if_known(const RankFigures& rank, std::uint64_t time_ns) {
  return rank.kernels_known ? Json(seconds(time_ns)) : Json(nullptr);
}

Json of(const RankFigures& rank) {
  Json json{{"rank", rank.rank},
            {"host", rank.host},
            {"finished", rank.finished},
            {"used_gpu", rank.used_gpu},
            {"kernels_recorded", rank.kernels_known},
            {"run_s", seconds(rank.run_ns)},
            {"recorded_s", seconds(rank.recorded_ns)},
            {"total_s", seconds(rank.total_ns)},
            {"kernels_s", if_known(rank, rank.kernels_ns)},
            {"host_in_mpi_s", seconds(rank.host_ns)},
            {"in_flight_s", seconds(rank.in_flight_ns)},
            {"communication_s", seconds(rank.communication_ns)},
            {"exposed_s", if_known(rank, rank.exposed_ns)},
            {"exposed_upper_bound_s", if_known(rank, rank.upper_bound_ns)},
            {"hidden_s", if_known(rank, rank.hidden_ns)}};
  const bool has_overlap = rank.kernels_known && rank.communication_ns != 0;
  json["overlap"] =
      has_overlap ? Json(static_cast<double>(rank.hidden_ns) / static_cast<double>(rank.communication_ns))
                  : Json(nullptr);
  json["cuda_synchronisation_s"] = if_known(rank, rank.cuda_synchronisation_ns);
  json["computing_s"] = if_known(rank, rank.computing_ns);
  json["gpu_busy_s"] = if_known(rank, rank.gpu_busy_ns);
  json["counted"] = rank.is_counted;
  json["counted_s"] = rank.is_counted ? Json(seconds(rank.counted_ns)) : Json(nullptr);
  json["by_cause_s"] = rank.is_counted ? seconds_by_cause(rank.by_cause) : Json(nullptr);
  json["within_clock_error_s"] = within_error(rank.within_error);
  json["records"] = rank.records;
  json["dropped_records"] = rank.dropped_records;
  json["dropped_gpu_records"] = rank.dropped_gpu_records;
  json["tool_cost_s"] = rank.own_cost_ns ? Json(seconds(*rank.own_cost_ns)) : Json(nullptr);
  json["tool_start_s"] = rank.start_cost_ns ? Json(seconds(*rank.start_cost_ns)) : Json(nullptr);
  json["tool_finish_s"] = rank.finish_cost_ns ? Json(seconds(*rank.finish_cost_ns)) : Json(nullptr);
  json["gpu_clock_error_s"] = rank.clock_error_ns ? Json(seconds(*rank.clock_error_ns)) : Json(nullptr);
  return json;
}

Json of(const OutsideFigures& outside) {
  return {{"total_s", seconds(outside.total_ns)}, {"counted_s", seconds(outside.counted_ns)}};
}

Json of(const RecordedPart& part) {
  return {{"recorded_s", seconds(part.recorded_ns)},
          {"run_s", seconds(part.run_ns)},
          {"run_finished", part.finished},
          {"first_rank", part.first_rank < 0 ? Json(nullptr) : Json(part.first_rank)},
          {"words", recorded_part_text(part)}};
}

/// The number of step entries that a page can hold. Longer lists are joined, the same number of steps per
/// entry.
constexpr std::size_t most_step_entries = 2000;

Json of(const StepsFigures& steps) {
  const std::size_t per_entry = (steps.each.size() + most_step_entries - 1) / most_step_entries;
  Json entries = Json::array();
  for (std::size_t first = 0; first < steps.each.size(); first += per_entry) {
    StepFigures sum;
    const std::size_t end = std::min(first + per_entry, steps.each.size());
    for (std::size_t i = first; i < end; ++i) {
      const StepFigures& step = steps.each[i];
      sum.total_ns += step.total_ns;
      if (step.longest_ns >= sum.longest_ns) {
        sum.longest_ns = step.longest_ns;
        sum.longest_rank = step.longest_rank;
      }
      for (std::size_t cause = 0; cause < cause_count; ++cause) {
        sum.by_cause[cause] += step.by_cause[cause];
      }
    }
    entries.push_back({{"first", first},
                       {"steps", end - first},
                       {"total_s", seconds(sum.total_ns)},
                       {"longest_s", seconds(sum.longest_ns)},
                       {"longest_rank", sum.longest_rank},
                       {"by_cause_s", seconds_by_cause(sum.by_cause)}});
  }
  return {{"mark", steps.mark},           {"mark_is_nvtx_range", steps.is_range},
          {"count", steps.each.size()},   {"median_s", seconds(steps.median_ns)},
          {"start_up", of(steps.before)}, {"shutdown", of(steps.behind)},
          {"each", std::move(entries)}};
}

Json of(const CallSiteFigures& site) {
  return {{"function", site.function},
          {"file", site.file},
          {"line", site.line},
          {"module", site.module},
          {"module_offset", site.module_offset},
          {"mpi_function", site.mpi_function},
          {"calls", site.calls},
          {"counted_s", seconds(site.counted_ns)},
          {"by_cause_s", seconds_by_cause(site.by_cause)},
          {"within_clock_error_s", within_error(site.within_error)},
          {"gpu_wait_s", seconds(site.gpu_wait_ns)},
          {"main_counterpart_rank", site.main_counterpart < 0 ? Json(nullptr) : Json(site.main_counterpart)}};
}

Json of(const PeerFigures& peer) {
  return {{"rank", peer.rank < 0 ? Json(nullptr) : Json(peer.rank)},
          {"counted_s", seconds(peer.counted_ns)},
          {"by_cause_s", seconds_by_cause(peer.by_cause)},
          {"within_clock_error_s", within_error(peer.within_error)}};
}

Json of(const CommunicatorFigures& communicator) {
  return {{"id", fmt::format("{:016x}", communicator.global_id)},  // as text: JSON numbers lose 64-bit ids
          {"name", communicator.name},
          {"size", communicator.size},
          {"counted_s", seconds(communicator.counted_ns)},
          {"by_cause_s", seconds_by_cause(communicator.by_cause)},
          {"within_clock_error_s", within_error(communicator.within_error)}};
}

Json of(const FunctionFigures& function) {
  return {{"mpi_function", function.mpi_function},
          {"calls", function.calls},
          {"bytes", function.bytes},
          {"counted_s", seconds(function.counted_ns)},
          {"by_cause_s", seconds_by_cause(function.by_cause)},
          {"within_clock_error_s", within_error(function.within_error)}};
}

Json of(const PhaseFigures& phase) {
  return {
      {"name", phase.name}, {"total_s", seconds(phase.total_ns)}, {"counted_s", seconds(phase.counted_ns)}};
}

Json if_known(const std::optional<double>& figure) {
  return figure ? Json(*figure) : Json(nullptr);
}

Json size_limit_of(std::uint64_t limit_bytes) {
  return limit_bytes == 0 ? Json(nullptr) : Json(limit_bytes);
}

Json of(const TransportFigures& transport) {
  return {{"source", name_of(transport.source)},
          {"destination", name_of(transport.destination)},
          {"size_limit_bytes", size_limit_of(transport.size_limit_bytes)},
          {"transport", name_of(transport.transport)},
          {"reason", transport.reason},
          {"messages", transport.is_part ? 0 : transport.messages},
          {"bytes", transport.is_part ? 0 : transport.bytes},
          {"wire_bytes", transport.is_part ? 0 : transport.wire_bytes},
          {"parts", transport.is_part ? transport.messages : 0},
          {"part_bytes", transport.is_part ? transport.bytes : 0},
          {"median_gb_per_s", if_known(transport.median_gbps)},
          {"best_gb_per_s", if_known(transport.best_gbps)},
          {"counted_s", seconds(transport.counted_ns)},
          {"by_cause_s", seconds_by_cause(transport.by_cause)},
          {"within_clock_error_s", within_error(transport.within_error)}};
}

Json of(const MatrixCell& cell) {
  return {{"sender", cell.sender},
          {"receiver", cell.receiver},
          {"messages", cell.messages},
          {"bytes", cell.bytes},
          {"moving_s", seconds(cell.moving_ns)},
          {"gb_per_s", if_known(cell.gbps)},
          {"possible_gb_per_s", if_known(cell.possible_gbps)},
          {"transport", name_of(cell.transport)}};
}

Json of(const MatrixFigures& matrix) {
  return {{"ranks_per_block", matrix.ranks_per_block},
          {"pairs_without_row", matrix.dropped_pairs},
          {"pairs", list_of(matrix.pairs)},
          {"blocks", list_of(matrix.blocks)}};
}

Json of(const KernelFigures& kernel) {
  return {{"name", kernel.name},
          {"launches", kernel.launches},
          {"running_s", seconds(kernel.running_ns)},
          {"hides_s", seconds(kernel.hides_ns)},
          {"exposed_after_s", seconds(kernel.exposed_after_ns)},
          {"exposed_at", kernel.exposed_at}};
}

Json of(const CollectiveFigures& collective) {
  return {{"mpi_function", collective.mpi_function},
          {"size_limit_bytes", size_limit_of(collective.size_limit_bytes)},
          {"transport", name_of(collective.transport)},
          {"reason", collective.reason},
          {"calls", collective.calls},
          {"bytes", collective.bytes},
          {"waiting_s", seconds(collective.waiting_ns)},
          {"moving_s", seconds(collective.moving_ns)},
          {"median_gb_per_s", if_known(collective.median_gbps)},
          {"waiting_within_clock_error_s", within_error(collective.waiting_within_error_ns)}};
}

Json of(const LateRankFigures& late) {
  return {{"rank", late.rank},
          {"mpi_function", late.mpi_function},
          {"at", late.at},
          {"times", late.times},
          {"late_s", seconds(late.late_ns)},
          {"in_kernels_s", seconds(late.in_kernels_ns)},
          {"in_mpi_s", seconds(late.in_mpi_ns)},
          {"main_kernel", late.main_kernel},
          {"within_clock_error_s", within_error(late.within_error_ns)}};
}

Json of(const LateReceiveFigures& late) {
  return {{"at", late.at},
          {"messages", late.messages},
          {"ready_s", seconds(late.ready_ns)},
          {"hides_s", seconds(late.hides_ns)},
          {"kernel", late.kernel}};
}

Json of(const LongWaitFigures& wait) {
  return {{"rank", wait.rank},
          {"begin_s", seconds(wait.begin_ns)},
          {"length_s", seconds(wait.length_ns)},
          {"counted_s", seconds(wait.counted_ns)},
          {"cause", identifier_of(wait.cause)},
          {"counterpart_rank", wait.counterpart < 0 ? Json(nullptr) : Json(wait.counterpart)},
          {"at", wait.at},
          {"other_ranks", wait.other_ranks},
          {"within_clock_error_s", within_error(wait.within_error_ns)}};
}

Json of(const HandStagingFigures& staging) {
  return {{"at", staging.at},
          {"messages", staging.messages},
          {"bytes", staging.bytes},
          {"copies_s", seconds(staging.copies_ns)},
          {"exposed_copies_s", seconds(staging.exposed_copies_ns)}};
}

Json of(const Advice& advice) {
  Json json{{"kind", identifier_of(advice.kind)},
            {"saves_at_most_s", seconds(advice.saves_ns)},
            {"text", advice.text}};
  json["shown_in"] = advice.list.empty() ? Json(nullptr) : Json{{"list", advice.list}, {"row", advice.row}};
  return json;
}

Json of(const PathFigures& path) {
  Json calls = Json::array();
  for (const auto& [call, time_ns] : path.calls) {
    calls.push_back({{"call", call}, {"time_s", seconds(time_ns)}});
  }
  Json ranks = Json::array();
  for (const auto& [rank, time_ns] : path.ranks) {
    ranks.push_back({{"rank", rank}, {"time_s", seconds(time_ns)}});
  }
  return {{"kernels_s", seconds(path.kernels_ns)},
          {"host_code_s", seconds(path.host_code_ns)},
          {"communication_s", seconds(path.communication_ns)},
          {"calls", std::move(calls)},
          {"ranks", std::move(ranks)}};
}

Json of(const WhatIfFigures& what_if) {
  return {{"what", what_if.what},
          {"words", what_if.words},
          {"total_s", seconds(what_if.total_ns)},
          {"known_share", if_known(what_if.known_share)}};
}

Json of(const ReplayFigures& replay) {
  Json json{{"observed_s", seconds(replay.observed_ns)},
            {"replayed_s", seconds(replay.replayed_ns)},
            {"edges_left_out", replay.edges_left_out},
            {"efficiency",
             {{"parallel", replay.efficiency.parallel},
              {"load_balance", replay.efficiency.load_balance},
              {"communication", replay.efficiency.communication},
              {"serialisation", replay.efficiency.serialisation},
              {"transfer", replay.efficiency.transfer}}}};
  json["gpu_efficiency"] = nullptr;
  if (replay.gpu_efficiency) {
    json["gpu_efficiency"] = {{"parallel", replay.gpu_efficiency->parallel},
                              {"load_balance", replay.gpu_efficiency->load_balance},
                              {"communication", replay.gpu_efficiency->communication},
                              {"orchestration", replay.gpu_efficiency->orchestration}};
  }
  json["longest_path"] = of(replay.path);
  json["what_if"] = list_of(replay.what_if);
  return json;
}

Json of(const GapFigures& gap) {
  return {{"why", identifier_of(gap.gap)},
          {"mpi_function", gap.mpi_function},
          {"counted_s", seconds(gap.counted_ns)}};
}

Json of(const NoticeFigures& notice) {
  return {{"text", notice.text}, {"ranks", notice.ranks}, {"first_rank", notice.first_rank}};
}

Json of(const Flaw& flaw) {
  return {{"file", flaw.file.string()},
          {"offset_bytes", flaw.offset_bytes ? Json(*flaw.offset_bytes) : Json(nullptr)},
          {"what", flaw.what}};
}

template <typename Figures>
Json list_of(const std::vector<Figures>& figures) {
  Json list = Json::array();
  for (const Figures& each : figures) {
    list.push_back(of(each));
  }
  return list;
}

/// Keeps the first rows of a list, and notes how many were left out.
void shorten(Json& list, std::size_t most_rows, const std::string& name, Json& left_out) {
  if (list.size() > most_rows) {
    left_out[name] = list.size() - most_rows;
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(most_rows), list.end());
  }
}

/// Keeps the ranks with most counted time, in their order.
void shorten_ranks(Json& ranks, std::size_t most_rows, Json& left_out) {
  const auto by_counted = [](const Json& left, const Json& right) {
    const auto counted = [](const Json& rank) {
      return rank["counted_s"].is_null() ? -1.0 : rank["counted_s"].get<double>();
    };
    return counted(left) > counted(right);
  };
  if (ranks.size() > most_rows) {
    std::stable_sort(ranks.begin(), ranks.end(), by_counted);
    shorten(ranks, most_rows, "ranks", left_out);
    std::sort(ranks.begin(), ranks.end(),
              [](const Json& left, const Json& right) { return left["rank"] < right["rank"]; });
  }
}

Json document_of(const Report& report) {
  const bool is_exposed = report.measure == Measure::exposed_communication;
  Json json{{"schema", "penstock-report-2"},
            {"job",
             {{"program", report.program},
              {"mpi", report.mpi_version},
              {"ranks", report.world_size},
              {"hosts", report.hosts},
              {"gpus", report.devices},
              {"simulated_gpu", report.simulated_gpu},
              {"began_unix_s", seconds(report.began_realtime_ns)},
              {"one_clock", report.one_clock},
              {"aligned_hosts", report.one_clock ? Json(nullptr) : Json(report.aligned_hosts)},
              {"host_clock_error_s",
               report.one_clock ? Json(nullptr) : Json(seconds(report.host_clock_error_ns))}}},
            {"measure", is_exposed ? "exposed_communication" : "communication_time"}};
  json["why_not_exposed"] = is_exposed ? Json(nullptr) : Json(report.why_not_exposed);
  json["recorded_part"] = report.recorded_part ? of(*report.recorded_part) : Json(nullptr);
  json["counted"] = {{"ranks", report.counted_ranks},
                     {"total_s", seconds(report.total_ns)},
                     {"counted_s", seconds(report.counted_ns)},
                     {"by_cause_s", seconds_by_cause(report.by_cause)},
                     {"within_clock_error_s", within_error(report.within_error)},
                     {"unmatched_message_halves", report.unmatched_halves}};
  json["steps"] = report.steps ? of(*report.steps) : Json(nullptr);
  if (report.steps && report.recorded_part) {
    json["steps"]["shutdown"] = nullptr;  // nothing is known of it
  }
  json["advice"] = list_of(report.advice);
  json["replay"] = report.replay ? of(*report.replay) : Json(nullptr);
  json["why_no_replay"] = report.why_no_replay.empty() ? Json(nullptr) : Json(report.why_no_replay);
  json["ranks"] = list_of(report.ranks);
  json["call_sites"] = list_of(report.call_sites);
  json["peers"] = list_of(report.peers);
  json["communicators"] = list_of(report.communicators);
  json["mpi_functions"] = list_of(report.functions);
  json["kernels"] = list_of(report.kernels);
  json["collectives"] = list_of(report.collectives);
  json["late_ranks"] = list_of(report.late_ranks);
  json["late_receives"] = list_of(report.late_receives);
  json["longest_waits"] = list_of(report.longest_waits);
  json["staging_by_hand"] = list_of(report.hand_staging);
  json["unattributed"] = list_of(report.gaps);
  json["phases"] = list_of(report.phases);
  json["transports"] = list_of(report.transports);
  json["matrix"] = report.matrix ? of(*report.matrix) : Json(nullptr);
  json["notices"] = list_of(report.notices);
  json["flaws"] = list_of(report.flaws);
  return json;
}

}  // namespace

std::string to_json(const Report& report) {
  return document_of(report).dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string to_short_json(const Report& report, std::size_t most_rows) {
  Json json = document_of(report);
  Json left_out = Json::object();
  shorten_ranks(json["ranks"], most_rows, left_out);
  for (auto& [name, value] : json.items()) {
    if (value.is_array()) {
      shorten(value, most_rows, name, left_out);
    }
  }
  if (json["replay"].is_object()) {
    for (const char* list : {"calls", "ranks"}) {
      shorten(json["replay"]["longest_path"][list], most_rows, std::string("longest_path.") + list, left_out);
    }
  }
  if (json["matrix"].is_object() && !json["matrix"]["blocks"].empty()) {  // without blocks, the pairs are the
                                                                          // picture
    shorten(json["matrix"]["pairs"], most_rows, "matrix.pairs", left_out);
  }
  if (!left_out.empty()) {
    json["left_out"] = std::move(left_out);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace penstock::analysis
