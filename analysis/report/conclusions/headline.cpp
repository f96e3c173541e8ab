#include "analysis/report/conclusions/headline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <span>

#include "analysis/layout/text_table.hpp"
#include "analysis/report/conclusions/misplaced.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

std::string of_whole(const Report& report, std::uint64_t time_ns) {
  return percent_text(share_of(time_ns, report.total_ns));
}

/// Returns "12.3 % of the run (0.123 s of 1.000 s on the average rank) is"; "on rank 1" if it is counted
/// alone.
std::string share_text(const Report& report, std::uint64_t time_ns) {
  const auto ranks = static_cast<double>(std::max<std::uint64_t>(report.counted_ranks, 1));
  const TimeUnit unit(static_cast<double>(report.total_ns) / ranks);
  return fmt::format("{} of the {} ({} of {} on {}) is", of_whole(report, time_ns), whole_of(report),
                     unit.with_unit(static_cast<double>(time_ns) / ranks),
                     unit.with_unit(static_cast<double>(report.total_ns) / ranks), counted_rank_text(report));
}

/// Returns the part that is larger than exposed communication and any other, kernels left aside; nullopt if
/// there is none, or if the parts of a GPU's work are not known.
std::optional<TimePart> largest_beside_exposed(const Report& report) {
  if (!counts_exposed(report) || !report.parts) {
    return std::nullopt;
  }
  std::optional<TimePart> largest;
  std::uint64_t most_ns = exposed_in(*report.parts);
  for (std::size_t i = 0; i < part_count; ++i) {
    const auto part = static_cast<TimePart>(i);
    if (part != TimePart::kernels && !cause_of(part) && (*report.parts)[i] > most_ns) {
      most_ns = (*report.parts)[i];
      largest = part;
    }
  }
  return largest;
}

/// Returns a sentence about where most of the part is, "" if that is not known.
std::string place_of(const Report& report, TimePart part) {
  const std::span<const PlaceFigures> places = places_of(report, part);
  if (places.empty()) {
    return "";
  }
  const PlaceFigures& most = places.front();
  const std::string who = report.counted_ranks > 1 ? fmt::format(", most on rank {}", most.most_rank) : "";
  return fmt::format(" {} of it is {}{}.", percent_text(share_of(most.time_ns, time_of(*report.parts, part))),
                     printable(where_text(most)), who);
}

/// Tells the kind that exposes most, and how much of it is waiting, and for whom.
std::string nccl_verdict(const Report& report) {
  std::string text = "NCCL: its kernels run, and no other.";
  std::uint64_t exposed_ns = 0;
  std::uint64_t waiting_ns = 0;
  if (report.nccl) {
    for (const NcclKindFigures& each : report.nccl->kinds) {
      exposed_ns += each.exposed_ns;
      waiting_ns += each.exposed_waiting_ns;
    }
  }
  if (exposed_ns == 0) {
    return text;
  }
  const NcclKindFigures& most = report.nccl->kinds.front();
  text += fmt::format(" Of what they expose, {} is {}", percent_text(share_of(most.exposed_ns, exposed_ns)),
                      most.kind);
  if (waiting_ns != 0 && !report.nccl->late.empty()) {
    text += fmt::format("; {} is waiting for ranks that come late, above all rank {}",
                        percent_text(share_of(waiting_ns, exposed_ns)), report.nccl->late.front().rank);
  }
  return text + ".";
}

/// Returns what a part is, and where most of it.
std::string verdict_on(const Report& report, TimePart part) {
  switch (part) {
    case TimePart::host_code:
      return "host code: no kernel runs, and the host is outside MPI." + place_of(report, part);
    case TimePart::staging_by_hand:
      return "staging by hand: copies from and to the GPU around messages of host memory, while no kernel "
             "runs." +
             (report.hand_staging.empty()
                  ? ""
                  : fmt::format(" Most of it is for {}.", printable(report.hand_staging.front().at)));
    case TimePart::other_copies:
      return "copies and memsets of the program while no kernel runs." + place_of(report, part);
    case TimePart::kernel_launch:
      return "kernel launch: a kernel has been launched and has not begun, and nothing else of the rank "
             "runs on its GPU." +
             place_of(report, part) +
             (ranks_share_gpus(report) ? " Kernels of ranks that share a GPU take turns." : "");
    case TimePart::cuda_synchronisation:
      return "CUDA synchronisation: the host waits for the GPU, on which no kernel and no copy runs." +
             place_of(report, part);
    case TimePart::nccl:
      return nccl_verdict(report);
    case TimePart::mpi_files:
      return "files: the host is in MPI_File calls, and no kernel runs.";
    default:
      return std::string(name_of(part)) + ".";
  }
}

/// Returns a call site's communication by cause, as the table of parts has it: without files.
TimeByCause communication_by_cause(const Report& report, const CallSiteFigures& site) {
  TimeByCause times = site.by_cause;
  if (counts_exposed(report) && report.parts && is_file_call(site.mpi_function)) {
    times[static_cast<std::size_t>(Cause::unattributed)] = 0;
  }
  return times;
}

std::uint64_t communication_ns(const Report& report, const CallSiteFigures& site) {
  const TimeByCause times = communication_by_cause(report, site);
  return std::accumulate(times.begin(), times.end(), std::uint64_t{0});
}

/// Returns the call site that waits most, and why.
std::string worst_call_text(const Report& report) {
  const auto most =
      std::max_element(report.call_sites.begin(), report.call_sites.end(),
                       [&](const CallSiteFigures& left, const CallSiteFigures& right) {
                         return communication_ns(report, left) < communication_ns(report, right);
                       });
  if (communication_ns(report) == 0 || most == report.call_sites.end()) {
    return "";
  }
  const CallSiteFigures& worst = *most;
  const std::uint64_t site_ns = communication_ns(report, worst);
  const TimeByCause by_cause = communication_by_cause(report, worst);
  const Cause cause = main_cause(by_cause);
  const std::uint64_t of_cause_ns = by_cause[static_cast<std::size_t>(cause)];
  const std::string who = worst.main_counterpart < 0 ? "" : fmt::format("; rank {}", worst.main_counterpart);
  const bool is_unsure = is_within_error(of_cause_ns, worst.within_error[static_cast<std::size_t>(cause)]);
  return fmt::format(" {} of it is {} at {}, above all {} ({} of that{}{}).",
                     percent_text(share_of(site_ns, communication_ns(report))), printable(worst.mpi_function),
                     place_in_sentence(worst), name_of(cause), percent_text(share_of(of_cause_ns, site_ns)),
                     who, is_unsure ? "; within the error of the hosts' clocks" : "");
}

/// Returns what the replay says would save most, which may be elsewhere than the largest part: ranks wait for
/// one that does something else. "" if it is less than a twentieth.
std::string best_advice_text(const Report& report) {
  const auto best = std::find_if(report.advice.begin(), report.advice.end(),
                                 [](const Advice& each) { return each.names_action; });
  if (best == report.advice.end() || !best->uncertainty_ns || best->saves_ns * 20 < report.total_ns) {
    return "";
  }
  std::string title(title_of(*best));
  title.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(title.front())));
  return fmt::format(" First advice: {} ({}).", title, of_whole(report, best->saves_ns));
}

/// Returns why there is no time to tell of.
std::string why_empty(const Report& report) {
  const std::optional<RecordedPart>& part = report.recorded_part;
  if (part && part->awaiting_rank >= 0) {
    return fmt::format(
        "No figures: the run is not known, as the window to be recorded never began on rank {}.",
        part->awaiting_rank);
  }
  if (part && part->first_rank >= 0) {
    return "No figures: the run is not known, as no rank has a record from before the first one that was "
           "dropped.";
  }
  return fmt::format("No figures: the {} is empty.", whole_of(report));
}

}  // namespace

Headline headline_of(const Report& report) {
  if (report.counted_ranks == 0) {
    return {.text = "No figures: no rank has a usable recording."};
  }
  if (report.total_ns == 0) {
    return {.text = why_empty(report)};
  }
  if (const std::optional<TimePart> worst = largest_beside_exposed(report)) {
    const std::uint64_t time_ns = time_of(*report.parts, *worst);
    return {worst, time_ns,
            fmt::format("{} {} {} is exposed communication.{}", share_text(report, time_ns),
                        verdict_on(report, *worst), of_whole(report, communication_ns(report)),
                        best_advice_text(report))};
  }
  const std::string what = counts_exposed(report)
                               ? "exposed communication: the rank is in MPI and its GPU computes nothing."
                               : fmt::format("communication time. How much of it is exposed is unknown: {}.",
                                             printable(report.why_not_exposed));
  const std::uint64_t time_ns = communication_ns(report);
  return {std::nullopt, time_ns,
          fmt::format("{} {}{}{}", share_text(report, time_ns), what, worst_call_text(report),
                      best_advice_text(report))};
}

}  // namespace penstock::analysis
