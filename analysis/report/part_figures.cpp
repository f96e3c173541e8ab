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
#define PENSTOCK_PART(part, name, meaning) \
  case TimePart::part:                     \
    return name;
#include "analysis/report/parts.def"
    default:
      return name_of(cause_of(part).value_or(Cause::unattributed));
  }
}

std::string_view identifier_of(TimePart part) noexcept {
  switch (part) {
#define PENSTOCK_PART(part, name, meaning) \
  case TimePart::part:                     \
    return #part;
#include "analysis/report/parts.def"
    default:
      return identifier_of(cause_of(part).value_or(Cause::unattributed));
  }
}

std::string_view meaning_of(TimePart part) noexcept {
  switch (part) {
#define PENSTOCK_PART(part, name, meaning) \
  case TimePart::part:                     \
    return meaning;
#include "analysis/report/parts.def"
    default:
      return meaning_of(cause_of(part).value_or(Cause::unattributed));
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
