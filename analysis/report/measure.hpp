// What a report counts, and how far the hosts' clocks may distort it.
#pragma once

#include <cstdint>
#include <string>

namespace penstock::analysis {

/// The meaning of `counted` throughout a report. Absent is not zero: if GPU kernels were not recorded, the
/// time hidden behind them is unknown, and the report shows the time in communicating calls instead.
enum class Measure : std::uint8_t { exposed_communication, communication_time };

/// The measure of a report and why it is not exposed communication; chosen once all ranks are known.
struct MeasureChoice {
  Measure measure = Measure::exposed_communication;
  std::string why_not;
};

// `within_error`, `within_error_ns`: the part of a figure that lies within the error of the hosts' clocks and
// may belong to another cause, or to none. 0 on one host. The exposed time itself is not affected, only its
// causes.

/// Returns true if the clocks' error makes a figure meaningless: half of it or more lies within the error.
[[nodiscard]] inline bool is_within_error(std::uint64_t figure_ns, std::uint64_t within_error_ns) noexcept {
  return figure_ns != 0 && within_error_ns >= figure_ns - within_error_ns;
}

}  // namespace penstock::analysis
