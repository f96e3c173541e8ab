// Aligns the clocks of several hosts by events of known order: a message is received after it was sent, and
// no rank leaves a barrier before all have arrived. Each such pair bounds the difference of two clocks from
// one side. The narrowest bounds from both sides, in pieces of the run, give the difference and its error.
// This follows drift through the run, and nothing is measured while the program runs. Must not know records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// How far one clock is ahead of another, as a line and a table of deviations from it.
class ClockDifference {
 public:
  /// `run`: the run of the host whose clock the times below are in.
  explicit ClockDifference(Interval run);
  /// Bound the difference: at `time_ns` the other clock is ahead by at most, or at least, `ahead_ns`.
  void at_most(std::uint64_t time_ns, double ahead_ns) noexcept;
  void at_least(std::uint64_t time_ns, double ahead_ns) noexcept;
  /// Bounds within one piece of the run, relative to the line.
  struct Bounds {
    double least_ns;
    double most_ns;
  };
  [[nodiscard]] std::vector<Bounds> bounds() const;
  /// Merges the bounds of another difference with the same run and line. Order and repetition do not matter.
  void take_in(const std::vector<Bounds>& others) noexcept;
  /// Fits the line to the bounds collected so far, and restarts the bounds relative to it.
  void fit_line();
  /// Completes the difference; call it after the last bound.
  void finish();

  [[nodiscard]] bool is_known() const noexcept { return is_known_; }
  [[nodiscard]] double at(double time_ns) const noexcept;
  /// Returns the time of this host at which the other clock shows `other_ns`.
  [[nodiscard]] double time_when_other_shows(double other_ns) const noexcept;
  [[nodiscard]] double error_ns() const noexcept { return error_ns_; }

 private:
  struct Window {
    Bounds bounds;
    double rest_ns;
  };
  [[nodiscard]] std::size_t window_at(double time_ns) const noexcept;
  [[nodiscard]] double line_at(double time_ns) const noexcept;
  [[nodiscard]] double centre_of(std::size_t window) const noexcept;
  void forget_bounds();

  double begin_ns_;
  double length_ns_;
  double offset_ns_ = 0;
  double slope_ = 0;
  double error_ns_ = 0;
  bool is_known_ = false;
  std::vector<Window> windows_;
};

/// Hosts are numbered from 0. All observations are made twice: once to find the drift and once, after
/// fit_drift(), to find the rest. Thread: one at a time. Memory: some kilobytes per pair of hosts that
/// exchange messages.
class ClockAlignment {
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  ///< the lower host first; times are in its clock

 public:
  ClockAlignment() = default;
  /// `runs`: the run of each host, in its own clock.
  explicit ClockAlignment(std::vector<Interval> runs) : runs_(std::move(runs)) {}

  /// Records that the event at `cause_ns` on host `cause` preceded the event at `effect_ns` on host `effect`.
  void observe(std::uint32_t cause, std::uint64_t cause_ns, std::uint32_t effect, std::uint64_t effect_ns);
  /// The result of all observations since the drift was fitted. Alignments that saw some of the observations
  /// each and merge each other's bounds equal one alignment that saw all.
  using Bounds = std::map<Pair, std::vector<ClockDifference::Bounds>>;
  [[nodiscard]] Bounds bounds() const;
  void take_in(const Bounds& others);
  void fit_drift();
  /// Connects the hosts through the pairs with the smallest errors.
  void finish();

  [[nodiscard]] bool can_convert(std::uint32_t from, std::uint32_t to) const noexcept {
    return from == to ||
           (from < routes_.size() && to < routes_.size() && routes_[from].is_known && routes_[to].is_known);
  }
  /// Converts a time from the clock of `from` to that of `to`; returns it unchanged if that is not possible.
  [[nodiscard]] std::uint64_t convert(std::uint64_t time_ns, std::uint32_t from,
                                      std::uint32_t to) const noexcept {
    return from == to ? time_ns : converted(time_ns, from, to);
  }
  /// Returns the largest error between any aligned host and host 0.
  [[nodiscard]] std::uint64_t error_ns() const noexcept;
  /// Returns how far a time of `from` may be off in the clock of `to`; 0 if it is not converted.
  [[nodiscard]] std::uint64_t error_ns(std::uint32_t from, std::uint32_t to) const noexcept {
    return from == to ? 0 : error_between_ns(from, to);
  }
  /// Returns an upper bound of the error between any two hosts.
  [[nodiscard]] std::uint64_t widest_error_ns() const noexcept;
  [[nodiscard]] std::size_t aligned_hosts() const noexcept;

 private:
  struct Route {
    bool is_known = false;
    std::uint32_t next = 0;  ///< towards host 0
    double error_ns = 0;
    std::uint32_t steps = 0;  ///< from host 0
  };
  [[nodiscard]] std::uint64_t converted(std::uint64_t time_ns, std::uint32_t from,
                                        std::uint32_t to) const noexcept;
  [[nodiscard]] std::uint64_t error_between_ns(std::uint32_t from, std::uint32_t to) const noexcept;
  [[nodiscard]] double to_reference(double time_ns, std::uint32_t host) const noexcept;
  [[nodiscard]] double from_reference(double time_ns, std::uint32_t host) const noexcept;

  std::vector<Interval> runs_;
  std::map<Pair, ClockDifference> differences_;
  std::vector<Route> routes_;
};

}  // namespace penstock::analysis
