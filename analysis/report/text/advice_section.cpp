#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

constexpr std::size_t few_pieces_of_advice = 3;

}  // namespace

/// Prints the first few pieces of advice; --all prints the rest.
void write_advice(ReportWriter& out) {
  if (out.report.advice.empty()) {
    return;
  }
  out.line();
  const std::size_t shown =
      std::min(out.report.advice.size(), out.options.all ? out.options.top : few_pieces_of_advice);
  std::vector<std::string> savings;
  std::size_t columns = 8;
  bool has_bound = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const Advice& each = out.report.advice[i];
    has_bound = has_bound || !each.uncertainty_ns;
    savings.push_back(each.uncertainty_ns ? fmt::format("{} ± {}", out.per_rank(each.saves_ns),
                                                        out.per_rank(*each.uncertainty_ns))
                                          : fmt::format("≤ {}", out.per_rank(each.saves_ns)));
    columns = std::max(columns, width_of(savings.back()));
  }
  out.line(out.bold(fmt::format("What would help, each alone, and how much ({}/rank{})", out.unit.name(),
                                has_bound ? "; ≤: at most" : "")));
  for (std::size_t i = 0; i < shown; ++i) {
    std::string before(columns - width_of(savings[i]), ' ');
    before += savings[i] + "  ";
    for (const std::string& part : wrapped(out.report.advice[i].text, screen_columns - columns - 2)) {
      out.line(before + part);
      before.assign(columns + 2, ' ');
    }
  }
  out.note_more(out.report.advice.size(), shown);
}

}  // namespace penstock::analysis
