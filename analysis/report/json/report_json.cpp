#include "analysis/report/json/report_json.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/report/conclusions/headline.hpp"
#include "analysis/report/conclusions/misplaced.hpp"
#include "analysis/report/json/json_parts.hpp"

namespace penstock::analysis {
namespace json {
namespace {

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

Json headline_json(const Headline& headline) {
  return {{"part", headline.part ? Json(identifier_of(*headline.part)) : Json(nullptr)},
          {"time_s", seconds(headline.time_ns)},
          {"words", headline.text}};
}

Json job_of(const Report& report) {
  return {
      {"program", report.program},
      {"mpi", report.mpi_version},
      {"ranks", report.world_size},
      {"hosts", report.hosts},
      {"gpus", report.devices},
      {"simulated_gpu", report.simulated_gpu},
      {"began_unix_s", seconds(report.began_realtime_ns)},
      {"commit", text_or_null(report.facts.commit)},
      {"batch_job", text_or_null(report.facts.batch_job)},
      {"driver", text_or_null(report.facts.driver)},
      {"allocators", text_or_null(report.facts.allocators)},
      {"one_clock", report.one_clock},
      {"aligned_hosts", report.one_clock ? Json(nullptr) : Json(report.aligned_hosts)},
      {"host_clock_error_s", report.one_clock ? Json(nullptr) : Json(seconds(report.host_clock_error_ns))}};
}

Json gpu_power_of(const Report& report) {
  const std::optional<std::uint64_t> energy_mj = energy_of(report.gpu_power);
  return {{"words", text_or_null(energy_text(report))},
          {"throttled", throttled_texts(report)},
          {"energy_j", energy_mj ? Json(static_cast<double>(*energy_mj) * 1e-3) : Json(nullptr)},
          {"energy_per_step_j", if_known(joules_per_step(report))},
          {"gpus", list_of(report.gpu_power)}};
}

Json document_of(const Report& report) {
  const bool is_exposed = counts_exposed(report);
  Json json{{"schema", "penstock-report-2"},
            {"job", job_of(report)},
            {"measure", is_exposed ? "exposed_communication" : "communication_time"}};
  json["why_not_exposed"] = is_exposed ? Json(nullptr) : Json(report.why_not_exposed);
  json["headline"] = headline_json(headline_of(report));
  json["recorded_part"] = report.recorded_part ? of(*report.recorded_part) : Json(nullptr);
  json["unfinished"] = report.unfinished ? of(*report.unfinished) : Json(nullptr);
  json["counted"] = {{"ranks", report.counted_ranks},
                     {"total_s", seconds(report.total_ns)},
                     {"counted_s", seconds(report.counted_ns)},
                     {"by_cause_s", seconds_by_cause(report.by_cause)},
                     {"within_clock_error_s", within_error(report.within_error)},
                     {"parts_s", seconds_by_part(report.parts)},
                     {"unmatched_message_halves", report.unmatched_halves}};
  json["steps"] = report.steps ? of(*report.steps) : Json(nullptr);
  // where nothing is known of them
  if (report.steps && report.recorded_part && report.recorded_part->lacks_end()) {
    json["steps"]["shutdown"] = nullptr;
  }
  if (report.steps && report.recorded_part && report.recorded_part->lacks_begin()) {
    json["steps"]["start_up"] = nullptr;
  }
  json["advice"] = list_of(report.advice);
  json["replay"] = report.replay ? of(*report.replay) : Json(nullptr);
  json["why_no_replay"] = report.why_no_replay.empty() ? Json(nullptr) : Json(report.why_no_replay);
  json["ranks"] = list_of(report.ranks);
  json["call_sites"] = list_of(report.call_sites);
  json["call_paths"] = list_of(report.call_paths);
  json["peers"] = list_of(report.peers);
  json["communicators"] = list_of(report.communicators);
  json["mpi_functions"] = list_of(report.functions);
  json["kernels"] = list_of(report.kernels);
  json["collectives"] = list_of(report.collectives);
  json["late_ranks"] = list_of(report.late_ranks);
  json["latecomers"] = list_of(report.latecomers);
  json["nccl"] = report.nccl ? of(*report.nccl) : Json(nullptr);
  json["late_receives"] = list_of(report.late_receives);
  json["longest_waits"] = list_of(report.longest_waits);
  json["staging_by_hand"] = list_of(report.hand_staging);
  json["host_code"] = places(report.host_code, "host_code_s");
  json["other_copies"] = places(report.other_copies, "time_s");
  json["kernel_launch"] = places(report.kernel_launch, "time_s");
  json["cuda_synchronisation"] = places(report.cuda_synchronisation, "time_s");
  json["unattributed"] = list_of(report.gaps);
  json["phases"] = list_of(report.phases);
  json["transports"] = list_of(report.transports);
  json["matrix"] = report.matrix ? of(*report.matrix) : Json(nullptr);
  json["placement"] = {{"mistakes", misplaced_texts(report)}, {"ranks", list_of(report.placement)}};
  json["gpu_power"] = gpu_power_of(report);
  json["network"] = list_of(report.network);
  json["notices"] = list_of(report.notices);
  json["flaws"] = list_of(report.flaws);
  return json;
}

Json short_document_of(const Report& report, std::size_t most_rows) {
  Json json = document_of(report);
  Json left_out = Json::object();
  shorten_ranks(json["ranks"], most_rows, left_out);
  for (auto& [name, value] : json.items()) {
    if (value.is_array()) {
      shorten(value, most_rows, name, left_out);
    }
  }
  if (json["unfinished"].is_object()) {
    shorten(json["unfinished"]["ranks"], most_rows, "unfinished.ranks", left_out);
  }
  for (const char* list : {"gpus", "throttled"}) {
    shorten(json["gpu_power"][list], most_rows, std::string("gpu_power.") + list, left_out);
  }
  shorten(json["placement"]["ranks"], most_rows, "placement.ranks", left_out);
  if (json["nccl"].is_object()) {
    shorten(json["nccl"]["late_ranks"], most_rows, "nccl.late_ranks", left_out);
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
  return json;
}

}  // namespace
}  // namespace json

std::string to_json(const Report& report) {
  return json::document_of(report).dump(2, ' ', false, json::Json::error_handler_t::replace);
}

std::string to_json_of_look(const Report& report) {
  const json::Json document{
      {"schema", "penstock-look-1"},
      {"job", json::job_of(report)},
      {"unfinished", report.unfinished ? json::of(*report.unfinished) : json::Json(nullptr)},
      {"flaws", json::list_of(report.flaws)}};
  return document.dump(2, ' ', false, json::Json::error_handler_t::replace);
}

std::string to_short_json(const Report& report, std::size_t most_rows) {
  return json::short_document_of(report, most_rows)
      .dump(-1, ' ', false, json::Json::error_handler_t::replace);
}

}  // namespace penstock::analysis
