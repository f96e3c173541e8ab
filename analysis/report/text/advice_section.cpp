#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

constexpr std::size_t few_pieces_of_advice = 3;

/// An uncertainty that rounds to nothing is left out; its place stays, as savings stand below each other.
std::string saving_text(const ReportWriter& out, const Advice& advice) {
  const std::string saves = out.per_rank(advice.saves_ns);
  if (!advice.uncertainty_ns) {
    return "≤ " + saves;
  }
  const std::string uncertainty = " ± " + out.per_rank(*advice.uncertainty_ns);
  return saves +
         (uncertainty == " ± " + out.per_rank(0) ? std::string(width_of(uncertainty), ' ') : uncertainty);
}

/// Prints it where it is more than the replay may be off by: who mends something and runs again sees both.
void say_how_runs_differ(ReportWriter& out, std::size_t shown) {
  const std::vector<Advice>& advice = out.report.advice;
  const std::uint64_t differ_ns = out.report.steps ? out.report.steps->run_to_run_ns.value_or(0) : 0;
  const std::uint64_t all_ranks_ns = differ_ns * out.report.counted_ranks;
  const bool is_more = std::any_of(
      advice.begin(), advice.begin() + static_cast<std::ptrdiff_t>(shown),
      [&](const Advice& each) { return each.uncertainty_ns && *each.uncertainty_ns < all_ranks_ns; });
  if (is_more && out.per_rank(all_ranks_ns) != out.per_rank(0)) {
    out.dim_lines(
        fmt::format("±: by which the replay may be off. Two runs of the same program may differ by {} {} "
                    "besides, as steps vary (95 %).",
                    out.per_rank(all_ranks_ns), out.unit.name()));
  }
}

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
    savings.push_back(saving_text(out, each));
    columns = std::max(columns, width_of(savings.back()));
  }
  out.line(out.bold(fmt::format("What would help, each alone, and how much ({}/rank{})", out.unit.name(),
                                has_bound ? "; ≤: at most" : "")));
  for (std::size_t i = 0; i < shown; ++i) {
    std::string before(columns - width_of(savings[i]), ' ');
    before += savings[i] + "  ";
    for (const std::string& part : wrapped(out.report.advice[i].text, out.options.columns - columns - 2)) {
      out.line(before + part);
      before.assign(columns + 2, ' ');
    }
  }
  out.note_more(out.report.advice.size(), shown);
  say_how_runs_differ(out, shown);
}

}  // namespace penstock::analysis
