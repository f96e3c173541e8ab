#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {

namespace {

/// Returns "12.3 % of the run (0.123 s of 1.000 s on the average rank) is".
std::string share_text(const ReportWriter& out, std::uint64_t time_ns) {
  return fmt::format("{} of the {} ({} of {} on the average rank) is", out.of_whole(time_ns), out.whole,
                     out.unit.with_unit(static_cast<double>(time_ns) / out.ranks),
                     out.unit.with_unit(static_cast<double>(out.report.total_ns) / out.ranks));
}

/// Returns the part that is larger than exposed communication and any other, kernels left aside; nullopt if
/// there is none, or if the parts of a GPU's work are not known.
std::optional<TimePart> largest_beside_exposed(const ReportWriter& out) {
  if (!out.is_exposed || !out.report.parts) {
    return std::nullopt;
  }
  std::optional<TimePart> largest;
  std::uint64_t most_ns = exposed_in(*out.report.parts);
  for (std::size_t i = 0; i < part_count; ++i) {
    const auto part = static_cast<TimePart>(i);
    if (part != TimePart::kernels && !cause_of(part) && (*out.report.parts)[i] > most_ns) {
      most_ns = (*out.report.parts)[i];
      largest = part;
    }
  }
  return largest;
}

std::string host_code_verdict(const ReportWriter& out) {
  std::string text = "host code: no kernel runs, and the host is outside MPI.";
  if (!out.report.host_code.empty()) {
    const HostCodeFigures& place = out.report.host_code.front();
    const std::uint64_t all_ns = time_of(*out.report.parts, TimePart::host_code);
    const std::string who =
        out.report.counted_ranks > 1 ? fmt::format(", most on rank {}", place.most_rank) : "";
    text += fmt::format(" {} of it is {}{}.", percent_text(share_of(place.host_code_ns, all_ns)),
                        printable(where_text(place)), who);
  }
  return text;
}

/// Returns what a part is, and where most of it.
std::string verdict_on(const ReportWriter& out, TimePart part) {
  switch (part) {
    case TimePart::host_code:
      return host_code_verdict(out);
    case TimePart::staging_by_hand:
      return "staging by hand: copies from and to the GPU around messages of host memory, while no kernel "
             "runs." +
             (out.report.hand_staging.empty()
                  ? ""
                  : fmt::format(" Most of it is for {}.", printable(out.report.hand_staging.front().at)));
    case TimePart::other_copies:
      return "copies and memsets of the program while no kernel runs.";
    case TimePart::cuda_synchronisation:
      return "CUDA synchronisation: the host waits for the GPU, on which no kernel and no copy runs.";
    case TimePart::nccl:
      return "NCCL: its kernels run, and no other.";
    case TimePart::mpi_files:
      return "files: the host is in MPI_File calls, and no kernel runs.";
    default:
      return std::string(name_of(part)) + ".";
  }
}

/// Returns the call site that waits most, and why.
std::string worst_call_text(const ReportWriter& out) {
  if (out.report.counted_ns == 0 || out.report.call_sites.empty()) {
    return "";
  }
  const CallSiteFigures& worst = out.report.call_sites.front();
  const Cause cause = main_cause(worst.by_cause);
  const std::uint64_t of_cause_ns = worst.by_cause[static_cast<std::size_t>(cause)];
  const std::string who = worst.main_counterpart < 0 ? "" : fmt::format("; rank {}", worst.main_counterpart);
  const bool is_unsure = is_within_error(of_cause_ns, worst.within_error[static_cast<std::size_t>(cause)]);
  return fmt::format(" {} of it is {} at {}, above all {} ({} of that{}{}).",
                     percent_text(share_of(worst.counted_ns, out.report.counted_ns)),
                     printable(worst.mpi_function), place_in_sentence(worst), name_of(cause),
                     percent_text(share_of(of_cause_ns, worst.counted_ns)), who,
                     is_unsure ? "; within the error of the hosts' clocks" : "");
}

}  // namespace

void write_header(ReportWriter& out) {
  const auto began = static_cast<std::time_t>(out.report.began_realtime_ns / 1'000'000'000);
  std::vector<std::string> facts{
      fmt::format("{} rank{} on {}", out.report.world_size, out.report.world_size == 1 ? "" : "s",
                  out.report.hosts.size() == 1 ? printable(out.report.hosts.front())
                                               : fmt::format("{} hosts", out.report.hosts.size())),
      short_version(out.report.mpi_version)};
  if (out.report.simulated_gpu) {
    facts.emplace_back("simulated GPU");
  } else if (!out.report.devices.empty()) {
    facts.push_back(printable(out.report.devices.front()));
  }
  facts.push_back(fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(began)));
  std::erase(facts, std::string());
  out.line(out.bold(shortened("penstock · " + command_text(out.report.program), screen_columns)));
  out.line(out.dim(shortened(fmt::format("{}", fmt::join(facts, " · ")), screen_columns)));
  out.line();
}

/// Prints what no figure covers.
void write_recorded_part(ReportWriter& out) {
  if (out.report.recorded_part) {
    out.warn("! " + recorded_part_text(*out.report.recorded_part) + ".");
    out.line();
  }
}

void write_verdict(ReportWriter& out) {
  std::string text;
  if (out.report.counted_ranks == 0) {
    text = "No figures: no rank has a usable recording.";
  } else if (out.report.total_ns == 0) {
    text = fmt::format("No figures: the {} is empty.", out.whole);
  } else if (const std::optional<TimePart> worst = largest_beside_exposed(out)) {
    text =
        fmt::format("{} {} {} is exposed communication.", share_text(out, time_of(*out.report.parts, *worst)),
                    verdict_on(out, *worst), out.of_whole(out.report.counted_ns));
  } else if (out.is_exposed) {
    text = share_text(out, out.report.counted_ns) +
           " exposed communication: the rank is in MPI and its GPU computes nothing." + worst_call_text(out);
  } else {
    text = fmt::format("{} communication time. How much of it is exposed is unknown: {}.{}",
                       share_text(out, out.report.counted_ns), printable(out.report.why_not_exposed),
                       worst_call_text(out));
  }
  for (const std::string& each : wrapped(text, screen_columns)) {
    out.line(out.bold(each));
  }
}

}  // namespace penstock::analysis
