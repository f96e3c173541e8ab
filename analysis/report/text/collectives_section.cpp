#include <fmt/format.h>

#include <algorithm>
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

void write_late_ranks(ReportWriter& out) {
  if (out.report.late_ranks.empty()) {
    return;
  }
  TextTable rows({{"Waited for", Align::right},
                  {"at", Align::left, true},
                  {"times", Align::right},
                  {fmt::format("late by {}", out.unit.name()), Align::right},
                  {"in kernels", Align::right},
                  {"in MPI", Align::right},
                  {"mostly", Align::left, true}});
  for (std::size_t i = 0; i < std::min(out.report.late_ranks.size(), out.options.top); ++i) {
    const LateRankFigures& each = out.report.late_ranks[i];
    rows.add_row(
        {fmt::format("rank {}", each.rank),
         fmt::format("{} at {}", printable(each.mpi_function), printable(each.at)), count_text(each.times),
         out.marked(out.unit.number(static_cast<double>(each.late_ns)), each.late_ns, each.within_error_ns),
         percent_text(share_of(each.in_kernels_ns, each.late_ns)),
         percent_text(share_of(each.in_mpi_ns, each.late_ns)), printable(each.main_kernel)});
  }
  out.table(rows);
  out.note_more(out.report.late_ranks.size());
}

}  // namespace penstock::analysis
