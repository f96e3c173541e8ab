// Finds ranks that others wait for in MPI, at messages, windows and collectives, and adds up what they did
// meanwhile. Must not know exposed time.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"
#include "analysis/figures/kernel_times.hpp"
#include "analysis/figures/places.hpp"

namespace penstock::analysis {

/// A rank is late to a message from when its partner was in MPI for it until it posts its own side; at a
/// window from when another member begins to wait until it opens, completes or unlocks it; to a collective
/// from the first rank's arrival to its own, if all wait for it. Times in which several ranks wait for one
/// call site of a rank count once. Thread: one at a time. Memory: proportional to the ranks' call sites.
class Latecomers {
 public:
  explicit Latecomers(const FigureContext& context)
      : index_(context.index), mark_(context.mark), strings_(context.strings), sites_(context.sites) {}
  void add(const CallInput& call);
  void add(const HalfInput& half);
  void add(const RankInput& rank);
  auto members() { return std::tie(late_); }
  /// Orders the figures by how late the ranks were, most first.
  void finish(Report& report, SiteNames& names);

 private:
  struct Who {
    std::int32_t rank;
    std::uint32_t site;  ///< that came late
    [[nodiscard]] Who renumbered(const Renumbering& numbers) const { return {rank, numbers.sites[site]}; }
    auto operator<=>(const Who&) const = default;
  };
  struct Late {
    std::uint64_t times = 0;
    std::uint64_t late_ns = 0;
    std::uint64_t within_error_ns = 0;
    std::uint64_t in_kernels_ns = 0;
    std::uint64_t in_mpi_ns = 0;
    std::uint64_t in_copies_ns = 0;
    std::uint64_t in_launches_ns = 0;
    std::uint64_t longest_ns = 0;
    std::uint64_t long_times = 0;  ///< that last half of the longest or more
    std::uint64_t long_ns = 0;
    std::vector<std::uint64_t> long_steps;  ///< the steps of these, as far as there is room
    KernelTimes kernels;
    HostPlaces host_code;
    auto members() {
      return std::tie(times, late_ns, within_error_ns, in_kernels_ns, in_mpi_ns, in_copies_ns, in_launches_ns,
                      longest_ns, long_times, long_ns, long_steps, kernels, host_code);
    }
  };
  /// What is known of a site of the rank that is being fed.
  struct Waits {
    std::vector<Interval> times;
    std::uint64_t within_error_ns = 0;
  };
  struct Meanwhile;
  void note(const RankInput& rank, std::uint32_t site, Interval late, std::uint64_t error_ns);
  void note(const RankInput& rank, std::uint32_t site, const Arrivals& arrivals, std::uint32_t function,
            std::int32_t root, std::uint64_t came_ns);
  void note_at_windows(const RankInput& rank);
  [[nodiscard]] Late sum_up(const RankInput& rank, const Meanwhile& meanwhile, Waits waits) const;

  const MessageIndex& index_;
  const std::optional<StepMark>& mark_;
  const StringPool& strings_;
  SiteTable& sites_;
  std::map<std::uint32_t, Waits> waits_;  ///< by site of the rank that is being fed
  SumsBy<Who, Late> late_;
};

}  // namespace penstock::analysis
