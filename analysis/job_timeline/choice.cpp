#include "analysis/job_timeline/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace penstock::analysis::job_timeline {
namespace {

std::uint64_t length_of(Interval when) {
  return when.end_ns - when.begin_ns;
}

/// Adds a part of the interval's length on either side.
Interval widened(Interval when, double part, std::uint64_t run_ns) {
  const auto margin_ns = static_cast<std::uint64_t>(static_cast<double>(length_of(when)) * part);
  return {when.begin_ns - std::min(when.begin_ns, margin_ns), std::min(run_ns, when.end_ns + margin_ns)};
}

/// Returns a typical step: among those of about median length, the one closest to the middle of the run.
std::size_t typical(std::span<const Interval> steps, const std::vector<std::size_t>& by_length) {
  const std::uint64_t median_ns = length_of(steps[by_length[by_length.size() / 2]]);
  const std::uint64_t tolerance_ns = median_ns / 100;
  const std::size_t middle = steps.size() / 2;
  std::size_t best = by_length[by_length.size() / 2];
  const auto distance = [&](std::size_t step) { return step > middle ? step - middle : middle - step; };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint64_t took_ns = length_of(steps[i]);
    const std::uint64_t off_ns = took_ns > median_ns ? took_ns - median_ns : median_ns - took_ns;
    if (off_ns <= tolerance_ns && distance(i) < distance(best)) {
      best = i;
    }
  }
  return best;
}

}  // namespace

std::map<std::int32_t, std::string> chosen_ranks(const Report& report, std::size_t most,
                                                 std::size_t of_large) {
  std::map<std::int32_t, std::string> chosen;
  if (report.ranks.size() <= most) {
    for (const RankFigures& each : report.ranks) {
      chosen.emplace(each.rank, "");
    }
    return chosen;
  }
  std::vector<const RankFigures*> by_waiting;
  for (const RankFigures& each : report.ranks) {
    by_waiting.push_back(&each);
  }
  std::stable_sort(
      by_waiting.begin(), by_waiting.end(),
      [](const RankFigures* left, const RankFigures* right) { return left->counted_ns < right->counted_ns; });
  const auto is_there = [&](std::int32_t rank) {
    return std::any_of(report.ranks.begin(), report.ranks.end(),
                       [rank](const RankFigures& each) { return each.rank == rank; });
  };
  const auto choose = [&](std::int32_t rank, const char* why) {
    if (chosen.size() < of_large && is_there(rank)) {
      chosen.emplace(rank, why);
    }
  };
  choose(by_waiting.back()->rank, "waits most");
  choose(by_waiting.front()->rank, "waits least");
  choose(by_waiting[by_waiting.size() / 2]->rank, "waits as long as most do");
  constexpr std::size_t named = 4;  // of each list
  for (std::size_t i = 0; i < std::min(named, report.late_ranks.size()); ++i) {
    choose(report.late_ranks[i].rank, "others wait for it at collective calls");
  }
  for (std::size_t i = 0; i < std::min(named, report.peers.size()); ++i) {
    choose(report.peers[i].rank, "others wait for it");
  }
  for (std::size_t i = 0; i < std::min(named, report.longest_waits.size()); ++i) {
    choose(report.longest_waits[i].rank, "has one of the longest waits");
    choose(report.longest_waits[i].counterpart, "another rank waits long for it");
  }
  choose(report.ranks.front().rank, "the first");
  std::vector<std::int32_t> many;
  for (const RankFigures& each : report.ranks) {
    if (!chosen.contains(each.rank)) {
      many.push_back(each.rank);
    }
  }
  const std::size_t left = of_large - std::min(of_large, chosen.size());
  for (std::size_t i = 0; i < left; ++i) {
    choose(many[i * many.size() / left], "one of many");
  }
  return chosen;
}

std::vector<Window> chosen_windows(const Report& report, std::span<const Interval> steps,
                                   std::uint64_t run_ns) {
  constexpr double beside_step = 0.1;
  constexpr double beside_wait = 0.25;
  constexpr std::size_t slow_steps = 3;
  constexpr std::size_t long_waits = 4;
  std::vector<Window> windows;
  const auto add = [&](Interval when, std::string why) {
    const bool is_covered = std::any_of(windows.begin(), windows.end(), [&](const Window& each) {
      return each.when.begin_ns <= when.begin_ns && when.end_ns <= each.when.end_ns;
    });
    if (when.begin_ns < when.end_ns && !is_covered) {
      windows.push_back({when, std::move(why)});
    }
  };
  if (!steps.empty()) {
    std::vector<std::size_t> by_length(steps.size());
    std::iota(by_length.begin(), by_length.end(), std::size_t{0});
    std::stable_sort(by_length.begin(), by_length.end(), [&](std::size_t left, std::size_t right) {
      return length_of(steps[left]) < length_of(steps[right]);
    });
    const std::size_t usual = typical(steps, by_length);
    add(widened(steps[usual], beside_step, run_ns), fmt::format("a typical step: step {}", usual + 1));
    // a step hardly longer than the others is not slow
    const double usual_ns = static_cast<double>(length_of(steps[usual]));
    for (std::size_t i = 0; i < std::min(slow_steps, steps.size()); ++i) {
      const std::size_t slow = by_length[by_length.size() - 1 - i];
      if (static_cast<double>(length_of(steps[slow])) < 1.05 * usual_ns) {
        break;
      }
      add(widened(steps[slow], beside_step, run_ns), i == 0
                                                         ? fmt::format("the slowest step: step {}", slow + 1)
                                                         : fmt::format("a slow step: step {}", slow + 1));
    }
  }
  std::set<std::tuple<std::int32_t, Cause, std::string>> seen;  // one of each kind is enough
  for (const LongWaitFigures& wait : report.longest_waits) {
    if (seen.size() == long_waits || !seen.emplace(wait.rank, wait.cause, wait.at).second) {
      continue;
    }
    const Interval when{std::min(run_ns, wait.begin_ns), std::min(run_ns, wait.begin_ns + wait.length_ns)};
    add(widened(when, beside_wait, run_ns),
        fmt::format("a long wait: rank {}, {}", wait.rank, name_of(wait.cause)));
  }
  if (windows.empty()) {
    const std::uint64_t tenth_ns = run_ns / 10;
    add({run_ns / 2, run_ns / 2 + tenth_ns}, "the middle of the run");
  }
  return windows;
}

}  // namespace penstock::analysis::job_timeline
