#include "interpose/progress/handle_table.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

namespace penstock::interpose {
namespace {

MPI_Request handle_of(std::uint64_t number) {
  MPI_Request handle{};
  std::memcpy(&handle, &number, std::min(sizeof handle, sizeof number));
  return handle;
}

TEST(HandleTable, an_empty_table_finds_nothing) {
  const HandleTable<int> table;
  EXPECT_EQ(table.find(handle_of(1)), nullptr);
}

TEST(HandleTable, agrees_with_a_map_through_random_insertions_and_removals) {
  HandleTable<int> table;
  std::map<std::uint64_t, int*> truth;
  std::vector<int> values(4096);
  std::mt19937 random(1);
  for (int step = 0; step < 200'000; ++step) {
    // multiples of 64, as request addresses are, from a set small enough to collide and return
    const std::uint64_t number = 64 * (1 + random() % 4096);
    const MPI_Request handle = handle_of(number);
    if (truth.contains(number)) {
      ASSERT_EQ(table.find(handle), truth[number]);
      table.erase(handle);
      ASSERT_EQ(table.find(handle), nullptr);
      truth.erase(number);
    } else {
      ASSERT_EQ(table.find(handle), nullptr);
      int* value = &values[random() % values.size()];
      table.insert(handle, value);
      truth[number] = value;
    }
  }
  for (const auto& [number, value] : truth) EXPECT_EQ(table.find(handle_of(number)), value);
}

TEST(HandleTable, removing_what_is_not_there_changes_nothing) {
  HandleTable<int> table;
  int value = 0;
  table.insert(handle_of(64), &value);
  table.erase(handle_of(128));
  EXPECT_EQ(table.find(handle_of(64)), &value);
  EXPECT_EQ(table.find(handle_of(128)), nullptr);
}

}  // namespace
}  // namespace penstock::interpose
