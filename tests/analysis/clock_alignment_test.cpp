// Clocks with known differences and drifts, seen only through messages. Times are ns.
#include "analysis/joining/clock_alignment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace penstock::analysis {
namespace {

constexpr double second = 1e9;

/// A host's clock as a function of true time.
using Clock = std::function<double(double)>;

std::uint64_t shown(const Clock& clock, double true_ns) {
  return static_cast<std::uint64_t>(std::llround(clock(true_ns)));
}

/// Messages to and fro all through a run of 100 s, each at least `latency_ns` on its way and most of them
/// longer.
class Hosts {
 public:
  explicit Hosts(std::vector<Clock> clocks) : clocks_(std::move(clocks)) {
    std::vector<Interval> runs;
    for (const Clock& clock : clocks_) {
      runs.push_back({shown(clock, 0), shown(clock, 100 * second)});
    }
    alignment_ = ClockAlignment(runs);
  }
  /// `both_ways`: from each to the other.
  void connect(std::uint32_t a, std::uint32_t b, double latency_ns = 2000, bool both_ways = true) {
    links_.push_back({a, b, latency_ns, both_ways});
  }
  ClockAlignment& align() {
    for (int pass = 0; pass < 2; ++pass) {
      std::mt19937 random(7);
      std::exponential_distribution<double> delay(1.0 / 50'000);
      for (const Link& link : links_) {
        for (double time_ns = 0; time_ns < 100 * second; time_ns += 0.01 * second) {
          message(link.a, link.b, time_ns, time_ns + link.latency_ns + delay(random));
          if (link.both_ways) {
            message(link.b, link.a, time_ns, time_ns + link.latency_ns + delay(random));
          }
        }
      }
      if (pass == 0) {
        alignment_.fit_drift();
      }
    }
    alignment_.finish();
    return alignment_;
  }
  /// The largest error over the run of times of `from` in the clock of `to`.
  [[nodiscard]] double worst_error_ns(std::uint32_t from, std::uint32_t to) const {
    double worst_ns = 0;
    for (double time_ns = 0; time_ns < 100 * second; time_ns += 0.37 * second) {
      const auto converted = static_cast<double>(alignment_.convert(shown(clocks_[from], time_ns), from, to));
      worst_ns = std::max(worst_ns, std::abs(converted - clocks_[to](time_ns)));
    }
    return worst_ns;
  }

 private:
  struct Link {
    std::uint32_t a;
    std::uint32_t b;
    double latency_ns;
    bool both_ways;
  };
  void message(std::uint32_t from, std::uint32_t to, double sent_ns, double received_ns) {
    alignment_.observe(from, shown(clocks_[from], sent_ns), to, shown(clocks_[to], received_ns));
  }
  std::vector<Clock> clocks_;
  std::vector<Link> links_;
  ClockAlignment alignment_;
};

Clock offset(double ahead_ns, double drift = 0) {
  return [=](double true_ns) { return 1e12 + ahead_ns + true_ns * (1 + drift); };
}

TEST(ClockAlignment, finds_a_constant_difference) {
  Hosts hosts({offset(0), offset(123'456'789'012)});
  hosts.connect(0, 1);
  const ClockAlignment& alignment = hosts.align();
  ASSERT_TRUE(alignment.can_convert(0, 1));
  EXPECT_LE(hosts.worst_error_ns(0, 1), static_cast<double>(alignment.error_ns()));
  EXPECT_LE(hosts.worst_error_ns(1, 0), static_cast<double>(alignment.error_ns()));
  EXPECT_LE(alignment.error_ns(),
            10'000u);  // the latency, and what hundreds of messages in a window leave of delays
}

TEST(ClockAlignment, works_where_the_other_clock_is_behind_and_began_at_zero) {
  Hosts hosts({offset(0), [](double true_ns) { return 5 + true_ns; }});
  hosts.connect(0, 1);
  const ClockAlignment& alignment = hosts.align();
  EXPECT_LE(hosts.worst_error_ns(0, 1), static_cast<double>(alignment.error_ns()));
  EXPECT_LE(hosts.worst_error_ns(1, 0), static_cast<double>(alignment.error_ns()));
}

TEST(ClockAlignment, follows_drift) {
  Hosts hosts({offset(0), offset(-7e9, 50e-6)});  // five milliseconds over the run
  hosts.connect(0, 1);
  const ClockAlignment& alignment = hosts.align();
  EXPECT_LE(hosts.worst_error_ns(0, 1), static_cast<double>(alignment.error_ns()));
  EXPECT_LE(hosts.worst_error_ns(1, 0), static_cast<double>(alignment.error_ns()));
  EXPECT_LE(alignment.error_ns(), 15'000u);
}

TEST(ClockAlignment, follows_drift_that_changes) {
  const Clock steered = [](double true_ns) {
    return 1e12 + 3e9 + true_ns + 200'000 * std::sin(true_ns / (30 * second));
  };
  Hosts hosts({offset(0), steered});
  hosts.connect(0, 1);
  const ClockAlignment& alignment = hosts.align();
  EXPECT_LE(hosts.worst_error_ns(0, 1), static_cast<double>(alignment.error_ns()));
  EXPECT_LE(alignment.error_ns(), 20'000u);
}

TEST(ClockAlignment, goes_by_the_best_way_between_hosts_that_exchange_nothing) {
  Hosts hosts({offset(0), offset(1e9, 10e-6), offset(-5e9, -20e-6), offset(9e9)});
  hosts.connect(0, 1);
  hosts.connect(1, 2);
  hosts.connect(2, 3);
  hosts.connect(0, 3, 1'000'000);  // slower, so known worse than by way of 1 and 2
  const ClockAlignment& alignment = hosts.align();
  EXPECT_EQ(alignment.aligned_hosts(), 4u);
  EXPECT_LE(hosts.worst_error_ns(3, 0), 100'000);
  EXPECT_LE(hosts.worst_error_ns(3, 1), 2.0 * static_cast<double>(alignment.error_ns()));
}

TEST(ClockAlignment, errors_between_two_hosts_are_those_of_the_way_from_one_to_the_other) {
  Hosts hosts({offset(0), offset(1e9), offset(2e9), offset(3e9)});
  hosts.connect(0, 1, 500'000);  // all come to host 0 by this one
  hosts.connect(1, 2);
  hosts.connect(1, 3);
  const ClockAlignment& alignment = hosts.align();
  EXPECT_EQ(alignment.error_ns(2, 2), 0u);
  EXPECT_LE(alignment.error_ns(2, 3), 20'000u);
  EXPECT_EQ(alignment.error_ns(2, 3), alignment.error_ns(3, 2));
  EXPECT_GE(alignment.error_ns(2, 0), 490'000u);
  EXPECT_LE(hosts.worst_error_ns(2, 3), static_cast<double>(alignment.error_ns(2, 3)));
  EXPECT_LE(alignment.error_ns(2, 0), alignment.error_ns());
  EXPECT_LE(alignment.error_ns(), alignment.widest_error_ns());
}

TEST(ClockAlignment, messages_one_way_only_tell_nothing) {
  Hosts hosts({offset(0), offset(1e9)});
  hosts.connect(0, 1, 2000, false);
  const ClockAlignment& alignment = hosts.align();
  EXPECT_FALSE(alignment.can_convert(0, 1));
  EXPECT_EQ(alignment.aligned_hosts(), 1u);
  EXPECT_EQ(alignment.convert(42, 1, 0), 42u);
}

TEST(ClockAlignment, a_host_by_itself_leaves_the_others_aligned) {
  Hosts hosts({offset(0), offset(1e9), offset(2e9)});
  hosts.connect(0, 2);
  const ClockAlignment& alignment = hosts.align();
  EXPECT_TRUE(alignment.can_convert(0, 2));
  EXPECT_FALSE(alignment.can_convert(0, 1));
  EXPECT_EQ(alignment.aligned_hosts(), 2u);
}

TEST(ClockAlignment, survives_bounds_that_contradict_each_other) {
  ClockAlignment alignment({{1000, 2000}, {1000, 2000}});
  for (int pass = 0; pass < 2; ++pass) {
    alignment.observe(0, 1500, 1, 1400);  // received before it was sent, both ways
    alignment.observe(1, 1600, 0, 1500);
    alignment.observe(0, ~std::uint64_t{0}, 1, 0);
    alignment.observe(7, 1, 0, 2);
    if (pass == 0) {
      alignment.fit_drift();
    }
  }
  alignment.finish();
  EXPECT_TRUE(alignment.can_convert(0, 1));
  EXPECT_GE(alignment.error_ns(), 100u);
  EXPECT_NO_FATAL_FAILURE(static_cast<void>(alignment.convert(1500, 0, 1)));
}

}  // namespace
}  // namespace penstock::analysis
