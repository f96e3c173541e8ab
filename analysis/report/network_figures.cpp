#include "analysis/report/network_figures.hpp"

#include <fmt/format.h>

#include "analysis/report/report.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {

std::vector<std::string> network_texts(const Report& report) {
  std::vector<std::string> texts;
  if (report.hosts.size() < 2) return texts;
  for (const NetworkFigures& each : report.network) {
    const bool is_infiniband = each.kind == "infiniband";
    texts.push_back(
        fmt::format("{} of {} host{}, from MPI_Init to MPI_Finalize and with all other programs: {} "
                    "received, {} sent.",
                    is_infiniband ? "InfiniBand" : "Ethernet", each.hosts, each.hosts == 1 ? "" : "s",
                    bytes_text(each.received), bytes_text(each.sent)));
  }
  return texts;
}

}  // namespace penstock::analysis
