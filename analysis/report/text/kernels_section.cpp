#include <fmt/format.h>

#include <algorithm>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {

void write_kernels(ReportWriter& out) {
  if (out.report.kernels.empty()) {
    return;
  }
  TextTable rows({{"Kernel", Align::left, true},
                  {"runs", Align::right},
                  {fmt::format("{}/rank", out.unit.name()), Align::right},
                  {"hides", Align::right},
                  {"exposed after", Align::right},
                  {"mostly at", Align::left, true}});
  for (std::size_t i = 0; i < std::min(out.report.kernels.size(), out.options.top); ++i) {
    const KernelFigures& kernel = out.report.kernels[i];
    rows.add_row({printable(kernel.name), count_text(kernel.launches), out.per_rank(kernel.running_ns),
                  out.per_rank(kernel.hides_ns), out.per_rank(kernel.exposed_after_ns),
                  printable(kernel.exposed_at)});
  }
  out.table(rows);
  out.note_more(out.report.kernels.size());
}

}  // namespace penstock::analysis
