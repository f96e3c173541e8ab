// How the members of a team divide a job's ranks among each other, and tell each other what they know. Knows
// nothing of what that is.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "analysis/sharing/archive.hpp"
#include "analysis/sharing/team.hpp"

namespace penstock::analysis {

/// Some of a number of items, the first and the one behind the last.
struct Share {
  std::size_t begin;
  std::size_t end;
  [[nodiscard]] bool has(std::size_t item) const noexcept { return begin <= item && item < end; }
};
/// Of the members of a team, who may be null: all. Shares follow each other and differ by one at most.
[[nodiscard]] Share share_of(std::size_t items, const Team* team, std::size_t member);
[[nodiscard]] inline Share own_share(std::size_t items, const Team* team) {
  return share_of(items, team, team == nullptr ? 0 : team->own());
}

/// What `sender` has of the items, everywhere; see archive.hpp.
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

/// Calls take(each) with what each member has as `own`, in their order. `team` may be null: of this one
/// alone.
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
