#include "analysis/joining/collective_index.hpp"

#include <algorithm>
#include <vector>

namespace penstock::analysis {
namespace {

Arrivals in_clock_of(std::uint32_t host, Arrivals arrivals, const ClockAlignment& clocks) {
  const auto convert = [&](std::uint64_t time_ns) { return clocks.convert(time_ns, arrivals.clock, host); };
  if (arrivals.clock != host) {
    arrivals.first_ns = convert(arrivals.first_ns);
    arrivals.last_ns = convert(arrivals.last_ns);
    arrivals.first_left_ns = convert(arrivals.first_left_ns);
    arrivals.root_ns = arrivals.root_ns == 0 ? 0 : convert(arrivals.root_ns);
    arrivals.runner_up_ns = arrivals.runner_up_ns == 0 ? 0 : convert(arrivals.runner_up_ns);
    arrivals.one_clock = arrivals.one_clock && clocks.can_convert(arrivals.clock, host);
    arrivals.clock = host;
  }
  return arrivals;
}

void take_in(Arrivals& all, const Arrivals& some) {
  if (all.seen == 0) {
    all = some;
    return;
  }
  if (all.last_host != some.last_host) {
    all.runner_up_ns = std::max({all.runner_up_ns, some.runner_up_ns, std::min(all.last_ns, some.last_ns)});
  }
  if (some.first_ns < all.first_ns) {
    all.first_ns = some.first_ns;
    all.first_host = some.first_host;
  }
  all.first_left_ns = std::min(all.first_left_ns, some.first_left_ns);
  if (some.last_ns > all.last_ns || (some.last_ns == all.last_ns && some.last_rank > all.last_rank)) {
    all.last_ns = some.last_ns;
    all.last_rank = some.last_rank;
    all.last_host = some.last_host;
  }
  if (some.root_ns > all.root_ns) {
    all.root_ns = some.root_ns;
    all.root_host = some.root_host;
  }
  all.seen += some.seen;
  all.one_clock = all.one_clock && some.one_clock;
  all.nobody_leaves_before = all.nobody_leaves_before && some.nobody_leaves_before;
}

}  // namespace

std::uint64_t error_of_last_ns(const Arrivals& arrivals, const ClockAlignment& clocks) noexcept {
  const std::uint64_t of_clock_ns = clocks.error_ns(arrivals.last_host, arrivals.clock);
  if (arrivals.runner_up_ns == 0) {
    return of_clock_ns;
  }
  const std::uint64_t runner_up_ns = arrivals.runner_up_ns + clocks.widest_error_ns();
  return std::max(of_clock_ns, runner_up_ns - std::min(runner_up_ns, arrivals.last_ns));
}

bool flows_from_root(std::string_view mpi_function) noexcept {
  return mpi_function.find("cast") != std::string_view::npos ||
         (mpi_function.find("catter") != std::string_view::npos &&
          mpi_function.find("educe") == std::string_view::npos);
}

std::size_t CollectiveIndex::HashPageId::operator()(const PageId& id) const noexcept {
  const std::uint64_t number = (std::uint64_t{id.host} << 48) ^ (std::uint64_t{id.number} << 20);
  const std::uint64_t mixed = (id.communicator ^ number) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(mixed ^ (mixed >> 29));
}

void CollectiveIndex::add(const RankFacts& rank, std::uint32_t host) {
  PageId last_id{};
  Page* page = nullptr;
  for (const CollectiveArrival& each : rank.arrivals) {
    // If the ranks of one job and host are the only ones, join() has nothing to do, and host is 0.
    const PageId id{each.communicator, each.ordinal / calls_per_page, host};
    if (page == nullptr || id != last_id) {
      page = &pages_[id];
      last_id = id;
    }
    take_in((*page)[each.ordinal % calls_per_page], {.first_ns = each.came_ns,
                                                     .last_ns = each.came_ns,
                                                     .root_ns = each.is_root ? each.came_ns : 0,
                                                     .first_left_ns = each.left_ns,
                                                     .last_rank = rank.rank,
                                                     .seen = 1,
                                                     .expected = each.expected,
                                                     .clock = host,
                                                     .first_host = host,
                                                     .last_host = host,
                                                     .root_host = host,
                                                     .nobody_leaves_before = each.nobody_leaves_before});
  }
}

/// Compares each host with the communicator's first one only: all pairs would be many and add little.
void CollectiveIndex::observe(ClockAlignment& clocks) const {
  std::unordered_map<PageId, std::uint32_t, HashPageId> first_hosts;
  for (const auto& [id, page] : pages_) {
    std::uint32_t& first = first_hosts.try_emplace({id.communicator, id.number, 0}, id.host).first->second;
    first = std::min(first, id.host);
  }
  for (const auto& [id, page] : pages_) {
    const std::uint32_t first = first_hosts.at({id.communicator, id.number, 0});
    if (first == id.host) {
      continue;
    }
    const Page& others = pages_.at({id.communicator, id.number, first});
    for (std::uint32_t i = 0; i < calls_per_page; ++i) {
      if (page[i].seen != 0 && others[i].seen != 0 && page[i].nobody_leaves_before &&
          others[i].nobody_leaves_before) {
        clocks.observe(first, others[i].last_ns, id.host, page[i].first_left_ns);
        clocks.observe(id.host, page[i].last_ns, first, others[i].first_left_ns);
      }
    }
  }
}

void CollectiveIndex::join(const ClockAlignment& clocks, std::size_t hosts) {
  if (hosts < 2) {
    return;
  }
  // in the order of hosts, so that the result does not depend on the map's layout
  std::vector<PageId> ids;
  for (const auto& [id, page] : pages_) {
    ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end(),
            [](const PageId& left, const PageId& right) { return left.host < right.host; });
  std::unordered_map<PageId, Page, HashPageId> joined;
  for (const PageId& id : ids) {
    Page& all = joined[{id.communicator, id.number, 0}];
    const Page& page = pages_.at(id);
    for (std::uint32_t i = 0; i < calls_per_page; ++i) {
      if (page[i].seen != 0 && all[i].seen != 0) {
        all[i] = in_clock_of(0, all[i], clocks);
        take_in(all[i], in_clock_of(0, page[i], clocks));
      } else if (page[i].seen != 0) {
        all[i] = page[i];  // of one host, whose clock may differ from all others
      }
    }
  }
  pages_ = std::move(joined);
}

std::optional<Arrivals> CollectiveIndex::at(const RankTrace& rank, std::uint32_t communicator,
                                            std::uint32_t ordinal, std::uint32_t start, std::uint32_t host,
                                            const ClockAlignment& clocks) const {
  const std::uint64_t global_id = rank.global_communicator(communicator);
  if (ordinal == 0 || global_id == 0 || communicator == self_local_id) {
    return std::nullopt;
  }
  return start == 0 ? at(global_id, ordinal, host, clocks)
                    : at(starts_id(global_id, ordinal), start, host, clocks);
}

std::optional<Arrivals> CollectiveIndex::at(std::uint64_t id, std::uint32_t number, std::uint32_t host,
                                            const ClockAlignment& clocks) const {
  const auto page = pages_.find({id, number / calls_per_page, 0});
  if (page == pages_.end() || page->second[number % calls_per_page].seen == 0) {
    return std::nullopt;
  }
  return in_clock_of(host, page->second[number % calls_per_page], clocks);
}

}  // namespace penstock::analysis
