#include "analysis/figures/network_sums.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <sstream>

namespace penstock::analysis {
namespace {

constexpr const char* network_kinds[] = {"ethernet", "infiniband"};

}  // namespace

void NetworkSums::add(const RankInput& rank) {
  Carried carried;
  bool has_any = false;
  for (const trace::Fact& each : rank.trace.facts) {
    if (rank.trace.strings.at(each.name) != "network") continue;
    std::istringstream words(rank.trace.strings.at(each.value));
    std::string kind;
    std::string name;
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
    const bool is_whole = static_cast<bool>(words >> kind >> name >> received >> sent);
    const auto* const found = std::find(std::begin(network_kinds), std::end(network_kinds), kind);
    if (!is_whole || found == std::end(network_kinds)) continue;
    const auto i = static_cast<std::size_t>(found - std::begin(network_kinds));
    carried.received[i] += received;
    carried.sent[i] += sent;
    carried.has[i] = has_any = true;
  }
  if (has_any) hosts_.emplace(rank.trace.header.host_name, carried);
}

void NetworkSums::finish(Report& report, SiteNames&) {
  for (std::size_t i = 0; i < std::size(network_kinds); ++i) {
    NetworkFigures figures{network_kinds[i]};
    for (const auto& [host, carried] : hosts_) {
      figures.hosts += carried.has[i] ? 1 : 0;
      figures.received += carried.received[i];
      figures.sent += carried.sent[i];
    }
    if (figures.hosts != 0) report.network.push_back(std::move(figures));
  }
}

}  // namespace penstock::analysis
