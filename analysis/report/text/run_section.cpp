#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {

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
  const double run_ns = static_cast<double>(out.report.total_ns) / out.ranks;
  const double counted_ns = static_cast<double>(out.report.counted_ns) / out.ranks;
  std::string text =
      fmt::format("{} of the {} ({} of {} on the average rank) is ", out.of_whole(out.report.counted_ns),
                  out.whole, out.unit.with_unit(counted_ns), out.unit.with_unit(run_ns));
  if (out.report.counted_ranks == 0) {
    text = "No figures: no rank has a usable recording.";
  } else if (out.report.total_ns == 0) {
    text = fmt::format("No figures: the {} is empty.", out.whole);
  } else if (out.is_exposed) {
    text += "exposed communication: the rank is in MPI and its GPU computes nothing.";
  } else {
    text += fmt::format("communication time. How much of it is exposed is unknown: {}.",
                        printable(out.report.why_not_exposed));
  }
  if (out.report.counted_ns != 0 && !out.report.call_sites.empty()) {
    const CallSiteFigures& worst = out.report.call_sites.front();
    const Cause cause = main_cause(worst.by_cause);
    const std::uint64_t of_cause_ns = worst.by_cause[static_cast<std::size_t>(cause)];
    const std::string who =
        worst.main_counterpart < 0 ? "" : fmt::format("; rank {}", worst.main_counterpart);
    const bool is_unsure = is_within_error(of_cause_ns, worst.within_error[static_cast<std::size_t>(cause)]);
    text += fmt::format(" {} of it is {} at {}, above all {} ({} of that{}{}).",
                        percent_text(share_of(worst.counted_ns, out.report.counted_ns)),
                        printable(worst.mpi_function), place_in_sentence(worst), name_of(cause),
                        percent_text(share_of(of_cause_ns, worst.counted_ns)), who,
                        is_unsure ? "; within the error of the hosts' clocks" : "");
  }
  for (const std::string& each : wrapped(text, screen_columns)) {
    out.line(out.bold(each));
  }
}

}  // namespace penstock::analysis
