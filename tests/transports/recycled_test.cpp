// Memory that is kept for the next object of its kind: it comes again, never twice at a time, and not without
// bound.
#include "transports/host/recycled.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace penstock::transports::test {
namespace {

struct Base {
  virtual ~Base() = default;
};
struct Object final : Base, Recycled<Object, 4> {
  std::array<std::byte, 200> content{};
};

TEST(Recycled, comes_again_through_the_base_too) {
  std::unique_ptr<Base> object = std::make_unique<Object>();
  const auto address = reinterpret_cast<std::uintptr_t>(object.get());
  object.reset();
  object = std::make_unique<Object>();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(object.get()), address);
}

TEST(Recycled, is_nobody_elses_while_it_is_in_use) {
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<Object>> objects;
    std::set<const void*> different;
    for (int i = 0; i < 10; ++i) different.insert(objects.emplace_back(std::make_unique<Object>()).get());
    EXPECT_EQ(different.size(), 10u);
  }
}

TEST(Recycled, may_go_on_another_thread_than_it_came_from) {
  for (int round = 0; round < 100; ++round) {
    std::vector<std::unique_ptr<Object>> objects;
    for (int i = 0; i < 10; ++i) objects.push_back(std::make_unique<Object>());
    std::thread([&] {
      std::set<const void*> gone;
      for (std::size_t i = 5; i < objects.size(); ++i) gone.insert(objects[i].get());
      objects.resize(5);
      objects.push_back(std::make_unique<Object>());
      EXPECT_TRUE(gone.contains(objects.back().get())) << "the thread that let go of it keeps it";
    }).join();
    // what that thread still kept went with it, and what it made is in use
    for (int i = 0; i < 20; ++i) objects.push_back(std::make_unique<Object>());
    std::set<const void*> different;
    for (const auto& object : objects) different.insert(object.get());
    EXPECT_EQ(different.size(), objects.size());
  }
}

}  // namespace
}  // namespace penstock::transports::test
