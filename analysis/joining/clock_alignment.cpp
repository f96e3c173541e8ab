#include "analysis/joining/clock_alignment.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <tuple>

namespace penstock::analysis {
namespace {

/// Number of pieces of the run for which bounds are kept. Clocks drift by parts in a million, which the line
/// removes; the rest (temperature, a time service that steers) changes over seconds to minutes.
constexpr std::size_t window_count = 64;

constexpr double unbounded = std::numeric_limits<double>::infinity();

}  // namespace

ClockDifference::ClockDifference(Interval run)
    : begin_ns_(static_cast<double>(run.begin_ns)),
      length_ns_(static_cast<double>(std::max<std::uint64_t>(run.end_ns, run.begin_ns + 1) - run.begin_ns)) {
  forget_bounds();
}

void ClockDifference::forget_bounds() {
  windows_.assign(window_count, {{-unbounded, unbounded}, 0});
}

std::size_t ClockDifference::window_at(double time_ns) const noexcept {
  const double place = (time_ns - begin_ns_) / length_ns_ * static_cast<double>(window_count);
  return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(window_count - 1)));
}

double ClockDifference::centre_of(std::size_t window) const noexcept {
  return begin_ns_ + (static_cast<double>(window) + 0.5) * length_ns_ / static_cast<double>(window_count);
}

double ClockDifference::line_at(double time_ns) const noexcept {
  return offset_ns_ + slope_ * (time_ns - begin_ns_);
}

void ClockDifference::at_most(std::uint64_t time_ns, double ahead_ns) noexcept {
  const auto time = static_cast<double>(time_ns);
  Bounds& bounds = windows_[window_at(time)].bounds;
  bounds.most_ns = std::min(bounds.most_ns, ahead_ns - line_at(time));
}

void ClockDifference::at_least(std::uint64_t time_ns, double ahead_ns) noexcept {
  const auto time = static_cast<double>(time_ns);
  Bounds& bounds = windows_[window_at(time)].bounds;
  bounds.least_ns = std::max(bounds.least_ns, ahead_ns - line_at(time));
}

std::vector<ClockDifference::Bounds> ClockDifference::bounds() const {
  std::vector<Bounds> all;
  for (const Window& window : windows_) {
    all.push_back(window.bounds);
  }
  return all;
}

void ClockDifference::take_in(const std::vector<Bounds>& others) noexcept {
  for (std::size_t i = 0; i < std::min(windows_.size(), others.size()); ++i) {
    Bounds& bounds = windows_[i].bounds;
    bounds.least_ns = std::max(bounds.least_ns, others[i].least_ns);
    bounds.most_ns = std::min(bounds.most_ns, others[i].most_ns);
  }
}

/// Fits a least-squares line through the middles of the windows; narrow windows weigh more.
void ClockDifference::fit_line() {
  double weights = 0;
  double sum_x = 0;
  double sum_y = 0;
  double sum_xx = 0;
  double sum_xy = 0;
  for (std::size_t i = 0; i < window_count; ++i) {
    const Bounds& bounds = windows_[i].bounds;
    const double width_ns = bounds.most_ns - bounds.least_ns;
    if (!std::isfinite(width_ns)) {
      continue;
    }
    const double weight = 1 / (1e6 + width_ns * width_ns);  // a window narrower than a microsecond is no
                                                            // better
    const double x = centre_of(i) - begin_ns_;
    const double y = (bounds.most_ns + bounds.least_ns) / 2;
    weights += weight;
    sum_x += weight * x;
    sum_y += weight * y;
    sum_xx += weight * x * x;
    sum_xy += weight * x * y;
  }
  if (weights > 0) {
    const double spread = weights * sum_xx - sum_x * sum_x;
    const double slope = spread > 1e-9 * weights * sum_xx ? (weights * sum_xy - sum_x * sum_y) / spread : 0;
    offset_ns_ += (sum_y - slope * sum_x) / weights;
    slope_ += slope;
  }
  forget_bounds();
}

/// Interpolates windows that are not bounded from both sides between their neighbours.
void ClockDifference::finish() {
  std::size_t last_known = window_count;
  for (std::size_t i = 0; i < window_count; ++i) {
    Window& window = windows_[i];
    const Bounds& bounds = window.bounds;
    const double half_ns = (bounds.most_ns - bounds.least_ns) / 2;
    if (!std::isfinite(half_ns)) {
      continue;
    }
    window.rest_ns = (bounds.most_ns + bounds.least_ns) / 2;
    // between two windows the true difference may deviate by as much as it steps from one to the other
    const double step_ns = is_known_ ? std::abs(window.rest_ns - windows_[last_known].rest_ns) : 0;
    error_ns_ = std::max(error_ns_, std::abs(half_ns) + step_ns / 2);
    const std::size_t first = is_known_ ? last_known + 1 : 0;
    for (std::size_t gap = first; gap < i; ++gap) {
      const double share =
          is_known_ ? static_cast<double>(gap - last_known) / static_cast<double>(i - last_known) : 1;
      const double before_ns = is_known_ ? windows_[last_known].rest_ns : window.rest_ns;
      windows_[gap].rest_ns = before_ns + share * (window.rest_ns - before_ns);
    }
    is_known_ = true;
    last_known = i;
  }
  for (std::size_t gap = last_known + 1; is_known_ && gap < window_count; ++gap) {
    windows_[gap].rest_ns = windows_[last_known].rest_ns;
  }
}

double ClockDifference::at(double time_ns) const noexcept {
  const std::size_t here = window_at(time_ns);
  const double from_centre = time_ns - centre_of(here);
  const bool looks_back = from_centre < 0;
  if ((looks_back && here == 0) || (!looks_back && here + 1 == window_count)) {
    return line_at(time_ns) + windows_[here].rest_ns;
  }
  const double rest_ns = windows_[looks_back ? here - 1 : here + 1].rest_ns;
  const double share = std::abs(from_centre) / (length_ns_ / static_cast<double>(window_count));
  return line_at(time_ns) + windows_[here].rest_ns + share * (rest_ns - windows_[here].rest_ns);
}

double ClockDifference::time_when_other_shows(double other_ns) const noexcept {
  // Invert the line first, then correct for the rest. The rest changes so slowly that one more iteration is
  // exact to far below a nanosecond.
  double time_ns = begin_ns_ + (other_ns - begin_ns_ - offset_ns_) / (1 + slope_);
  for (int turn = 0; turn < 2; ++turn) {
    time_ns = other_ns - at(time_ns);
  }
  return time_ns;
}

void ClockAlignment::observe(std::uint32_t cause, std::uint64_t cause_ns, std::uint32_t effect,
                             std::uint64_t effect_ns) {
  if (cause == effect || cause >= runs_.size() || effect >= runs_.size()) {
    return;
  }
  const auto ahead = [](std::uint64_t other_ns, std::uint64_t own_ns) {
    return static_cast<double>(static_cast<std::int64_t>(other_ns - own_ns));
  };
  const std::uint32_t first = std::min(cause, effect);
  ClockDifference& difference =
      differences_.try_emplace({first, std::max(cause, effect)}, runs_[first]).first->second;
  if (first == cause) {
    difference.at_most(cause_ns, ahead(effect_ns, cause_ns));
  } else {
    difference.at_least(effect_ns, ahead(cause_ns, effect_ns));
  }
}

ClockAlignment::Bounds ClockAlignment::bounds() const {
  Bounds all;
  for (const auto& [pair, difference] : differences_) {
    all.emplace(pair, difference.bounds());
  }
  return all;
}

void ClockAlignment::take_in(const Bounds& others) {
  for (const auto& [pair, bounds] : others) {
    differences_.try_emplace(pair, runs_.at(pair.first)).first->second.take_in(bounds);
  }
}

void ClockAlignment::fit_drift() {
  for (auto& [pair, difference] : differences_) {
    difference.fit_line();
  }
}

/// Finds each host's route to host 0 with the smallest sum of errors (Dijkstra).
void ClockAlignment::finish() {
  std::map<std::uint32_t, std::vector<std::pair<std::uint32_t, double>>> neighbours;
  for (auto& [pair, difference] : differences_) {
    difference.finish();
    if (difference.is_known()) {
      neighbours[pair.first].emplace_back(pair.second, difference.error_ns());
      neighbours[pair.second].emplace_back(pair.first, difference.error_ns());
    }
  }
  routes_.assign(runs_.size(), {});
  using Candidate = std::tuple<double, std::uint32_t, std::uint32_t>;  // error, host, next
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  if (!routes_.empty()) {
    candidates.emplace(0.0, 0u, 0u);
  }
  while (!candidates.empty()) {
    const auto [error_ns, host, next] = candidates.top();
    candidates.pop();
    if (routes_[host].is_known) {
      continue;
    }
    routes_[host] = {true, next, error_ns, host == 0 ? 0 : routes_[next].steps + 1};
    for (const auto& [neighbour, step_ns] : neighbours[host]) {
      if (!routes_[neighbour].is_known) {
        candidates.emplace(error_ns + step_ns, neighbour, host);
      }
    }
  }
}

double ClockAlignment::to_reference(double time_ns, std::uint32_t host) const noexcept {
  while (host != 0) {
    const std::uint32_t next = routes_[host].next;
    const ClockDifference& difference = differences_.at({std::min(host, next), std::max(host, next)});
    time_ns = next < host ? difference.time_when_other_shows(time_ns) : time_ns + difference.at(time_ns);
    host = next;
  }
  return time_ns;
}

double ClockAlignment::from_reference(double time_ns, std::uint32_t host) const noexcept {
  if (host == 0) {
    return time_ns;
  }
  const std::uint32_t next = routes_[host].next;
  time_ns = from_reference(time_ns, next);
  const ClockDifference& difference = differences_.at({std::min(host, next), std::max(host, next)});
  return next < host ? time_ns + difference.at(time_ns) : difference.time_when_other_shows(time_ns);
}

std::uint64_t ClockAlignment::converted(std::uint64_t time_ns, std::uint32_t from,
                                        std::uint32_t to) const noexcept {
  if (!can_convert(from, to)) {
    return time_ns;
  }
  const double converted_ns = from_reference(to_reference(static_cast<double>(time_ns), from), to);
  return converted_ns <= 0 ? 0 : static_cast<std::uint64_t>(std::llround(converted_ns));
}

std::uint64_t ClockAlignment::error_ns() const noexcept {
  double error_ns = 0;
  for (const Route& route : routes_) {
    error_ns = std::max(error_ns, route.error_ns);
  }
  return static_cast<std::uint64_t>(std::ceil(error_ns));
}

/// Adds the errors along the route from one host to the other. The common part of their routes to host 0 is
/// not used.
std::uint64_t ClockAlignment::error_between_ns(std::uint32_t from, std::uint32_t to) const noexcept {
  if (!can_convert(from, to)) {
    return 0;
  }
  std::uint32_t left = from;
  std::uint32_t right = to;
  while (left != right) {
    std::uint32_t& further = routes_[left].steps >= routes_[right].steps ? left : right;
    further = routes_[further].next;
  }
  return static_cast<std::uint64_t>(
      std::ceil(routes_[from].error_ns + routes_[to].error_ns - 2 * routes_[left].error_ns));
}

std::uint64_t ClockAlignment::widest_error_ns() const noexcept {
  double first_ns = 0;
  double second_ns = 0;
  for (const Route& route : routes_) {
    second_ns = std::max(second_ns, std::min(first_ns, route.error_ns));
    first_ns = std::max(first_ns, route.error_ns);
  }
  return static_cast<std::uint64_t>(std::ceil(first_ns + second_ns));
}

std::size_t ClockAlignment::aligned_hosts() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(routes_.begin(), routes_.end(), [](const Route& route) { return route.is_known; }));
}

}  // namespace penstock::analysis
