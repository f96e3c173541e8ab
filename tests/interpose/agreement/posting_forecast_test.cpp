#include "interpose/progress/posting_forecast.hpp"

#include <gtest/gtest.h>

namespace penstock::interpose {
namespace {

constexpr std::uint64_t posting_ns = 1'000'000;
constexpr std::uint64_t at_once_ns = posting_ns + 1'000;
constexpr std::uint64_t after_a_computation_ns = posting_ns + policy::shortest_computation_ns;

void post(PostingForecast& forecast, Posted posted, int calls) {
  for (int i = 0; i < calls; ++i) forecast.note(posted, posting_ns);
}

void wait(PostingForecast& forecast, std::uint64_t now_ns) {
  EXPECT_TRUE(forecast.has_posted());
  forecast.note_wait(now_ns);
  EXPECT_FALSE(forecast.has_posted());
}

TEST(PostingForecast, expects_neither_sends_nor_a_computation_at_first) {
  PostingForecast forecast;
  post(forecast, Posted::receive, 3);
  EXPECT_FALSE(forecast.has_more_to_send());
  EXPECT_FALSE(forecast.is_about_to_compute());
}

TEST(PostingForecast, expects_what_was_posted_before_the_last_wait) {
  PostingForecast forecast;
  post(forecast, Posted::receive, 2);
  post(forecast, Posted::send, 3);
  wait(forecast, after_a_computation_ns);
  post(forecast, Posted::receive, 2);
  post(forecast, Posted::send, 2);
  EXPECT_TRUE(forecast.has_more_to_send());
  EXPECT_FALSE(forecast.is_about_to_compute());
  post(forecast, Posted::send, 1);
  EXPECT_FALSE(forecast.has_more_to_send());
  EXPECT_TRUE(forecast.is_about_to_compute());
}

TEST(PostingForecast, expects_receives_too) {
  PostingForecast forecast;
  post(forecast, Posted::receive, 3);
  wait(forecast, after_a_computation_ns);
  post(forecast, Posted::receive, 2);
  EXPECT_FALSE(forecast.has_more_to_send());
  EXPECT_FALSE(forecast.is_about_to_compute());
  post(forecast, Posted::receive, 1);
  EXPECT_TRUE(forecast.is_about_to_compute());
}

TEST(PostingForecast, tells_who_waits_at_once) {
  PostingForecast forecast;
  post(forecast, Posted::receive, 1);
  wait(forecast, at_once_ns);
  post(forecast, Posted::receive, 1);
  EXPECT_FALSE(forecast.is_about_to_compute());
  wait(forecast, after_a_computation_ns);
  post(forecast, Posted::receive, 1);
  EXPECT_TRUE(forecast.is_about_to_compute());
}

TEST(PostingForecast, tells_steps_of_sending_from_those_of_receiving) {
  PostingForecast forecast;
  for (int turn = 0; turn < 3; ++turn) {
    post(forecast, Posted::receive, 4);
    EXPECT_EQ(forecast.is_about_to_compute(), turn > 0);
    wait(forecast, after_a_computation_ns);
    post(forecast, Posted::send, 5);
    EXPECT_EQ(forecast.is_about_to_compute(), turn > 0);
    wait(forecast, after_a_computation_ns);
  }
}

TEST(PostingForecast, follows_a_program_that_changes) {
  PostingForecast forecast;
  post(forecast, Posted::receive, 1);
  post(forecast, Posted::send, 5);
  wait(forecast, at_once_ns);
  post(forecast, Posted::receive, 1);
  EXPECT_TRUE(forecast.has_more_to_send());
  wait(forecast, at_once_ns);
  post(forecast, Posted::receive, 1);
  EXPECT_FALSE(forecast.has_more_to_send());
}

}  // namespace
}  // namespace penstock::interpose
