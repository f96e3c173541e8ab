#include <algorithm>
#include <cstddef>
#include <string>

#include "analysis/report/json/json_parts.hpp"

namespace penstock::analysis::json {

double seconds(std::uint64_t time_ns) {
  return static_cast<double>(time_ns) * 1e-9;
}

Json seconds_by_cause(const TimeByCause& times) {
  Json object = Json::object();
  for (std::size_t i = 0; i < cause_count; ++i) {
    object[std::string(identifier_of(static_cast<Cause>(i)))] = seconds(times[i]);
  }
  return object;
}

Json seconds_by_part(const std::optional<TimeByPart>& times) {
  if (!times) {
    return nullptr;
  }
  Json object = Json::object();
  for (std::size_t i = 0; i < part_count; ++i) {
    object[std::string(identifier_of(static_cast<TimePart>(i)))] = seconds((*times)[i]);
  }
  return object;
}

Json within_error(const TimeByCause& times) {
  const bool is_none = std::all_of(times.begin(), times.end(), [](std::uint64_t each) { return each == 0; });
  return is_none ? Json(nullptr) : seconds_by_cause(times);
}

Json within_error(std::uint64_t time_ns) {
  return time_ns == 0 ? Json(nullptr) : Json(seconds(time_ns));
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json if_known(const std::optional<double>& figure) {
  return figure ? Json(*figure) : Json(nullptr);
}

Json size_limit_of(std::uint64_t limit_bytes) {
  return limit_bytes == 0 ? Json(nullptr) : Json(limit_bytes);
}

}  // namespace penstock::analysis::json
