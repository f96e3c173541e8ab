#include "analysis/report/json/json_parts.hpp"

namespace penstock::analysis::json {

Json of(const NcclKindFigures& kind) {
  const bool has_kernels = kind.kernel_ns != 0;
  const auto known_seconds = [](bool is_known, std::uint64_t time_ns) {
    return is_known ? Json(seconds(time_ns)) : Json(nullptr);
  };
  return {{"kind", kind.kind},
          {"calls", kind.calls},
          {"calls_without_bytes", kind.calls_without_bytes},
          {"bytes", kind.calls > kind.calls_without_bytes ? Json(kind.bytes) : Json(nullptr)},
          {"kernels", kind.kernels},
          {"joined_kernels", kind.joined_kernels},
          {"kernel_s", known_seconds(has_kernels, kind.kernel_ns)},
          {"exposed_s", known_seconds(has_kernels, kind.exposed_ns)},
          {"hidden_s", known_seconds(has_kernels, kind.kernel_ns - kind.exposed_ns)},
          {"waiting_s", known_seconds(kind.joined_kernels != 0, kind.waiting_ns)},
          {"exposed_waiting_s", known_seconds(kind.joined_kernels != 0, kind.exposed_waiting_ns)},
          {"median_gb_per_s", if_known(kind.median_gbps)},
          {"waiting_within_clock_error_s", within_error(kind.waiting_within_error_ns)}};
}

Json of(const NcclLateFigures& late) {
  return {{"rank", late.rank},
          {"kind", late.kind},
          {"times", late.times},
          {"late_s", seconds(late.late_ns)},
          {"in_kernels_s", seconds(late.in_kernels_ns)},
          {"in_mpi_s", seconds(late.in_mpi_ns)},
          {"main_kernel", late.main_kernel},
          {"within_clock_error_s", within_error(late.within_error_ns)}};
}

Json of(const NcclFigures& nccl) {
  return {{"kinds", list_of(nccl.kinds)}, {"late_ranks", list_of(nccl.late)}, {"unknown", unknowns_of(nccl)}};
}

}  // namespace penstock::analysis::json
