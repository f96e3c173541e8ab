#include "analysis/report/json/json_parts.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis::json {
namespace {

/// Returns a figure that needs the GPU's kernels: null if they were not recorded.
Json if_kernels_known(const RankFigures& rank, std::uint64_t time_ns) {
  return rank.kernels_known ? Json(seconds(time_ns)) : Json(nullptr);
}

Json overlap_of(const RankFigures& rank, std::uint64_t hidden_ns, std::uint64_t communication_ns) {
  return rank.kernels_known && communication_ns != 0
             ? Json(static_cast<double>(hidden_ns) / static_cast<double>(communication_ns))
             : Json(nullptr);
}

Json phases_of(const ThreadFigures& thread, const RankFigures& rank) {
  Json list = Json::array();
  for (const ThreadPhaseFigures& each : thread.phases) {
    list.push_back({{"name", each.name},
                    {"total_s", seconds(each.total_ns)},
                    {"counted_s", seconds(each.counted_ns)},
                    {"exposed_upper_bound_s", if_kernels_known(rank, each.upper_bound_ns)}});
  }
  return list;
}

Json of_thread(const ThreadFigures& thread, const RankFigures& rank) {
  return {{"number", thread.number},
          {"name", thread.name.empty() ? Json(nullptr) : Json(thread.name)},
          {"gpus", thread.gpus.empty() ? Json(nullptr) : Json(thread.gpus)},
          {"kernels_s", if_kernels_known(rank, thread.kernels_ns)},
          {"host_in_mpi_s", seconds(thread.host_ns)},
          {"in_flight_s", seconds(thread.in_flight_ns)},
          {"communication_s", seconds(thread.communication_ns)},
          {"exposed_s", if_kernels_known(rank, thread.exposed_ns)},
          {"exposed_upper_bound_s", if_kernels_known(rank, thread.upper_bound_ns)},
          {"hidden_s", if_kernels_known(rank, thread.hidden_ns)},
          {"overlap", overlap_of(rank, thread.hidden_ns, thread.communication_ns)},
          {"counted_s", rank.is_counted ? Json(seconds(thread.counted_ns)) : Json(nullptr)},
          {"by_cause_s", rank.is_counted ? seconds_by_cause(thread.by_cause) : Json(nullptr)},
          {"within_clock_error_s", within_error(thread.within_error)},
          {"phases", phases_of(thread, rank)}};
}

}  // namespace

Json of(const RankFigures& rank) {
  Json json{{"rank", rank.rank},
            {"host", rank.host},
            {"finished", rank.finished},
            {"used_gpu", rank.used_gpu},
            {"kernels_recorded", rank.kernels_known},
            {"run_s", seconds(rank.run_ns)},
            {"recorded_from_s", seconds(rank.recorded_from_ns)},
            {"recorded_s", seconds(rank.recorded_ns)},
            {"total_s", seconds(rank.total_ns)},
            {"kernels_s", if_kernels_known(rank, rank.kernels_ns)},
            {"host_in_mpi_s", seconds(rank.host_ns)},
            {"in_flight_s", seconds(rank.in_flight_ns)},
            {"communication_s", seconds(rank.communication_ns)},
            {"exposed_s", if_kernels_known(rank, rank.exposed_ns)},
            {"exposed_upper_bound_s", if_kernels_known(rank, rank.upper_bound_ns)},
            {"hidden_s", if_kernels_known(rank, rank.hidden_ns)}};
  json["overlap"] = overlap_of(rank, rank.hidden_ns, rank.communication_ns);
  json["cuda_synchronisation_s"] = if_kernels_known(rank, rank.cuda_synchronisation_ns);
  json["computing_s"] = if_kernels_known(rank, rank.computing_ns);
  json["gpu_busy_s"] = if_kernels_known(rank, rank.gpu_busy_ns);
  json["counted"] = rank.is_counted;
  json["counted_s"] = rank.is_counted ? Json(seconds(rank.counted_ns)) : Json(nullptr);
  json["by_cause_s"] = rank.is_counted ? seconds_by_cause(rank.by_cause) : Json(nullptr);
  json["within_clock_error_s"] = within_error(rank.within_error);
  json["parts_s"] = seconds_by_part(rank.parts);
  json["records"] = rank.records;
  json["dropped_records"] = rank.dropped_records;
  json["dropped_gpu_records"] = rank.dropped_gpu_records;
  json["tool_cost_s"] = rank.own_cost_ns ? Json(seconds(*rank.own_cost_ns)) : Json(nullptr);
  json["tool_start_s"] = rank.start_cost_ns ? Json(seconds(*rank.start_cost_ns)) : Json(nullptr);
  json["tool_finish_s"] = rank.finish_cost_ns ? Json(seconds(*rank.finish_cost_ns)) : Json(nullptr);
  json["gpu_clock_error_s"] = rank.clock_error_ns ? Json(seconds(*rank.clock_error_ns)) : Json(nullptr);
  for (const ThreadFigures& each : rank.threads) {
    json["threads"].push_back(of_thread(each, rank));
  }
  return json;
}

Json of(const RecordedPart& part) {
  return {{"from_s", seconds(part.from_ns)},
          {"recorded_s", seconds(part.recorded_ns)},
          {"run_s", seconds(part.run_ns)},
          {"run_finished", part.finished},
          {"first_rank", part.first_rank < 0 ? Json(nullptr) : Json(part.first_rank)},
          {"last_rank", part.last_rank < 0 ? Json(nullptr) : Json(part.last_rank)},
          {"is_window", part.is_window},
          {"words", recorded_part_text(part)}};
}

Json of(const NoticeFigures& notice) {
  return {{"text", notice.text}, {"ranks", notice.ranks}, {"first_rank", notice.first_rank}};
}

Json of(const Flaw& flaw) {
  return {{"file", flaw.file.string()},
          {"offset_bytes", flaw.offset_bytes ? Json(*flaw.offset_bytes) : Json(nullptr)},
          {"what", flaw.what},
          {"loses_records", flaw.loses_records}};
}

Json of(const PlacementFigures& placement) {
  return {{"rank", placement.rank},
          {"host", placement.host},
          {"gpus", placement.gpus},
          {"visible_gpus", placement.visible_gpus == 0 ? Json(nullptr) : Json(placement.visible_gpus)},
          {"cores", placement.cores.empty() ? Json(nullptr) : Json(placement.cores)}};
}

Json of(const NetworkFigures& network) {
  return {{"kind", network.kind},
          {"hosts", network.hosts},
          {"received_bytes", network.received},
          {"sent_bytes", network.sent}};
}

Json of(const GpuPowerFigures& gpu) {
  const auto thousandth = [](std::uint64_t value) {
    return value == 0 ? Json(nullptr) : Json(static_cast<double>(value) * 1e-3);
  };
  const auto known = [](std::uint64_t value) { return value == 0 ? Json(nullptr) : Json(value); };
  const auto share = [&gpu](std::uint64_t samples) {
    return gpu.samples == 0 ? Json(nullptr)
                            : Json(static_cast<double>(samples) / static_cast<double>(gpu.samples));
  };
  return {{"host", gpu.host},
          {"index", gpu.index},
          {"pci_bus_id", gpu.bus_id},
          {"rank", gpu.rank},
          {"counted_s", seconds(gpu.counted_ns)},
          {"samples", gpu.samples},
          {"energy_j", gpu.energy_mj ? Json(static_cast<double>(*gpu.energy_mj) * 1e-3) : Json(nullptr)},
          {"mean_power_w", thousandth(gpu.mean_power_mw)},
          {"most_power_w", thousandth(gpu.most_power_mw)},
          {"mean_sm_mhz", known(gpu.mean_sm_mhz)},
          {"least_sm_mhz", known(gpu.least_sm_mhz)},
          {"possible_sm_mhz", known(gpu.most_sm_mhz)},
          {"hottest_c", known(gpu.hottest_c)},
          {"throttled", share(gpu.throttled)},
          {"throttled_by_power", share(gpu.throttled_by_power)},
          {"throttled_by_heat", share(gpu.throttled_by_heat)}};
}

}  // namespace penstock::analysis::json
