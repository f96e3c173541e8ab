// What a rank did while others waited for it to come, added up over the times when they did.
#pragma once

#include <cstdint>
#include <tuple>

#include "analysis/figures/kernel_times.hpp"

namespace penstock::analysis {

struct LateSums {
  std::uint64_t times = 0;
  std::uint64_t late_ns = 0;
  std::uint64_t in_kernels_ns = 0;
  std::uint64_t in_mpi_ns = 0;  ///< in calls while its GPU did not compute
  std::uint64_t within_error_ns = 0;
  KernelTimes kernels;
  auto members() { return std::tie(times, late_ns, in_kernels_ns, in_mpi_ns, within_error_ns, kernels); }

  /// Adds one time: from when others waited until the rank came. `error_ns`: how much of it may be none.
  void add(const Timeline& timeline, NameIds& names, Interval late, std::uint64_t error_ns) {
    ++times;
    late_ns += late.end_ns - late.begin_ns;
    in_kernels_ns += timeline.kernels.measure_within_ns(late.begin_ns, late.end_ns);
    in_mpi_ns += timeline.exposed.measure_within_ns(late.begin_ns, late.end_ns);
    within_error_ns += error_ns;
    kernels.add(timeline, names, late);
  }
};

}  // namespace penstock::analysis
