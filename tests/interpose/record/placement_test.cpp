// The cores that a rank may use, as text.
#include "interpose/record/run/placement.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace penstock::record {
namespace {

std::string text_of(std::initializer_list<int> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int each : cores) CPU_SET(each, &set);
  return text_of_cores(set, CPU_SETSIZE);
}

TEST(Cores, are_written_as_Linux_writes_them) {
  EXPECT_EQ(text_of({}), "");
  EXPECT_EQ(text_of({5}), "5");
  EXPECT_EQ(text_of({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(text_of({1, 3, 4, CPU_SETSIZE - 1}), "1,3-4,1023");
}

TEST(Cores, are_those_of_the_calling_thread) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int core = 0;
  while (!CPU_ISSET(core, &before)) ++core;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(allowed_cores(), std::to_string(core));
  EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace penstock::record
