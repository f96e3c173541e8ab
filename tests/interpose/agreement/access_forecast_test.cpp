#include "interpose/windows/access_forecast.hpp"

#include <gtest/gtest.h>

namespace penstock::interpose {
namespace {

constexpr std::uint64_t soon_ns = AccessForecast::longest_pause_ns / 2;
constexpr std::uint64_t late_ns = AccessForecast::longest_pause_ns * 2;

/// A rank's calls, one after the other.
class Calls {
 public:
  void access(std::uint64_t after_ns) { forecast.note_access(now_ns_ += after_ns); }
  void begin(std::uint64_t takes_ns) { forecast.note_begun(now_ns_ += takes_ns); }
  void complete(std::uint64_t after_ns) { forecast.note_completion(now_ns_ += after_ns); }

  AccessForecast forecast;

 private:
  std::uint64_t now_ns_ = 1'000'000;
};

TEST(AccessForecast, expects_a_computation_at_first) {
  Calls calls;
  EXPECT_FALSE(calls.forecast.completes_at_once());
  calls.access(0);
  EXPECT_FALSE(calls.forecast.completes_at_once());
}

TEST(AccessForecast, expects_what_was_the_last_time) {
  Calls calls;
  calls.access(0);
  calls.access(soon_ns);
  calls.complete(soon_ns);
  EXPECT_TRUE(calls.forecast.completes_at_once());
  calls.access(late_ns);  // the time between completion and access does not count
  EXPECT_TRUE(calls.forecast.completes_at_once());
  calls.complete(late_ns);
  EXPECT_FALSE(calls.forecast.completes_at_once());
}

TEST(AccessForecast, gives_up_at_a_pause_between_accesses) {
  Calls calls;
  calls.access(0);
  calls.complete(soon_ns);
  calls.access(soon_ns);
  calls.access(late_ns);
  EXPECT_FALSE(calls.forecast.completes_at_once());
  calls.complete(soon_ns);
  EXPECT_FALSE(calls.forecast.completes_at_once());
}

TEST(AccessForecast, does_not_take_the_calls_themselves_for_pauses) {
  Calls calls;
  calls.access(0);
  calls.begin(late_ns);
  calls.access(soon_ns);
  calls.begin(late_ns);
  calls.complete(soon_ns);
  EXPECT_TRUE(calls.forecast.completes_at_once());
}

TEST(AccessForecast, ignores_completions_of_nothing) {
  Calls calls;
  calls.access(0);
  calls.complete(soon_ns);
  calls.begin(0);  // begun by the completion
  calls.complete(late_ns);
  EXPECT_TRUE(calls.forecast.completes_at_once());
}

}  // namespace
}  // namespace penstock::interpose
