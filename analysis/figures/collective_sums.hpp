// Adds up collective calls: time waiting and time moving, by transport, and which rank arrived last and what
// it did meanwhile. Must not know exposed time.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"
#include "analysis/figures/late_sums.hpp"

namespace penstock::analysis {

/// Thread: one at a time. Memory: four bytes a call besides the kinds of calls.
class CollectiveSums {
 public:
  explicit CollectiveSums(const FigureContext& context)
      : index_(context.index), strings_(context.strings), sites_(context.sites) {}
  /// Adds a collective call, and the non-blocking collectives that a call completes.
  void add(const CallInput& call);
  auto members() { return std::tie(sums_, late_); }
  void finish(Report& report, SiteNames& names);

 private:
  struct Kind {
    std::uint32_t function;  ///< string
    std::uint32_t message_class;
    std::uint64_t size_limit_bytes;
    [[nodiscard]] Kind renumbered(const Renumbering& numbers) const {
      return {numbers.strings[function], message_class, size_limit_bytes};
    }
    auto operator<=>(const Kind&) const = default;
  };
  struct Sums {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t waiting_ns = 0;
    std::uint64_t waiting_within_error_ns = 0;
    std::uint64_t moving_ns = 0;
    std::vector<float> speeds_gbps;
    auto members() {
      return std::tie(calls, bytes, waiting_ns, waiting_within_error_ns, moving_ns, speeds_gbps);
    }
  };
  struct Who {
    std::int32_t rank;
    std::uint32_t site;
    [[nodiscard]] Who renumbered(const Renumbering& numbers) const { return {rank, numbers.sites[site]}; }
    auto operator<=>(const Who&) const = default;
  };
  /// One rank's part in a collective.
  struct Part {
    std::uint32_t function;  ///< string of the rank
    std::uint64_t bytes;
    std::uint64_t came_ns;
    std::int32_t root;
    std::uint32_t site;             ///< where it was started
    std::uint64_t carried_from_ns;  ///< when data could begin to move, for the speed; 0: when the waiting was
                                    ///< over
  };
  void add_operations(const CallInput& call);
  void add(const RankInput& rank, const Part& part, std::span<const CauseSpan> spans,
           const Arrivals& arrivals);
  [[nodiscard]] std::uint64_t late_within_error_ns(const Arrivals& arrivals, bool waits_for_root,
                                                   std::uint64_t late_ns) const;
  void add_late(const RankInput& rank, const Part& part, const Arrivals& arrivals);
  void finish_collectives(Report& report);
  void finish_late_ranks(Report& report, SiteNames& names) const;

  const MessageIndex& index_;
  const StringPool& strings_;
  SiteTable& sites_;
  SumsBy<Kind, Sums> sums_;
  SumsBy<Who, LateSums> late_;
};

}  // namespace penstock::analysis
