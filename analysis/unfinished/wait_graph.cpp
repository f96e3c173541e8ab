#include "analysis/unfinished/wait_graph.hpp"

#include <algorithm>
#include <deque>

namespace penstock::analysis {
namespace {

constexpr std::int32_t nobody = -1;

class WaitGraph {
 public:
  explicit WaitGraph(const std::vector<std::vector<Need>>& needs)
      : needs_(needs), waiters_(needs.size()), goes_on_(needs.size(), false) {
    for (std::size_t rank = 0; rank < needs_.size(); ++rank) {
      for (std::size_t call = 0; call < needs_[rank].size(); ++call) {
        for (const std::int32_t other : needs_[rank][call].ranks) {
          waiters_[static_cast<std::size_t>(other)].push_back({static_cast<std::int32_t>(rank), call});
        }
      }
    }
    let_go_on();
  }

  [[nodiscard]] bool waits(std::size_t rank) const {
    return !needs_[rank].empty() && std::none_of(needs_[rank].begin(), needs_[rank].end(),
                                                 [](const Need& need) { return need.ranks.empty(); });
  }

  /// Walks from each rank that can never go on to the next such one, until a rank comes again.
  [[nodiscard]] std::vector<WaitPath> cycles() const {
    std::vector<WaitPath> found;
    std::vector<std::int32_t> seen_in(needs_.size(), nobody);  ///< the walk that came by
    std::vector<std::size_t> step_of(needs_.size(), 0);
    for (std::size_t start = 0; start < needs_.size(); ++start) {
      std::vector<std::int32_t> walk;
      auto rank = static_cast<std::int32_t>(start);
      while (rank != nobody && !goes_on_[index(rank)] && seen_in[index(rank)] == nobody) {
        seen_in[index(rank)] = static_cast<std::int32_t>(start);
        step_of[index(rank)] = walk.size();
        walk.push_back(rank);
        rank = next_stuck(index(rank));
      }
      if (rank == nobody || goes_on_[index(rank)] ||
          seen_in[index(rank)] != static_cast<std::int32_t>(start)) {
        continue;
      }
      WaitPath cycle;
      cycle.ranks.assign(walk.begin() + static_cast<std::ptrdiff_t>(step_of[index(rank)]), walk.end());
      std::rotate(cycle.ranks.begin(), std::min_element(cycle.ranks.begin(), cycle.ranks.end()),
                  cycle.ranks.end());
      const Reach reach = reach_of(cycle.ranks);
      cycle.waiting_ranks = reach.order.size();
      found.push_back(std::move(cycle));
    }
    return found;
  }

  /// Returns for each rank that waits for nobody, and for which others wait, the longest way to it.
  [[nodiscard]] std::vector<WaitPath> chains() const {
    std::vector<WaitPath> found;
    for (std::size_t end = 0; end < needs_.size(); ++end) {
      if (waits(end) || waiters_[end].empty()) {
        continue;
      }
      const Reach reach = reach_of({static_cast<std::int32_t>(end)});
      if (reach.order.size() < 2) {
        continue;
      }
      WaitPath chain;
      chain.waiting_ranks = reach.order.size() - 1;
      for (std::int32_t rank = reach.order.back(); rank != nobody; rank = reach.next[index(rank)]) {
        chain.ranks.push_back(rank);
      }
      found.push_back(std::move(chain));
    }
    std::stable_sort(found.begin(), found.end(), [](const WaitPath& left, const WaitPath& right) {
      return left.waiting_ranks > right.waiting_ranks;
    });
    return found;
  }

 private:
  struct Waiter {
    std::int32_t rank;
    std::size_t call;
  };
  struct Reach {
    std::vector<std::int32_t> order;  ///< nearest first
    std::vector<std::int32_t> next;   ///< for each rank, the one that it waits for on the way
  };

  [[nodiscard]] static std::size_t index(std::int32_t rank) { return static_cast<std::size_t>(rank); }

  /// Supposes that all ranks which wait for nobody do what the others need, and finds out who goes on then.
  void let_go_on() {
    std::vector<std::vector<std::size_t>> left(needs_.size());  // ranks that each call still needs
    std::deque<std::int32_t> going;
    for (std::size_t rank = 0; rank < needs_.size(); ++rank) {
      for (const Need& need : needs_[rank]) {
        left[rank].push_back(need.any_is_enough ? 1 : need.ranks.size());
      }
      if (!waits(rank)) {
        goes_on_[rank] = true;
        going.push_back(static_cast<std::int32_t>(rank));
      }
    }
    while (!going.empty()) {
      const std::int32_t rank = going.front();
      going.pop_front();
      for (const Waiter& waiter : waiters_[index(rank)]) {
        std::size_t& needed = left[index(waiter.rank)][waiter.call];
        if (needed > 0 && --needed == 0 && !goes_on_[index(waiter.rank)]) {
          goes_on_[index(waiter.rank)] = true;
          going.push_back(waiter.rank);
        }
      }
    }
  }

  [[nodiscard]] std::int32_t next_stuck(std::size_t rank) const {
    for (const Need& need : needs_[rank]) {
      for (const std::int32_t other : need.ranks) {
        if (!goes_on_[index(other)]) {
          return other;
        }
      }
    }
    return nobody;
  }

  /// Returns who waits for `ends`, which come first.
  [[nodiscard]] Reach reach_of(const std::vector<std::int32_t>& ends) const {
    Reach reach{ends, std::vector<std::int32_t>(needs_.size(), nobody)};
    std::vector<bool> is_there(needs_.size(), false);
    for (const std::int32_t end : ends) {
      is_there[index(end)] = true;
    }
    for (std::size_t i = 0; i < reach.order.size(); ++i) {
      const std::int32_t rank = reach.order[i];
      for (const Waiter& waiter : waiters_[index(rank)]) {
        if (!is_there[index(waiter.rank)] && waits(index(waiter.rank))) {
          is_there[index(waiter.rank)] = true;
          reach.next[index(waiter.rank)] = rank;
          reach.order.push_back(waiter.rank);
        }
      }
    }
    return reach;
  }

  const std::vector<std::vector<Need>>& needs_;
  std::vector<std::vector<Waiter>> waiters_;  ///< of each rank
  std::vector<bool> goes_on_;
};

}  // namespace

WaitPaths find_wait_paths(const std::vector<std::vector<Need>>& needs) {
  const WaitGraph graph(needs);
  return {graph.cycles(), graph.chains()};
}

}  // namespace penstock::analysis
