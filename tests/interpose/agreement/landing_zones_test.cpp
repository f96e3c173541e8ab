#include "interpose/messages/landing_zones.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <utility>

namespace penstock::interpose {
namespace {

long resident_kib() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*s %ld", &pages) != 1) pages = -1;
  if (file != nullptr) std::fclose(file);
  return pages * 4;
}

TEST(LandingZone, reserves_address_space_without_touching_memory) {
  const long before = resident_kib();
  const LandingZone zone(std::size_t{8} << 30);
  ASSERT_NE(zone.data(), nullptr);
  EXPECT_LT(resident_kib() - before, 16 * 1024);
}

TEST(LandingZone, every_byte_can_be_written) {
  const LandingZone zone(100'000);
  std::memset(zone.data(), 0x5a, 100'000);
  EXPECT_EQ(static_cast<unsigned char*>(zone.data())[99'999], 0x5a);
}

TEST(LandingZone, a_zone_given_back_is_used_again) {
  void* first = nullptr;
  {
    const LandingZone zone(1 << 20);
    first = zone.data();
  }
  const LandingZone again(1 << 20);
  EXPECT_EQ(again.data(), first);
}

TEST(LandingZone, zones_in_use_do_not_overlap) {
  const LandingZone one(5000);
  const LandingZone other(5000);
  const auto distance = static_cast<char*>(other.data()) - static_cast<char*>(one.data());
  EXPECT_GE(std::abs(distance), 5000);
}

TEST(LandingZone, an_impossible_size_gives_no_zone) {
  const LandingZone zone(std::size_t{1} << 60);
  EXPECT_EQ(zone.data(), nullptr);
}

TEST(LandingZone, moves_its_ownership) {
  LandingZone one(4096);
  void* data = one.data();
  LandingZone other(std::move(one));
  EXPECT_EQ(other.data(), data);
  drop_landing_zones();
  std::memset(other.data(), 1, 4096);  // in use, so not dropped
}

}  // namespace
}  // namespace penstock::interpose
