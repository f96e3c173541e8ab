// Brings the clocks of several hosts together by what cannot be otherwise: a message is received after it was
// sent, and nobody leaves a barrier before all have come. Each such pair of events bounds the difference of
// two clocks from one side; the narrowest bounds from both sides, in pieces of the run, give the difference
// and how far it may be off. So drift is followed all through the run, and nothing has to be measured while
// the program runs. Knows no records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// How far one clock is ahead of another, as a line and a table of what is left.
class ClockDifference {
 public:
  /// `run`: of the host whose clock the times below are.
  explicit ClockDifference(Interval run);
  /// At `time_ns` the other clock is ahead by no more, or no less, than this.
  void at_most(std::uint64_t time_ns, double ahead_ns) noexcept;
  void at_least(std::uint64_t time_ns, double ahead_ns) noexcept;
  /// Within one piece of the run, around the line.
  struct Bounds {
    double least_ns;
    double most_ns;
  };
  [[nodiscard]] std::vector<Bounds> bounds() const;
  /// Those of another one of the same run and line. In whatever order, and however often.
  void take_in(const std::vector<Bounds>& others) noexcept;
  /// Takes what was bounded so far for the line, and starts the bounds anew around it.
  void fit_line();
  /// After the last bound.
  void finish();

  [[nodiscard]] bool is_known() const noexcept { return is_known_; }
  [[nodiscard]] double at(double time_ns) const noexcept;
  /// The time of this host at which the other clock shows `other_ns`.
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

/// Hosts are numbered from 0. Observations are made twice over: once to find the drift, once, after
/// fit_drift(), for what is left. Thread: one at a time. Memory: some kilobytes for each pair of hosts that
/// exchange messages.
class ClockAlignment {
  using Pair = std::pair<std::uint32_t, std::uint32_t>;  ///< the lower host first; the time of the first

 public:
  ClockAlignment() = default;
  /// `runs`: of each host, in its own clock.
  explicit ClockAlignment(std::vector<Interval> runs) : runs_(std::move(runs)) {}

  /// What happened at `cause_ns` on host `cause` came before what happened at `effect_ns` on host `effect`.
  void observe(std::uint32_t cause, std::uint64_t cause_ns, std::uint32_t effect, std::uint64_t effect_ns);
  /// What all observations since the drift was fitted come down to. Several alignments of the same runs that
  /// saw some of them each have, once they took in each other's, what one has that saw all.
  using Bounds = std::map<Pair, std::vector<ClockDifference::Bounds>>;
  [[nodiscard]] Bounds bounds() const;
  void take_in(const Bounds& others);
  void fit_drift();
  /// Connects the hosts by the pairs that are known best.
  void finish();

  [[nodiscard]] bool can_convert(std::uint32_t from, std::uint32_t to) const noexcept;
  /// Of the clock of `from` into that of `to`; where it cannot be converted, unchanged.
  [[nodiscard]] std::uint64_t convert(std::uint64_t time_ns, std::uint32_t from,
                                      std::uint32_t to) const noexcept;
  /// The largest, between any aligned host and the one that the others are aligned with.
  [[nodiscard]] std::uint64_t error_ns() const noexcept;
  /// How far a time of `from` may be off in the clock of `to`; 0 where it is not converted.
  [[nodiscard]] std::uint64_t error_ns(std::uint32_t from, std::uint32_t to) const noexcept;
  /// No less than between any two hosts.
  [[nodiscard]] std::uint64_t widest_error_ns() const noexcept;
  [[nodiscard]] std::size_t aligned_hosts() const noexcept;

 private:
  struct Route {
    bool is_known = false;
    std::uint32_t next = 0;  ///< towards host 0
    double error_ns = 0;
    std::uint32_t steps = 0;  ///< from host 0
  };
  [[nodiscard]] double to_reference(double time_ns, std::uint32_t host) const noexcept;
  [[nodiscard]] double from_reference(double time_ns, std::uint32_t host) const noexcept;

  std::vector<Interval> runs_;
  std::map<Pair, ClockDifference> differences_;
  std::vector<Route> routes_;
};

}  // namespace penstock::analysis
