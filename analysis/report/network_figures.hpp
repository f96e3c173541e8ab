// The part of a report about the network interfaces of the hosts, and its words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::analysis {

struct Report;

/// What the interfaces of one kind carried while the job ran, whoever sent it.
struct NetworkFigures {
  std::string kind;            ///< "ethernet" or "infiniband"
  std::uint64_t hosts = 0;     ///< that have such interfaces
  std::uint64_t received = 0;  ///< bytes
  std::uint64_t sent = 0;
};

/// Returns a sentence for each kind; none for a job on one host, which needs no network.
[[nodiscard]] std::vector<std::string> network_texts(const Report& report);

}  // namespace penstock::analysis
