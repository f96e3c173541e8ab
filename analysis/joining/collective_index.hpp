// Records which rank arrived when at each collective call of the job. Filled rank by rank, joined once the
// hosts' clocks are aligned, then queried. Must not know messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "analysis/joining/clock_alignment.hpp"
#include "analysis/joining/rank_facts.hpp"
#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis {

/// The arrivals at the n-th collective call of a communicator. Unit: ns.
struct Arrivals {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t root_ns = 0;        ///< when the root arrived; 0 if there is no root or it was not seen
  std::uint64_t first_left_ns = 0;  ///< when the first rank left
  std::uint64_t runner_up_ns =
      0;  ///< the last arrival on other hosts than the last rank's; 0: there are none
  std::int32_t last_rank = -1;
  std::int32_t seen = 0;
  std::int32_t expected = 0;
  std::uint32_t clock = 0;       ///< the host whose clock the times are in
  std::uint32_t first_host = 0;  ///< the host of the rank that `first_ns` belongs to; the next two likewise
  std::uint32_t last_host = 0;
  std::uint32_t root_host = 0;
  bool one_clock = true;  ///< false: the clocks of some hosts could not be aligned
  bool nobody_leaves_before =
      false;  ///< all ranks arrive before the first one leaves, whatever the MPI library does
};

/// Returns how far `last_ns` may be off: by the last rank's clock, and by other ranks that may have arrived
/// later.
[[nodiscard]] std::uint64_t error_of_last_ns(const Arrivals& arrivals, const ClockAlignment& clocks) noexcept;

/// Returns true for operations whose data flow from one root (Bcast, Scatter): the others wait for the root
/// alone.
[[nodiscard]] bool flows_from_root(std::string_view mpi_function) noexcept;

/// Thread: one at a time. Memory: 72 bytes per call and host.
class CollectiveIndex {
 public:
  void add(const RankFacts& rank, std::uint32_t host);
  /// Adds the clock bounds that collectives give: no rank of a host leaves before all ranks of another have
  /// arrived.
  void observe(ClockAlignment& clocks) const;
  /// Joins the hosts' arrivals; call it after the clocks are aligned. `hosts`: the number of hosts.
  void join(const ClockAlignment& clocks, std::size_t hosts);
  /// Returns the arrivals in the clock of `host`, which is the rank's host. `communicator`: its local id.
  /// `start`: of a persistent collective, which the call of that ordinal initialised; 0: the call itself.
  [[nodiscard]] std::optional<Arrivals> at(const RankTrace& rank, std::uint32_t communicator,
                                           std::uint32_t ordinal, std::uint32_t start, std::uint32_t host,
                                           const ClockAlignment& clocks) const;
  /// Does the same for what all ranks call by one id (CollectiveArrival::communicator).
  [[nodiscard]] std::optional<Arrivals> at(std::uint64_t id, std::uint32_t number, std::uint32_t host,
                                           const ClockAlignment& clocks) const;

 private:
  /// Consecutive calls on a communicator share a page, because they are queried in this order.
  static constexpr std::uint32_t calls_per_page = 16;
  using Page = std::array<Arrivals, calls_per_page>;
  struct PageId {
    std::uint64_t communicator;
    std::uint32_t number;
    std::uint32_t host;  ///< after join(): 0 for all
    friend bool operator==(const PageId&, const PageId&) = default;
  };
  struct HashPageId {
    std::size_t operator()(const PageId& id) const noexcept;
  };
  std::unordered_map<PageId, Page, HashPageId> pages_;
};

}  // namespace penstock::analysis
