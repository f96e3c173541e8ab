// The headline of a report: the largest part of the time that could be avoided, whatever it is, in a sentence
// or two. All forms of the report show the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

struct Headline {
  /// The part that is named; none: exposed communication, or all communication where that is not known.
  std::optional<TimePart> part;
  std::uint64_t time_ns = 0;  ///< of what is named; sum over the counted ranks
  std::string text;
};
[[nodiscard]] Headline headline_of(const Report& report);

}  // namespace penstock::analysis
