// Adds up what the hosts' network interfaces carried. All ranks of a host tell nearly the same, and the first
// one is believed. Must not know messages.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

class NetworkSums {
 public:
  void add(const RankInput& rank);
  void merge(NetworkSums&& part, const Renumbering&) { hosts_.merge(part.hosts_); }
  auto members() { return std::tie(hosts_); }
  void finish(Report& report, SiteNames& names);

 private:
  /// Of one host; `has`: it has such an interface.
  struct Carried {
    std::array<std::uint64_t, 2> received{};  ///< by kind
    std::array<std::uint64_t, 2> sent{};
    std::array<bool, 2> has{};
  };
  std::map<std::string, Carried> hosts_;
};

}  // namespace penstock::analysis
