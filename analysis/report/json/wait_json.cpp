#include <fmt/format.h>

#include "analysis/report/json/json_parts.hpp"

namespace penstock::analysis::json {

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

Json of(const CallPathFigures& path) {
  return {{"mpi_function", path.mpi_function},
          {"frames", path.frames},
          {"shown_frame", path.shown},
          {"call_site", path.call_site},
          {"calls", path.calls},
          {"counted_s", seconds(path.counted_ns)},
          {"by_cause_s", seconds_by_cause(path.by_cause)}};
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

Json of(const PhaseEfficiency& efficiency) {
  return {{"parallel", efficiency.parallel()},
          {"load_balance", efficiency.load_balance},
          {"communication", efficiency.communication}};
}

Json of(const PhaseFigures& phase) {
  Json json{
      {"name", phase.name}, {"total_s", seconds(phase.total_ns)}, {"counted_s", seconds(phase.counted_ns)}};
  json["efficiency"] = nullptr;
  if (phase.efficiency) {
    json["efficiency"] = of(*phase.efficiency);
  }
  return json;
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

Json of(const LatecomerFigures& late) {
  const auto if_any = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {{"rank", late.rank},
          {"mpi_function", late.mpi_function},
          {"at", late.at},
          {"times", late.times},
          {"late_s", seconds(late.late_ns)},
          {"in_kernels_s", seconds(late.in_kernels_ns)},
          {"in_mpi_s", seconds(late.in_mpi_ns)},
          {"in_copies_s", seconds(late.in_copies_ns)},
          {"in_kernel_launch_s", seconds(late.in_launches_ns)},
          {"in_host_code_s", seconds(late.in_host_code_ns)},
          {"main_kernel", if_any(late.main_kernel)},
          {"host_code", if_any(late.host_code)},
          {"longest_s", seconds(late.longest_ns)},
          {"long_times", late.long_times},
          {"long_s", seconds(late.long_ns)},
          {"long_steps", late.long_steps},
          {"within_clock_error_s", within_error(late.within_error_ns)}};
}

Json places(const std::vector<PlaceFigures>& places, const char* time_key) {
  Json list = Json::array();
  for (const PlaceFigures& each : places) {
    list.push_back({{"range", text_or_null(each.range)},
                    {"after", text_or_null(each.behind)},
                    {"before", text_or_null(each.before)},
                    {"where", where_text(each)},
                    {"times", each.times},
                    {time_key, seconds(each.time_ns)},
                    {"most_s", seconds(each.most_ns)},
                    {"most_rank", each.most_rank}});
  }
  return list;
}

Json of(const GapFigures& gap) {
  return {{"why", identifier_of(gap.gap)},
          {"mpi_function", gap.mpi_function},
          {"counted_s", seconds(gap.counted_ns)}};
}

Json of(const KernelFigures& kernel) {
  return {{"name", kernel.name},
          {"launches", kernel.launches},
          {"running_s", seconds(kernel.running_ns)},
          {"hides_s", seconds(kernel.hides_ns)},
          {"exposed_after_s", seconds(kernel.exposed_after_ns)},
          {"exposed_at", kernel.exposed_at}};
}

}  // namespace penstock::analysis::json
