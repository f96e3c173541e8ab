#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

/// Returns what a late rank did for most of the time, with the share.
std::string mostly_text(const NcclLateFigures& late) {
  const std::uint64_t elsewhere_ns =
      late.late_ns - std::min(late.late_ns, late.in_kernels_ns + late.in_mpi_ns);
  const auto words = [&](std::uint64_t time_ns, const std::string& what) {
    return fmt::format("{} {}", percent_text(share_of(time_ns, late.late_ns)), what);
  };
  if (late.in_kernels_ns >= std::max(late.in_mpi_ns, elsewhere_ns)) {
    return words(late.in_kernels_ns, "kernels, " + printable(late.main_kernel));
  }
  return late.in_mpi_ns >= elsewhere_ns ? words(late.in_mpi_ns, "MPI calls")
                                        : words(elsewhere_ns, "host code, or NCCL before");
}

void write_kinds(ReportWriter& out, const NcclFigures& nccl) {
  TextTable rows({{"NCCL", Align::left},
                  {"calls", Align::right},
                  {"bytes", Align::right},
                  {"kernels", Align::right},
                  {fmt::format("{}/rank", out.unit.name()), Align::right},
                  {"exposed", Align::right},
                  {"of it waiting", Align::right},
                  {"GB/s", Align::right}});
  for (const NcclKindFigures& each : nccl.kinds) {
    const bool has_kernels = each.kernel_ns != 0;
    const auto time_text = [&](std::uint64_t time_ns) { return has_kernels ? out.per_rank(time_ns) : "–"; };
    rows.add_row({each.kind, each.calls != 0 ? count_text(each.calls) : "–",
                  each.calls > each.calls_without_bytes ? bytes_text(each.bytes) : "–",
                  has_kernels ? count_text(each.kernels) : "–", time_text(each.kernel_ns),
                  time_text(each.exposed_ns),
                  each.joined_kernels != 0 ? out.marked(out.per_rank(each.exposed_waiting_ns),
                                                        each.waiting_ns, each.waiting_within_error_ns)
                                           : "–",
                  each.median_gbps ? speed_text(*each.median_gbps) : "–"});
  }
  out.table(rows);
}

void write_late(ReportWriter& out, const NcclFigures& nccl) {
  if (nccl.late.empty()) {
    return;
  }
  TextTable rows({{"Waited for", Align::right},
                  {"in NCCL's", Align::left},
                  {"times", Align::right},
                  {fmt::format("late by {}", out.unit.name()), Align::right},
                  {"meanwhile in"}});
  const std::size_t most = out.options.all ? out.options.top : std::min<std::size_t>(out.options.top, 3);
  for (std::size_t i = 0; i < std::min(nccl.late.size(), most); ++i) {
    const NcclLateFigures& each = nccl.late[i];
    rows.add_row(
        {fmt::format("rank {}", each.rank), each.kind, count_text(each.times),
         out.marked(out.unit.number(static_cast<double>(each.late_ns)), each.late_ns, each.within_error_ns),
         shortened(mostly_text(each), 45)});
  }
  out.table(rows);
  out.note_more(nccl.late.size(), most);
}

}  // namespace

void write_nccl(ReportWriter& out) {
  if (!out.report.nccl) {
    return;
  }
  write_kinds(out, *out.report.nccl);
  for (const std::string& each : unknowns_of(*out.report.nccl)) {
    out.dim_lines(each);
  }
  write_late(out, *out.report.nccl);
}

}  // namespace penstock::analysis
