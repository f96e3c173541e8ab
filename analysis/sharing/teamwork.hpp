// Divides a job's ranks among a team's members and exchanges their results. Must not know what these are.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "analysis/sharing/archive.hpp"
#include "analysis/sharing/team.hpp"

namespace penstock::analysis {

/// A range of items: the first one and the one past the last.
struct Share {
  std::size_t begin;
  std::size_t end;
  [[nodiscard]] bool has(std::size_t item) const noexcept { return begin <= item && item < end; }
};
/// Returns a member's share. A null team has one member, whose share is all items. Shares are contiguous and
/// differ by at most one item.
[[nodiscard]] Share share_of(std::size_t items, const Team* team, std::size_t member);
[[nodiscard]] inline Share own_share(std::size_t items, const Team* team) {
  return share_of(items, team, team == nullptr ? 0 : team->own());
}

/// Copies the items of `sender` to all members; see archive.hpp.
template <typename... Items>
void broadcast(Team& team, std::size_t sender, Items&... items) {
  std::vector<std::byte> bytes;
  if (team.own() == sender) {
    Writer writer;
    writer(items...);
    bytes = writer.take();
  }
  team.broadcast(sender, bytes);
  if (team.own() != sender) {
    Reader reader(bytes);
    reader(items...);
  }
}

/// Calls take(each) with every member's `own`, in member order. If `team` is null, it is called once, with
/// this process's own.
template <typename Item, typename Take>
void for_each_member(Team* team, const Item& own, const Take& take) {
  for (std::size_t member = 0; member < (team == nullptr ? 1 : team->size()); ++member) {
    if (team == nullptr) {
      take(own);
      continue;
    }
    Item each = member == team->own() ? own : Item{};
    broadcast(*team, member, each);
    take(std::as_const(each));
  }
}

}  // namespace penstock::analysis
