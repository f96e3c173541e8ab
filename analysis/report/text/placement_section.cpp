#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

std::string gpus_of(const PlacementFigures& placement) {
  std::vector<std::string> addresses;
  for (const std::string& each : placement.gpus) addresses.push_back(address_of(each));
  return addresses.empty() ? "–" : fmt::format("{}", fmt::join(addresses, ", "));
}

}  // namespace

void write_placement(ReportWriter& out) {
  const std::vector<PlacementFigures>& ranks = out.report.placement;
  if (ranks.empty()) return;
  TextTable rows({{"Placed", Align::left},
                  {"on", Align::left, true},
                  {"GPU", Align::left},
                  {"of", Align::right},
                  {"cores", Align::left, true}});
  for (std::size_t i = 0; i < std::min(ranks.size(), out.options.top); ++i) {
    const PlacementFigures& each = ranks[i];
    rows.add_row({fmt::format("rank {}", each.rank), printable(each.host), printable(gpus_of(each)),
                  each.visible_gpus == 0 ? "–" : std::to_string(each.visible_gpus),
                  each.cores.empty() ? "–" : printable(each.cores)});
  }
  out.table(rows);
  out.note_more(ranks.size());
}

}  // namespace penstock::analysis
