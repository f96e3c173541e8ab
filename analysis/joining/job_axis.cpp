#include "analysis/joining/job_axis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace penstock::analysis {

HostAxis::HostAxis(Interval run, std::int64_t first_ns, std::int64_t last_ns)
    : begin_ns_(run.begin_ns), first_ns_(first_ns) {
  const auto length_ns = static_cast<double>(run.end_ns - run.begin_ns);
  // a drift of more than one in a thousand is no clock's drift
  constexpr double largest_drift = 1e-3;
  if (length_ns > 0) {
    const double drift = static_cast<double>(last_ns - first_ns) / length_ns - 1;
    drift_ = std::abs(drift) < largest_drift ? drift : 0;
  }
}

std::uint64_t HostAxis::at(std::uint64_t host_ns) const noexcept {
  const auto since_ns = static_cast<std::int64_t>(host_ns - begin_ns_);
  std::int64_t shift_ns = first_ns_;
  if (drift_ != 0) {
    shift_ns += std::llround(drift_ * static_cast<double>(since_ns));
  }
  return std::min(end_ns_, static_cast<std::uint64_t>(std::max<std::int64_t>(0, since_ns + shift_ns)));
}

JobAxis::JobAxis(const MessageIndex& index) {
  const auto hosts = static_cast<std::uint32_t>(index.host_count());
  const ClockAlignment& clocks = index.clocks();
  const auto on_first = [&](std::uint32_t host, std::uint64_t time_ns) {
    return static_cast<std::int64_t>(clocks.convert(time_ns, host, 0));
  };
  std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t host = 0; host < hosts; ++host) {
    if (host == 0 || clocks.can_convert(host, 0)) {
      begin_ns = std::min(begin_ns, on_first(host, index.run_of(host).begin_ns));
    }
  }
  for (std::uint32_t host = 0; host < hosts; ++host) {
    const Interval run = index.run_of(host);
    if (host != 0 && !clocks.can_convert(host, 0)) {
      hosts_.emplace_back(run, 0, static_cast<std::int64_t>(run.end_ns - run.begin_ns));
    } else {
      hosts_.emplace_back(run, on_first(host, run.begin_ns) - begin_ns,
                          on_first(host, run.end_ns) - begin_ns);
    }
    length_ns_ = std::max(length_ns_, hosts_.back().at(run.end_ns));
  }
  for (HostAxis& each : hosts_) {
    each.ends_at(length_ns_);
  }
}

}  // namespace penstock::analysis
