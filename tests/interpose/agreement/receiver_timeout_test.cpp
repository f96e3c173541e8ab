#include "interpose/messages/receiver_timeout.hpp"

#include <gtest/gtest.h>

namespace penstock::interpose {
namespace {

constexpr std::uint64_t begun_ns = 1'000'000'000;
constexpr std::uint64_t ages_ns = 3'600'000'000'000;
const std::uint64_t large_limit_ns = transports::tuning().receiver_timeout_us * 1000;

TEST(ReceiverTimeout, is_over_for_a_receiver_that_does_nothing_once_the_time_has_passed) {
  for (const bool mpi_would_buffer : {false, true}) {
    const ReceiverTimeout timeout(mpi_would_buffer, begun_ns);
    const std::uint64_t limit_ns = mpi_would_buffer ? policy::small_receiver_timeout_ns : large_limit_ns;
    EXPECT_FALSE(timeout.is_over(begun_ns + limit_ns, 0));
    EXPECT_TRUE(timeout.is_over(begun_ns + limit_ns + 1, 0));
  }
}

TEST(ReceiverTimeout, of_a_large_payload_is_never_over_while_the_receiver_is_at_work) {
  const ReceiverTimeout timeout(false, begun_ns);
  EXPECT_FALSE(timeout.is_over(begun_ns + ages_ns, begun_ns + ages_ns - large_limit_ns));
}

TEST(ReceiverTimeout, of_a_large_payload_is_over_when_the_receiver_has_stopped_working) {
  const ReceiverTimeout timeout(false, begun_ns);
  EXPECT_TRUE(timeout.is_over(begun_ns + ages_ns, begun_ns + ages_ns - large_limit_ns - 1));
}

TEST(ReceiverTimeout, of_what_a_plain_mpi_would_buffer_is_over_though_the_receiver_is_at_work) {
  const ReceiverTimeout timeout(true, begun_ns);
  const std::uint64_t most_ns = policy::small_receiver_timeout_ns * policy::busy_receiver_factor;
  EXPECT_FALSE(timeout.is_over(begun_ns + most_ns, begun_ns + most_ns));
  EXPECT_TRUE(timeout.is_over(begun_ns + most_ns + 1, begun_ns + most_ns + 1));
}

TEST(ReceiverTimeout, that_never_expires_does_not_whatever_the_receiver_does) {
  for (const bool mpi_would_buffer : {false, true}) {
    ReceiverTimeout timeout(mpi_would_buffer, begun_ns);
    timeout.never_expire();
    EXPECT_FALSE(timeout.is_over(begun_ns + ages_ns, 0));
  }
}

}  // namespace
}  // namespace penstock::interpose
