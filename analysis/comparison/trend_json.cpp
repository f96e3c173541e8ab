#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/comparison/diff_json.hpp"
#include "analysis/comparison/trend_text.hpp"
#include "analysis/comparison/trend_words.hpp"
#include "analysis/report/json/json_parts.hpp"

namespace penstock::analysis {
namespace {

using json::Json;

Json parts_json(const TrendRun& run) {
  if (!run.parts_ns) {
    return nullptr;
  }
  Json json = Json::object();
  for (std::size_t i = 0; i < part_count; ++i) {
    json[std::string(identifier_of(static_cast<TimePart>(i)))] = (*run.parts_ns)[i] * 1e-9;
  }
  return json;
}

Json row_json(const DiffRow& row) {
  Json json = json::of(row);
  json["runs_margin_s"] = row.runs_margin_ns ? Json(*row.runs_margin_ns * 1e-9) : Json(nullptr);
  return json;
}

Json rows_json(const std::vector<DiffRow>& rows) {
  Json list = Json::array();
  for (const DiffRow& row : rows) {
    list.push_back(row_json(row));
  }
  return list;
}

Json regions_json(const TrendRun& run, const std::vector<std::string>& names) {
  Json list = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    Json row{{"name", names[i]}, {"total_s", nullptr}, {"counted_s", nullptr}};
    if (run.regions[i]) {
      row["total_s"] = run.regions[i]->total_ns * 1e-9;
      if (run.regions[i]->counted_ns) {
        row["counted_s"] = *run.regions[i]->counted_ns * 1e-9;
      }
    }
    list.push_back(std::move(row));
  }
  return list;
}

Json run_json(const TrendRun& run, const std::vector<std::string>& regions, const TrendWords& words) {
  Json json{{"recording", run.recording}};
  json.update(json::of(run.state));
  json["commit"] = json::text_or_null(run.facts.commit);
  json["batch_job"] = json::text_or_null(run.facts.batch_job);
  json["driver"] = json::text_or_null(run.facts.driver);
  json["missing"] = json::text_or_null(run.what_is_missing);
  json["steps"] = run.steps == 0 ? Json(nullptr) : Json(run.steps);
  json["time_s"] = run.time_ns * 1e-9;
  json["step_quartiles_s"] = nullptr;
  if (run.step_quartiles) {
    json["step_quartiles_s"] = {{"low", run.step_quartiles->low * 1e-9},
                                {"median", run.step_quartiles->median * 1e-9},
                                {"high", run.step_quartiles->high * 1e-9}};
  }
  json["counted_share"] = json::if_known(run.counted_share);
  json["parts_s"] = parts_json(run);
  json["efficiency"] = run.efficiency ? json::of(*run.efficiency) : Json(nullptr);
  json["gpu_efficiency"] = run.gpu_efficiency ? json::of(*run.gpu_efficiency) : Json(nullptr);
  json["regions"] = regions_json(run, regions);
  json["change"] = nullptr;
  if (run.change) {
    json["change"] = {
        {"time", row_json(run.change->totals.front())},      {"parts", rows_json(run.change->parts)},
        {"regions", rows_json(run.change->regions)},         {"other_pairs", run.change->other_pairs},
        {"words", json::text_or_null(words.change_of(run))}, {"remarks", run.change->remarks}};
  }
  return json;
}

/// `first`: of the runs that are written.
Json trend_document(const Trend& trend, const std::vector<LeftOut>& left_out, std::size_t first) {
  const TrendWords words(trend);
  Json json{{"schema", "penstock-trend-1"},
            {"time_of", words.one()},
            {"measure", trend.is_exposed ? "exposed_communication" : "communication_time"},
            {"what_ran", words.what_ran()},
            {"headline", words.headline()},
            {"explanation", words.explanation()},
            {"runs_left_out", first},
            {"runs", Json::array()},
            {"since_first", trend.since_first ? row_json(*trend.since_first) : Json(nullptr)},
            {"left_out", Json::array()},
            {"remarks", words.remarks(left_out, first)}};
  for (std::size_t i = first; i < trend.runs.size(); ++i) {
    json["runs"].push_back(run_json(trend.runs[i], trend.regions, words));
  }
  for (const LeftOut& each : left_out) {
    json["left_out"].push_back({{"recording", each.recording}, {"why", each.why}});
  }
  return json;
}

}  // namespace

std::string to_json(const Trend& trend, const std::vector<LeftOut>& left_out) {
  return trend_document(trend, left_out, 0).dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string to_short_json(const Trend& trend, const std::vector<LeftOut>& left_out, std::size_t most_runs) {
  const std::size_t first = trend.runs.size() - std::min(most_runs, trend.runs.size());
  return trend_document(trend, left_out, first).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace penstock::analysis
