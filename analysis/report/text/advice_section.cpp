#include <fmt/format.h>

#include <algorithm>
#include <string>

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
  out.line(out.bold(fmt::format("What would help, and at most how much ({}/rank)", out.unit.name())));
  const std::size_t shown =
      std::min(out.report.advice.size(), out.options.all ? out.options.top : few_pieces_of_advice);
  for (std::size_t i = 0; i < shown; ++i) {
    const Advice& each = out.report.advice[i];
    std::string before = fmt::format("{:>8}  ", out.per_rank(each.saves_ns));
    for (const std::string& part : wrapped(each.text, screen_columns - before.size())) {
      out.line(before + part);
      before.assign(before.size(), ' ');
    }
  }
  out.note_more(out.report.advice.size(), shown);
}

}  // namespace penstock::analysis
