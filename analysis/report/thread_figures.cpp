#include "analysis/report/thread_figures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace penstock::analysis {

std::string label_of(const ThreadFigures& thread, const std::vector<ThreadFigures>& of_rank) {
  if (thread.name.empty()) {
    return std::to_string(thread.number);
  }
  const auto bearers = std::count_if(of_rank.begin(), of_rank.end(),
                                     [&](const ThreadFigures& each) { return each.name == thread.name; });
  return bearers > 1 ? fmt::format("{} ({})", thread.number, thread.name) : thread.name;
}

}  // namespace penstock::analysis
