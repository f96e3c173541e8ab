// Adds up collective calls: time waiting and time moving, by transport, and which rank arrived last and what
// it did meanwhile. Must not know exposed time.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/causes/causes.hpp"
#include "analysis/causes/timeline.hpp"
#include "analysis/joining/messages.hpp"
#include "analysis/recording/name_ids.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/report/report.hpp"
#include "analysis/tables/string_pool.hpp"

namespace penstock::analysis {

/// Thread: one at a time. Memory: four bytes a call besides the kinds of calls.
class CollectiveSums {
 public:
  /// The rank whose calls are added.
  struct Caller {
    const RankTrace& rank;
    const Timeline& timeline;
    NameIds& names;
  };
  CollectiveSums(const MessageIndex& index, StringPool& strings) : index_(index), strings_(strings) {}
  /// Adds a collective call of a rank, explained by `spans`; `site`: its call site.
  void add(const Caller& caller, const trace::MpiCall& call, std::uint32_t site,
           std::span<const CauseSpan> spans, const Arrivals& arrivals);
  /// Adds a non-blocking collective, explained by `spans` of the call that completes it; `site`: where it was
  /// started.
  void add(const Caller& caller, const trace::CollectiveOperation& operation, std::uint32_t site,
           std::span<const CauseSpan> spans, const Arrivals& arrivals);
  /// `strings`, `sites`: map the numbers of `part` to this object's.
  void merge(const CollectiveSums& part, std::span<const std::uint32_t> strings,
             std::span<const std::uint32_t> sites);
  [[nodiscard]] std::vector<CollectiveFigures> finish();
  /// `place_of_site`: formats a site for people.
  [[nodiscard]] std::vector<LateRankFigures> finish_late_ranks(
      const std::function<std::string(std::uint32_t)>& place_of_site) const;
  template <typename Archive>
  void exchange(Archive& archive) {
    archive(sums_, late_, function_of_site_);
  }

 private:
  struct Kind {
    std::uint32_t function;  ///< string
    std::uint32_t message_class;
    std::uint64_t size_limit_bytes;
    auto operator<=>(const Kind&) const = default;
  };
  struct Sums {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t waiting_ns = 0;
    std::uint64_t waiting_within_error_ns = 0;
    std::uint64_t moving_ns = 0;
    std::vector<float> speeds_gbps;
    template <typename Archive>
    void exchange(Archive& archive) {
      archive(calls, bytes, waiting_ns, waiting_within_error_ns, moving_ns, speeds_gbps);
    }
  };
  struct Late {
    std::uint64_t times = 0;
    std::uint64_t late_ns = 0;
    std::uint64_t in_kernels_ns = 0;
    std::uint64_t in_mpi_ns = 0;
    std::uint64_t within_error_ns = 0;
    std::map<std::uint32_t, std::uint64_t> by_kernel;
    template <typename Archive>
    void exchange(Archive& archive) {
      archive(times, late_ns, in_kernels_ns, in_mpi_ns, within_error_ns, by_kernel);
    }
  };
  /// One rank's part in a collective.
  struct Part {
    std::uint32_t function;  ///< string of the rank
    std::uint64_t bytes;
    std::uint64_t came_ns;
    std::int32_t root;
  };
  /// `carried_from_ns`: when data could begin to move, for the speed; 0: when the waiting was over.
  void add(const Caller& caller, const Part& part, std::uint64_t carried_from_ns, std::uint32_t site,
           std::span<const CauseSpan> spans, const Arrivals& arrivals);
  [[nodiscard]] std::uint64_t late_within_error_ns(const Arrivals& arrivals, bool waits_for_root,
                                                   std::uint64_t late_ns) const;
  void add_late(const Caller& caller, const Part& part, std::uint32_t site, const Arrivals& arrivals);

  const MessageIndex& index_;
  StringPool& strings_;
  std::map<Kind, Sums> sums_;
  std::map<std::pair<std::int32_t, std::uint32_t>, Late> late_;  ///< by rank and site
  std::map<std::uint32_t, std::uint32_t> function_of_site_;
};

}  // namespace penstock::analysis
