#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {

void write_collectives(ReportWriter& out) {
  if (out.report.collectives.empty()) {
    return;
  }
  TextTable rows({{"Collective", Align::left, true},
                  {"bytes a rank"},
                  {"calls", Align::right},
                  {fmt::format("{}/rank waiting", out.unit.name()), Align::right},
                  {"moving", Align::right},
                  {"GB/s", Align::right},
                  {"transport"},
                  {"why", Align::left, true}});
  for (std::size_t i = 0; i < std::min(out.report.collectives.size(), out.options.top); ++i) {
    const CollectiveFigures& each = out.report.collectives[i];
    const bool is_mpis = each.transport == trace::TransportKind::none;
    rows.add_row({printable(each.mpi_function), size_class_text(each.size_limit_bytes),
                  count_text(each.calls),
                  out.marked(out.per_rank(each.waiting_ns), each.waiting_ns, each.waiting_within_error_ns),
                  out.per_rank(each.moving_ns), each.median_gbps ? speed_text(*each.median_gbps) : "–",
                  is_mpis ? "mpi" : name_of(each.transport),
                  is_mpis ? "host memory, or moved by another rank" : printable(each.reason)});
  }
  out.table(rows);
  out.note_more(out.report.collectives.size());
}

namespace {

/// Returns what a late rank did for most of the time, with the share.
std::string mostly_text(const LatecomerFigures& late) {
  struct Part {
    std::uint64_t time_ns;
    std::string what;
  };
  const Part parts[] = {{late.in_kernels_ns, "kernels, " + printable(late.main_kernel)},
                        {late.in_mpi_ns, "other MPI calls"},
                        {late.in_copies_ns, "copies"},
                        {late.in_launches_ns, "kernel launch"},
                        {late.in_host_code_ns, "host code " + printable(late.host_code)}};
  const Part& most =
      *std::max_element(std::begin(parts), std::end(parts),
                        [](const Part& left, const Part& right) { return left.time_ns < right.time_ns; });
  return fmt::format("{} {}", percent_text(share_of(most.time_ns, late.late_ns)), most.what);
}

/// Returns "7 × 40.000": the times that were long, and how long on average; with a unit of its own where that
/// rounds to nothing.
std::string above_all_text(const ReportWriter& out, const LatecomerFigures& late) {
  const double each_ns =
      static_cast<double>(late.long_ns) / static_cast<double>(std::max<std::uint64_t>(late.long_times, 1));
  const std::string number = out.unit.number(each_ns);
  return fmt::format("{} × {}", count_text(late.long_times),
                     number == out.unit.number(0) && each_ns > 0 ? time_text(each_ns) : number);
}

}  // namespace

void write_late_ranks(ReportWriter& out) {
  if (out.report.latecomers.empty()) {
    return;
  }
  TextTable rows({{"Waited for", Align::right},
                  {"at", Align::left, true},
                  {"times", Align::right},
                  {fmt::format("late by {}", out.unit.name()), Align::right},
                  {"above all", Align::right},
                  {"meanwhile in", Align::left, true}});
  for (std::size_t i = 0; i < std::min(out.report.latecomers.size(), out.options.top); ++i) {
    const LatecomerFigures& each = out.report.latecomers[i];
    rows.add_row(
        {fmt::format("rank {}", each.rank),
         fmt::format("{} at {}", printable(each.mpi_function), printable(each.at)), count_text(each.times),
         out.marked(out.unit.number(static_cast<double>(each.late_ns)), each.late_ns, each.within_error_ns),
         above_all_text(out, each), mostly_text(each)});
  }
  out.table(rows);
  out.note_more(out.report.latecomers.size());
}

}  // namespace penstock::analysis
