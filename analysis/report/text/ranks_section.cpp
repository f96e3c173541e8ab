#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

constexpr std::size_t few_ranks = 8;

std::vector<std::string> rank_row(const ReportWriter& out, const std::string& title,
                                  const RankFigures& rank) {
  const auto known = [&](std::uint64_t time_ns) {
    return rank.kernels_known ? out.unit.number(static_cast<double>(time_ns)) : std::string("–");
  };
  return {
      title,
      out.unit.number(static_cast<double>(rank.total_ns)) + (rank.finished ? "" : " †"),
      known(rank.kernels_ns),
      out.unit.number(static_cast<double>(rank.communication_ns)),
      known(rank.hidden_ns),
      rank.kernels_known && rank.communication_ns != 0
          ? percent_text(share_of(rank.hidden_ns, rank.communication_ns))
          : "–",
      out.is_exposed ? known(rank.exposed_ns) : out.unit.number(static_cast<double>(rank.host_ns)),
      known(rank.upper_bound_ns),
      rank.is_counted && rank.total_ns != 0 ? percent_text(share_of(rank.counted_ns, rank.total_ns)) : "–"};
}

}  // namespace

void write_ranks(ReportWriter& out) {
  const bool is_each = out.report.ranks.size() <= std::max(few_ranks, out.options.top);
  TextTable rows({{is_each ? "Rank" : "Ranks"},
                  {fmt::format("{} {}", out.whole, out.unit.name()), Align::right},
                  {"kernels", Align::right},
                  {"comm.", Align::right},
                  {"hidden", Align::right},
                  {"overlap", Align::right},
                  {out.is_exposed ? "exposed" : "in MPI", Align::right},
                  {"up to", Align::right},
                  {out.of_whole_title, Align::right}});
  if (is_each) {
    for (const RankFigures& rank : out.report.ranks) {
      rows.add_row(rank_row(out, std::to_string(rank.rank), rank));
    }
  } else {
    std::vector<const RankFigures*> order;
    for (const RankFigures& rank : out.report.ranks) {
      order.push_back(&rank);
    }
    std::stable_sort(order.begin(), order.end(), [](const RankFigures* left, const RankFigures* right) {
      return left->counted_ns < right->counted_ns;
    });
    const auto add = [&](const char* title, const RankFigures* rank) {
      rows.add_row(rank_row(out, fmt::format("{} (rank {})", title, rank->rank), *rank));
    };
    add("least", order.front());
    add("median", order[order.size() / 2]);
    add("most", order.back());
  }
  out.table(rows);
  if (std::any_of(out.report.ranks.begin(), out.report.ranks.end(), [](const RankFigures& rank) {
        return rank.kernels_known && rank.upper_bound_ns > rank.exposed_ns;
      })) {
    out.line(out.dim("up to: with messages under way while the rank was outside MPI"));
  }
  if (std::any_of(out.report.ranks.begin(), out.report.ranks.end(),
                  [](const RankFigures& rank) { return !rank.finished; })) {
    out.line(out.dim("† did not reach MPI_Finalize: figures up to its last record"));
  }
}

}  // namespace penstock::analysis
