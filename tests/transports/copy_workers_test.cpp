#include "transports/host/copy_workers.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <numeric>
#include <random>

#include "transports/host/host_copy.hpp"

namespace penstock::transports {
namespace {

TEST(CopyWorkers, does_every_part_once) {
  CopyWorkers workers;
  for (const std::size_t parts : {0U, 1U, 2U, 3U, 100U, 10'000U}) {
    std::vector<std::atomic<int>> done(parts);
    workers.share(parts, [&](std::size_t part) { ++done[part]; });
    for (const auto& each : done) EXPECT_EQ(each, 1);
  }
}

TEST(CopyWorkers, goes_on_after_many_short_jobs) {
  CopyWorkers workers;
  std::atomic<std::size_t> sum{0};
  for (std::size_t job = 0; job < 3000; ++job) workers.share(3, [&](std::size_t part) { sum += part + job; });
  EXPECT_EQ(sum, 3000u * 3 + 3u * (2999u * 3000u / 2));
}

TEST(CopyWorkers, serves_several_callers_at_once) {
  CopyWorkers workers;
  std::array<std::atomic<int>, 4> sums{};
  std::vector<std::thread> callers;
  for (auto& sum : sums) {
    callers.emplace_back([&] {
      for (int job = 0; job < 200; ++job) workers.share(16, [&](std::size_t) { ++sum; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const auto& sum : sums) EXPECT_EQ(sum, 200 * 16);
}

TEST(CopyWorkers, has_fewer_helpers_than_the_caller_has_cores) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  std::thread([&] {
    int core = 0;
    while (CPU_ISSET(core, &before) == 0) ++core;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    CopyWorkers alone;
    int done = 0;
    alone.share(10, [&](std::size_t) { ++done; });
    EXPECT_EQ(done, 10);
    EXPECT_EQ(alone.threads(), 0u);
  }).join();
  CopyWorkers workers;
  workers.share(1, [](std::size_t) {});
  EXPECT_EQ(workers.threads(),
            std::min(CopyWorkers::most_workers, static_cast<unsigned>(CPU_COUNT(&before)) - 1));
}

TEST(CopyWorkers, that_was_stopped_leaves_the_work_to_its_caller) {
  CopyWorkers workers;
  workers.share(10, [](std::size_t) {});
  workers.stop();
  EXPECT_EQ(workers.threads(), 0u);
  int done = 0;
  workers.share(10, [&](std::size_t) { ++done; });
  EXPECT_EQ(done, 10);
  workers.stop();
}

TEST(CopyWorkers, that_was_never_used_can_be_stopped) {
  CopyWorkers workers;
  workers.stop();
  workers.share(10, [](std::size_t) {});
  EXPECT_EQ(workers.threads(), 0u);
}

TEST(CopyWorkers, is_not_there_in_a_child_process_which_copies_all_the_same) {
  std::vector<char> from(4u << 20, 'x');
  std::vector<char> to(from.size());
  copy_host(to.data(), from.data(), from.size());
  const pid_t child = fork();
  if (child == 0) {
    std::fill(to.begin(), to.end(), '\0');
    copy_host(to.data(), from.data(), from.size());
    CopyWorkers::of_process().stop();
    _exit(to == from ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

/// Rows of random length, distance and position, copied as a whole, against one memcpy each.
TEST(HostCopy, brings_rows_of_every_size_to_their_places_and_touches_nothing_else) {
  std::mt19937 random(7);
  const auto between = [&](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  };
  for (int round = 0; round < 40; ++round) {
    const std::size_t bytes = round % 2 == 0 ? between(1, 3000) : between(1, 3u << 20);
    const std::size_t rows = between(1, std::max<std::size_t>((3u << 20) / bytes, 1));
    const std::size_t from_pitch = bytes + between(0, 100);
    const std::size_t to_pitch = bytes + between(0, 100);
    const std::size_t from_begin = between(0, 70);
    const std::size_t to_begin = between(0, 70);
    SCOPED_TRACE(testing::Message() << rows << " rows of " << bytes << " bytes, " << from_pitch << " to "
                                    << to_pitch << " apart");
    std::vector<unsigned char> from(from_begin + rows * from_pitch);
    std::iota(from.begin(), from.end(), static_cast<unsigned char>(round));
    for (std::size_t at = 0; at < from.size(); at += 251) from[at] = static_cast<unsigned char>(at >> 8);
    std::vector<unsigned char> expected(to_begin + rows * to_pitch + 64, 0xa5);
    std::vector<unsigned char> to = expected;
    for (std::size_t row = 0; row < rows; ++row) {
      std::copy_n(from.data() + from_begin + row * from_pitch, bytes,
                  expected.data() + to_begin + row * to_pitch);
    }
    copy_host_rows(reinterpret_cast<char*>(to.data()) + to_begin, static_cast<std::ptrdiff_t>(to_pitch),
                   reinterpret_cast<const char*>(from.data()) + from_begin,
                   static_cast<std::ptrdiff_t>(from_pitch), bytes, rows);
    ASSERT_TRUE(to == expected);
  }
}

}  // namespace
}  // namespace penstock::transports
