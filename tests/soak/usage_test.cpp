#include "tests/soak/usage.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace penstock::soak {
namespace {

constexpr std::size_t descriptors = 3;  // but for those of staging memory

/// 64 samples of a program whose descriptors are as `count` says.
template <typename Count>
History history_of(Count count) {
  History history;
  for (std::int64_t sample = 0; sample < 64; ++sample) {
    Usage usage{};
    usage[descriptors] = count(sample);
    history.add(usage);
  }
  return history;
}

TEST(SoakHistory, says_what_grows) {
  const std::string growth = history_of([](std::int64_t sample) { return 100 + sample; }).growth();
  EXPECT_NE(growth.find("descriptors"), std::string::npos) << growth;
  EXPECT_EQ(growth.find("memory"), std::string::npos) << growth;
}

TEST(SoakHistory, lets_a_program_come_to_rest) {
  EXPECT_EQ(history_of([](std::int64_t sample) { return sample < 16 ? sample * 10 : 160; }).growth(), "");
}

TEST(SoakHistory, lets_a_count_rise_and_fall) {
  EXPECT_EQ(history_of([](std::int64_t sample) { return sample % 4 == 0 ? 500 : 100; }).growth(), "");
}

TEST(SoakHistory, of_few_samples_says_that_it_cannot_tell) {
  History history;
  history.add({});
  EXPECT_NE(history.growth(), "");
}

TEST(SoakUsage, counts_a_descriptor_more) {
  static_cast<void>(read_usage());  // the first question after the GPU's memory opens some
  const Usage before = read_usage();
  const int descriptor = ::dup(STDERR_FILENO);
  EXPECT_EQ(read_usage()[descriptors], before[descriptors] + 1);
  ::close(descriptor);
  for (const std::int64_t count : {before[0], before[4], before[5]}) EXPECT_GT(count, 0);
}

TEST(SoakUsage, names_what_there_is_more_of) {
  const Descriptors before = read_descriptors();
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  EXPECT_EQ(more_descriptors(before, read_descriptors()), "   2 more of pipe:[]\n");
  for (const int end : ends) ::close(end);
  EXPECT_EQ(more_descriptors(before, read_descriptors()), "");
}

}  // namespace
}  // namespace penstock::soak
