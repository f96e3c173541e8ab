#include <utility>

#include "analysis/report/json/json_parts.hpp"

namespace penstock::analysis::json {
namespace {

Json path_json(const PathFigures& path) {
  Json calls = Json::array();
  for (const auto& [call, time_ns] : path.calls) {
    calls.push_back({{"call", call}, {"time_s", seconds(time_ns)}});
  }
  Json ranks = Json::array();
  for (const auto& [rank, time_ns] : path.ranks) {
    ranks.push_back({{"rank", rank}, {"time_s", seconds(time_ns)}});
  }
  return {{"kernels_s", seconds(path.kernels_ns)},
          {"kernel_launch_s", seconds(path.launch_ns)},
          {"host_code_s", seconds(path.host_code_ns)},
          {"communication_s", seconds(path.communication_ns)},
          {"before_steps_s", seconds(path.before_steps_ns)},
          {"first_rank", path.first_rank < 0 ? Json(nullptr) : Json(path.first_rank)},
          {"calls", std::move(calls)},
          {"ranks", std::move(ranks)}};
}

}  // namespace

Json of(const Advice& advice) {
  Json json{{"kind", identifier_of(advice.kind)},
            {"saves_at_most_s", seconds(advice.saves_ns + advice.uncertainty_ns.value_or(0))},
            {"title", title_of(advice)},
            {"text", advice.text}};
  json["saves_s"] = advice.uncertainty_ns ? Json(seconds(advice.saves_ns)) : Json(nullptr);
  json["uncertainty_s"] = advice.uncertainty_ns ? Json(seconds(*advice.uncertainty_ns)) : Json(nullptr);
  json["shown_in"] = advice.list.empty() ? Json(nullptr) : Json{{"list", advice.list}, {"row", advice.row}};
  return json;
}

Json of(const EfficiencyFigures& efficiency) {
  return {{"parallel", efficiency.parallel},
          {"load_balance", efficiency.load_balance},
          {"communication", efficiency.communication},
          {"serialisation", efficiency.serialisation},
          {"transfer", efficiency.transfer}};
}

Json of(const GpuEfficiencyFigures& efficiency) {
  return {{"parallel", efficiency.parallel},
          {"load_balance", efficiency.load_balance},
          {"communication", efficiency.communication},
          {"orchestration", efficiency.orchestration}};
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
            {"efficiency", of(replay.efficiency)}};
  json["gpu_efficiency"] = replay.gpu_efficiency ? of(*replay.gpu_efficiency) : Json(nullptr);
  json["longest_path"] = path_json(replay.path);
  json["what_if"] = list_of(replay.what_if);
  return json;
}

}  // namespace penstock::analysis::json
