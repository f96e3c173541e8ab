#include "analysis/report/conclusions/change_advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/layout/text_table.hpp"
#include "analysis/report/conclusions/misplaced.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

std::uint64_t saved_ns(const ReplayFigures& replay, const ChangeFigures& change) {
  return replay.replayed_ns - std::min(replay.replayed_ns, change.total_ns);
}

/// Returns the call of a place: "MPI_Waitall at …"; with others, how many.
std::string calls_text(const std::vector<std::string>& calls) {
  std::string text = calls.empty() ? "" : printable(calls.front());
  if (calls.size() > 1) {
    text += fmt::format(" (and {} more {})", calls.size() - 1, calls.size() == 2 ? "call" : "calls");
  }
  return text;
}

constexpr std::string_view balance_title = "Balance the kernels";

/// Returns the share of what a change saves in the replay that it need not save where ranks share a GPU:
/// kernels of two ranks take turns there, and a message waits for both. From planted faults on one H200
/// (tests/analysis/planted): overlap saved 0.4 to 0.8 of it, less host code 0.55, earlier receives 0.83.
double uncertain_on_shared_gpu(AdviceKind kind) {
  switch (kind) {
    case AdviceKind::overlap:
      return 0.6;
    case AdviceKind::host_code:
      return 0.45;
    default:
      return 0.2;
  }
}

/// Returns the share of what a change saves in the replay that it may save more or less: launches, wake-ups
/// and how much a kernel slows an exchange beside it are not recorded. From planted faults on two H200
/// (tests/analysis/planted): 1 % for host code and balance, 5 % for messages and reductions.
double uncertain_share(AdviceKind kind) {
  return kind == AdviceKind::host_code || kind == AdviceKind::balance_ranks ? 0.02 : 0.05;
}

class ChangeText {
 public:
  ChangeText(const Report& report, const ChangeFigures& change) : report_(report), change_(change) {}

  [[nodiscard]] std::string overlap() const {
    const std::string kernel = printable(change_.kernel);
    return fmt::format(
        "Compute while data moves: {} takes {} a rank, and {} ({} a rank) does not run beside it. Post it "
        "first, and run {} meanwhile.{}",
        calls_text(change_.calls), a_rank(change_.others_ns), kernel, a_rank(change_.time_ns),
        change_.is_part ? fmt::format("the part of {} that needs none of its data", kernel) : kernel,
        ranks_share_gpus(report_) ? " It hides less where ranks share a GPU." : "");
  }

  [[nodiscard]] std::string host_code() const {
    if (change_.is_part) {
      return fmt::format(
          "Host code leaves the GPUs idle for {} a rank, at {} places. The largest{}: {} a rank. Leave it "
          "out, move it to the GPU, or run it beside kernels.",
          a_rank(change_.time_ns), count_text(change_.times), where(), a_rank(change_.others_ns));
    }
    if (change_.rank >= 0) {
      return fmt::format(
          "Other ranks wait for rank {}: it is in host code for {} a time{}, {}; another rank for {}. "
          "Leave it out, share it out, or run it beside kernels.",
          change_.rank, each_time(change_.time_ns), where(), times_text(), each_time(change_.others_ns));
    }
    const bool is_alone = report_.counted_ranks == 1;
    return fmt::format(
        "{} in host code for {} a time{}, {}{}, and the GPU idle meanwhile. Leave it out, move it to the "
        "GPU, or run it beside kernels.",
        is_alone ? "The rank is" : "All ranks are", each_time(change_.time_ns), where(), times_text(),
        is_alone ? "" : " each");
  }

  [[nodiscard]] std::string balance() const {
    return fmt::format(
        "{}: those of rank {} run for {}, those of the average rank for {}{}.", balance_title, change_.rank,
        time_text(static_cast<double>(change_.time_ns)), time_text(static_cast<double>(change_.others_ns)),
        change_.kernel.empty() ? ""
                               : fmt::format("; most of the difference is {}", printable(change_.kernel)));
  }

  [[nodiscard]] std::string combine() const {
    std::vector<std::string> calls;
    for (const std::string& each : change_.calls) {
      calls.push_back(printable(each));
    }
    return calls.size() == 1
               ? fmt::format("Combine calls of {}: {} of them follow{} another one at once.", calls.front(),
                             count_text(change_.times), change_.times == 1 ? "s" : "")
               : fmt::format("Combine {}: each follows the one before at once, {}.",
                             fmt::join(calls, " and "), times_text());
  }

  [[nodiscard]] std::string reduce_less_often() const {
    return fmt::format(
        "Reduce less often: {} makes all ranks wait for each other for a few bytes, {}, {} a rank. If "
        "every tenth time will do, this is saved; else combine it with another reduction, or start it "
        "earlier and complete it later.",
        calls_text(change_.calls), times_text(), a_rank(change_.time_ns));
  }

 private:
  [[nodiscard]] std::string times_text() const {
    return change_.times == 1 ? "once" : fmt::format("{} times", count_text(change_.times));
  }
  [[nodiscard]] std::string a_rank(std::uint64_t sum_ns) const {
    return time_text(static_cast<double>(sum_ns) /
                     static_cast<double>(std::max<std::uint64_t>(report_.counted_ranks, 1)));
  }
  [[nodiscard]] std::string each_time(std::uint64_t sum_ns) const {
    return time_text(static_cast<double>(sum_ns) /
                     static_cast<double>(std::max<std::uint64_t>(change_.times, 1)));
  }
  /// Returns where host code is: its range, and the calls before and behind it.
  [[nodiscard]] std::string where() const {
    const bool is_step = report_.steps && report_.steps->is_range && report_.steps->mark == change_.range;
    std::string text =
        change_.range.empty() || is_step ? "" : fmt::format(" in the range \"{}\"", printable(change_.range));
    const std::string before = printable(change_.calls.front());
    const std::string behind = printable(change_.calls.back());
    if (!before.empty() && !behind.empty()) {
      text += before == behind ? fmt::format(", between two calls of {}", before)
                               : fmt::format(", between {} and {}", before, behind);
    } else if (!before.empty() || !behind.empty()) {
      text += before.empty() ? fmt::format(", before {}", behind) : fmt::format(", after {}", before);
    }
    return text;
  }

  const Report& report_;
  const ChangeFigures& change_;
};

/// Returns an empty text if a row of the report tells it.
std::string text_of(const Report& report, const ChangeFigures& change) {
  const ChangeText text(report, change);
  if (!std::string_view(change.list).empty()) {
    return "";
  }
  switch (change.kind) {
    case AdviceKind::overlap:
      return text.overlap();
    case AdviceKind::host_code:
      return text.host_code();
    case AdviceKind::balance_ranks:
      return text.balance();
    case AdviceKind::combine_collectives:
      return text.combine();
    case AdviceKind::reduce_less_often:
      return text.reduce_less_often();
    default:
      return "";
  }
}

/// Returns true if receives that are posted earlier save most of what an overlap does: the simpler change.
bool is_about_late_receives(const Report& report, const ChangeFigures& overlap) {
  const ReplayFigures& replay = *report.replay;
  return std::any_of(replay.changes.begin(), replay.changes.end(), [&](const ChangeFigures& each) {
    return each.list == std::string_view("late_receives") &&
           std::find(overlap.calls.begin(), overlap.calls.end(), report.late_receives[each.row].at) !=
               overlap.calls.end() &&
           saved_ns(replay, each) * 5 >= saved_ns(replay, overlap) * 4;
  });
}

/// Sets the row of the call that the advice is about.
void show_in_call_sites(const Report& report, const std::string& call, Advice& advice) {
  for (std::size_t row = 0; row < report.call_sites.size(); ++row) {
    const CallSiteFigures& site = report.call_sites[row];
    if (fmt::format("{} at {}", site.mpi_function, place_in_sentence(site)) == call) {
      advice.list = "call_sites";
      advice.row = row;
      return;
    }
  }
}

}  // namespace

Advice replayed(const Report& report, const ChangeFigures& change, Advice advice) {
  const ReplayFigures& replay = *report.replay;
  const std::uint64_t saves_ns = saved_ns(replay, change);
  const std::uint64_t off_ns =
      std::max(replay.observed_ns, replay.replayed_ns) - std::min(replay.observed_ns, replay.replayed_ns);
  std::uint64_t within_error_ns = 0;
  for (const std::uint64_t each : report.within_error) {
    within_error_ns += each;
  }
  const double uncertain = uncertain_share(advice.kind) + share_of(within_error_ns, report.counted_ns) +
                           (ranks_share_gpus(report) ? uncertain_on_shared_gpu(advice.kind) : 0);
  advice.saves_ns = saves_ns * report.counted_ranks;
  advice.uncertainty_ns =
      (change.spread_ns + off_ns + static_cast<std::uint64_t>(static_cast<double>(saves_ns) * uncertain)) *
      report.counted_ranks;
  return advice;
}

std::vector<Advice> advice_on_changes(const Report& report) {
  std::vector<Advice> advice;
  for (const ChangeFigures& each : report.replay->changes) {
    std::string text = text_of(report, each);
    if (text.empty() || (each.kind == AdviceKind::overlap && is_about_late_receives(report, each))) {
      continue;
    }
    advice.push_back(replayed(report, each, {each.kind, 0, std::move(text)}));
    if (each.kind == AdviceKind::balance_ranks) {
      advice.back().title = balance_title;
    } else if (each.kind == AdviceKind::host_code && each.rank >= 0) {
      advice.back().title = fmt::format("{} of rank {}", title_of(advice.back()), each.rank);
    }
    if (!each.calls.empty()) {
      show_in_call_sites(report, each.calls.front().empty() ? each.calls.back() : each.calls.front(),
                         advice.back());
    }
  }
  return advice;
}

bool is_explained(const ReplayFigures& replay, const ChangeFigures& late_rank) {
  return std::any_of(replay.changes.begin(), replay.changes.end(), [&](const ChangeFigures& each) {
    return &each != &late_rank && each.rank == late_rank.rank && each.list != late_rank.list &&
           saved_ns(replay, each) * 10 >= saved_ns(replay, late_rank) * 7;
  });
}

}  // namespace penstock::analysis
