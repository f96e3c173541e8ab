// The ranks of a communicator, as its record lists them. Must not know communicators.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <vector>

namespace penstock::analysis {

/// Parses "0,1,2". Returns an empty list if a rank is not below `world_size` or something else is invalid.
[[nodiscard]] inline std::vector<std::int32_t> ranks_in(std::string_view list, std::int32_t world_size) {
  std::vector<std::int32_t> ranks;
  while (!list.empty()) {
    std::int32_t rank = -1;
    const auto [rest, error] = std::from_chars(list.data(), list.data() + list.size(), rank);
    if (error != std::errc() || rank < 0 || rank >= world_size) return {};
    ranks.push_back(rank);
    list.remove_prefix(static_cast<std::size_t>(rest - list.data()));
    if (!list.empty() && list.front() != ',') return {};
    if (!list.empty()) list.remove_prefix(1);
  }
  return ranks;
}

}  // namespace penstock::analysis
