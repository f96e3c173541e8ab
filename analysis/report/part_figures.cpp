#include "analysis/report/part_figures.hpp"

#include <fmt/format.h>

namespace penstock::analysis {

std::uint64_t exposed_in(const TimeByPart& times) noexcept {
  std::uint64_t sum_ns = 0;
  for (std::size_t i = 0; i < cause_count; ++i) {
    sum_ns += time_of(times, part_of(static_cast<Cause>(i)));
  }
  return sum_ns;
}

std::string_view name_of(TimePart part) noexcept {
  switch (part) {
    case TimePart::kernels:
      return "kernels";
    case TimePart::mpi_files:
      return "files (MPI_File)";
    case TimePart::nccl:
      return "NCCL";
    case TimePart::staging_by_hand:
      return "staging by hand";
    case TimePart::other_copies:
      return "other copies";
    case TimePart::cuda_synchronisation:
      return "CUDA synchronisation";
    case TimePart::host_code:
      return "host code";
    default:
      return name_of(cause_of(part).value_or(Cause::unattributed));
  }
}

std::string_view identifier_of(TimePart part) noexcept {
  switch (part) {
    case TimePart::kernels:
      return "kernels";
    case TimePart::mpi_files:
      return "mpi_files";
    case TimePart::nccl:
      return "nccl";
    case TimePart::staging_by_hand:
      return "staging_by_hand";
    case TimePart::other_copies:
      return "other_copies";
    case TimePart::cuda_synchronisation:
      return "cuda_synchronisation";
    case TimePart::host_code:
      return "host_code";
    default:
      return identifier_of(cause_of(part).value_or(Cause::unattributed));
  }
}

std::string where_text(const PlaceFigures& place) {
  if (!place.range.empty()) {
    return fmt::format("in the NVTX range {}", place.range);
  }
  if (place.behind.empty() && place.before.empty()) {
    return "outside MPI";
  }
  if (place.behind.empty()) {
    return fmt::format("before {}", place.before);
  }
  if (place.before.empty()) {
    return fmt::format("after {}", place.behind);
  }
  return place.behind == place.before ? fmt::format("between calls of {}", place.before)
                                      : fmt::format("between {} and {}", place.behind, place.before);
}

}  // namespace penstock::analysis
