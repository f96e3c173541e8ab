#include "interpose/messages/landing_zones.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

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

/// While it lives, the process may map only that much more than it has mapped now, as under `ulimit -v`.
class LimitedAddressSpace {
 public:
  explicit LimitedAddressSpace(std::size_t room_bytes) {
    getrlimit(RLIMIT_AS, &before_);
    rlimit limited = before_;
    limited.rlim_cur = mapped_bytes() + room_bytes;
    is_limited_ = setrlimit(RLIMIT_AS, &limited) == 0;
  }
  ~LimitedAddressSpace() { setrlimit(RLIMIT_AS, &before_); }
  LimitedAddressSpace(const LimitedAddressSpace&) = delete;
  LimitedAddressSpace& operator=(const LimitedAddressSpace&) = delete;

  [[nodiscard]] bool is_limited() const { return is_limited_; }

 private:
  static std::size_t mapped_bytes() {
    std::size_t pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    if (file != nullptr) std::fclose(file);
    return pages * static_cast<std::size_t>(getpagesize());
  }

  rlimit before_{};
  bool is_limited_ = false;
};

TEST(LandingZone, takes_hardly_more_address_space_than_asked_for) {
  drop_landing_zones();
  for (const std::size_t bytes : {(std::size_t{4} << 30) + 1, std::size_t{5} << 30, std::size_t{7} << 30}) {
    const LimitedAddressSpace limit(bytes + bytes / 8 + (64 << 20));
    if (!limit.is_limited()) GTEST_SKIP() << "no limit can be set here";
    const LandingZone zone(bytes);
    EXPECT_NE(zone.data(), nullptr) << bytes << " bytes";
  }
}

TEST(LandingZone, what_is_kept_of_other_sizes_makes_room) {
  drop_landing_zones();
  const LimitedAddressSpace limit(std::size_t{5} << 30);
  if (!limit.is_limited()) GTEST_SKIP() << "no limit can be set here";
  for (const std::size_t bytes : {std::size_t{4} << 30, std::size_t{3} << 30, std::size_t{2} << 30}) {
    const LandingZone zone(bytes);
    EXPECT_NE(zone.data(), nullptr) << bytes << " bytes";
  }
}

TEST(LandingZone, of_every_size_can_be_written_to_its_end) {
  for (std::size_t bytes = 1; bytes < (1 << 20); bytes += 1777) {
    const LandingZone zone(bytes);
    ASSERT_NE(zone.data(), nullptr);
    static_cast<char*>(zone.data())[bytes - 1] = 1;
  }
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
