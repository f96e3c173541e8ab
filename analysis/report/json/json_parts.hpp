// The parts of the report as JSON. A new part is declared here and lies with its subject; report_json.cpp
// puts it into the document.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.hpp"

namespace penstock::analysis::json {

using Json = nlohmann::ordered_json;

[[nodiscard]] double seconds(std::uint64_t time_ns);
[[nodiscard]] Json seconds_by_cause(const TimeByCause& times);
/// Returns the part of such times that lies within the error of the hosts' clocks; null for none.
[[nodiscard]] Json within_error(const TimeByCause& times);
[[nodiscard]] Json within_error(std::uint64_t time_ns);
[[nodiscard]] Json seconds_by_part(const std::optional<TimeByPart>& times);
[[nodiscard]] Json if_known(const std::optional<double>& figure);
/// Returns null for an empty text.
[[nodiscard]] Json text_or_null(const std::string& text);
[[nodiscard]] Json size_limit_of(std::uint64_t limit_bytes);

[[nodiscard]] Json of(const Advice& advice);
[[nodiscard]] Json of(const CallPathFigures& path);
[[nodiscard]] Json of(const CallSiteFigures& site);
[[nodiscard]] Json of(const CollectiveFigures& collective);
[[nodiscard]] Json of(const CommunicatorFigures& communicator);
[[nodiscard]] Json of(const EfficiencyFigures& efficiency);
[[nodiscard]] Json of(const Flaw& flaw);
[[nodiscard]] Json of(const FunctionFigures& function);
[[nodiscard]] Json of(const GapFigures& gap);
[[nodiscard]] Json of(const GpuEfficiencyFigures& efficiency);
[[nodiscard]] Json of(const GpuPowerFigures& gpu);
[[nodiscard]] Json of(const HandStagingFigures& staging);
[[nodiscard]] Json of(const KernelFigures& kernel);
[[nodiscard]] Json of(const LateRankFigures& late);
[[nodiscard]] Json of(const LatecomerFigures& late);
[[nodiscard]] Json of(const LateReceiveFigures& late);
[[nodiscard]] Json of(const LongWaitFigures& wait);
[[nodiscard]] Json of(const MatrixCell& cell);
[[nodiscard]] Json of(const MatrixFigures& matrix);
[[nodiscard]] Json of(const NcclFigures& nccl);
[[nodiscard]] Json of(const NcclKindFigures& kind);
[[nodiscard]] Json of(const NcclLateFigures& late);
[[nodiscard]] Json of(const NetworkFigures& network);
[[nodiscard]] Json of(const NoticeFigures& notice);
[[nodiscard]] Json of(const OpenCallFigures& call);
[[nodiscard]] Json of(const PeerFigures& peer);
[[nodiscard]] Json of(const PhaseEfficiency& efficiency);
[[nodiscard]] Json of(const StepsEfficiency& steps);
[[nodiscard]] Json of(const PhaseFigures& phase);
[[nodiscard]] Json of(const PlacementFigures& placement);
[[nodiscard]] Json of(const RankFigures& rank);
[[nodiscard]] Json of(const RecordedPart& part);
[[nodiscard]] Json of(const ReplayFigures& replay);
[[nodiscard]] Json of(const StandstillFigures& standstill);
[[nodiscard]] Json of(const StepsFigures& steps);
[[nodiscard]] Json of(const TransportFigures& transport);
[[nodiscard]] Json of(const UnfinishedFigures& unfinished);
[[nodiscard]] Json of(const UnfinishedRankFigures& rank);
[[nodiscard]] Json of(const WhatIfFigures& what_if);

/// `time_key` is the key of the time.
[[nodiscard]] Json places(const std::vector<PlaceFigures>& places, const char* time_key);

template <typename Figures>
[[nodiscard]] Json list_of(const std::vector<Figures>& figures) {
  Json list = Json::array();
  for (const Figures& each : figures) {
    list.push_back(of(each));
  }
  return list;
}

}  // namespace penstock::analysis::json
