#include "analysis/comparison/same_run.hpp"

#include <fmt/format.h>

namespace penstock::analysis {

bool are_of_one_run(const Report& left, const Report& right) {
  const bool is_known = left.began_realtime_ns != 0 && !left.hosts.empty() && !right.hosts.empty();
  return is_known && left.began_realtime_ns == right.began_realtime_ns &&
         left.first_process_id == right.first_process_id && left.hosts.front() == right.hosts.front();
}

std::string same_run_text(const std::string& again, const std::string& counted) {
  return again == counted
             ? fmt::format("{} is named twice, and counts once", again)
             : fmt::format("{} is of the same run as {}, and does not count again", again, counted);
}

}  // namespace penstock::analysis
