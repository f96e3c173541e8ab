#include "interpose/messages/staging_buffers.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/sanitizers.hpp"

namespace penstock::interpose {
namespace {

constexpr std::size_t bytes_of_a_page = 4096;

long resident_kib() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*s %ld", &pages) != 1) pages = -1;
  if (file != nullptr) std::fclose(file);
  return pages * 4;
}

TEST(StagingBuffer, reserves_address_space_without_touching_memory) {
  const long before = resident_kib();
  const StagingBuffer buffer(std::size_t{8} << 30);
  ASSERT_NE(buffer.data(), nullptr);
  EXPECT_LT(resident_kib() - before, 16 * 1024);
}

TEST(StagingBuffer, every_byte_can_be_written) {
  const StagingBuffer buffer(100'000);
  std::memset(buffer.data(), 0x5a, 100'000);
  EXPECT_EQ(static_cast<unsigned char*>(buffer.data())[99'999], 0x5a);
}

TEST(StagingBuffer, a_zone_given_back_is_used_again) {
  void* first = nullptr;
  {
    const StagingBuffer buffer(1 << 20);
    first = buffer.data();
  }
  const StagingBuffer again(1 << 20);
  EXPECT_EQ(again.data(), first);
}

std::set<void*> addresses_of(const std::vector<StagingBuffer>& buffers) {
  std::set<void*> addresses;
  for (const StagingBuffer& buffer : buffers) addresses.insert(buffer.data());
  return addresses;
}

std::vector<StagingBuffer> take(std::size_t count, std::size_t bytes) {
  std::vector<StagingBuffer> buffers;
  for (std::size_t i = 0; i < count; ++i) buffers.emplace_back(bytes);
  return buffers;
}

TEST(StagingBuffer, all_of_a_step_with_hundreds_of_messages_are_used_again) {
  for (const std::size_t bytes : {std::size_t{1000}, std::size_t{1} << 20}) {
    drop_staging_buffers();
    const std::set<void*> first = addresses_of(take(256, bytes));
    EXPECT_EQ(first.size(), 256u);
    EXPECT_EQ(addresses_of(take(256, bytes)), first) << bytes << " bytes each";
  }
}

TEST(StagingBuffer, those_that_are_kept_hold_little_memory_whatever_was_written) {
  if (test_support::built_with_a_sanitizer) GTEST_SKIP() << "the sanitizer's own memory counts, too";
  drop_staging_buffers();
  const long before = resident_kib();
  for (const StagingBuffer& buffer : take(1000, 128 << 10)) std::memset(buffer.data(), 1, 128 << 10);
  EXPECT_LT(resident_kib() - before, 16 * 1024);
}

/// Writes all of so many buffers, and gives them back.
void use(std::size_t count, std::size_t bytes) {
  for (const StagingBuffer& buffer : take(count, bytes)) std::memset(buffer.data(), 1, bytes);
}

/// How many pages of so many buffers are memory when they are taken.
std::size_t resident_pages(std::size_t count, std::size_t bytes) {
  std::size_t resident = 0;
  for (const StagingBuffer& buffer : take(count, bytes)) {
    std::vector<unsigned char> pages(bytes / bytes_of_a_page);
    EXPECT_EQ(mincore(buffer.data(), bytes, pages.data()), 0);
    for (const unsigned char page : pages) resident += page & 1u;
  }
  return resident;
}

TEST(StagingBuffer, a_step_with_hundreds_of_messages_does_not_make_later_ones_fault) {
  drop_staging_buffers();
  use(256, 4 * bytes_of_a_page);
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(resident_pages(64, 4 * bytes_of_a_page), 64u * 4) << "step " << step;
    use(64, 4 * bytes_of_a_page);
  }
}

TEST(StagingBuffer, buffers_that_are_kept_hold_four_mebibytes_of_a_size_and_a_page_each) {
  constexpr std::size_t most_pages = (std::size_t{4} << 20) / bytes_of_a_page;
  drop_staging_buffers();
  for (const std::size_t used : {1u, 100u, 500u, 100u, 500u}) {
    use(used, 16 * bytes_of_a_page);
    EXPECT_LE(resident_pages(500, 16 * bytes_of_a_page), most_pages + 500) << used << " used";
  }
}

/// An envelope in a buffer whose earlier payload stayed: those pages still count.
TEST(StagingBuffer, what_an_earlier_payload_left_counts_although_a_later_use_wrote_less) {
  constexpr std::size_t most_pages = (std::size_t{4} << 20) / bytes_of_a_page;
  drop_staging_buffers();
  for (int step = 0; step < 4; ++step) {
    use(64, 16 * bytes_of_a_page);
    std::vector<StagingBuffer> buffers = take(64, 16 * bytes_of_a_page);
    for (StagingBuffer& buffer : buffers) buffer.was_written(8);
    std::vector<StagingBuffer> others = take(64, 16 * bytes_of_a_page);
    for (const StagingBuffer& buffer : others) std::memset(buffer.data(), 1, 16 * bytes_of_a_page);
  }
  EXPECT_LE(resident_pages(128, 16 * bytes_of_a_page), most_pages + 128);
}

TEST(StagingBuffer, zones_in_use_do_not_overlap) {
  const StagingBuffer one(5000);
  const StagingBuffer other(5000);
  const auto distance = static_cast<char*>(other.data()) - static_cast<char*>(one.data());
  EXPECT_GE(std::abs(distance), 5000);
}

TEST(StagingBuffer, an_impossible_size_gives_no_zone) {
  const StagingBuffer buffer(std::size_t{1} << 60);
  EXPECT_EQ(buffer.data(), nullptr);
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

TEST(StagingBuffer, takes_hardly_more_address_space_than_asked_for) {
  drop_staging_buffers();
  for (const std::size_t bytes : {(std::size_t{4} << 30) + 1, std::size_t{5} << 30, std::size_t{7} << 30}) {
    const LimitedAddressSpace limit(bytes + bytes / 8 + (64 << 20));
    if (!limit.is_limited()) GTEST_SKIP() << "no limit can be set here";
    const StagingBuffer buffer(bytes);
    EXPECT_NE(buffer.data(), nullptr) << bytes << " bytes";
  }
}

TEST(StagingBuffer, what_is_kept_of_other_sizes_makes_room) {
  drop_staging_buffers();
  const LimitedAddressSpace limit(std::size_t{5} << 30);
  if (!limit.is_limited()) GTEST_SKIP() << "no limit can be set here";
  for (const std::size_t bytes : {std::size_t{4} << 30, std::size_t{3} << 30, std::size_t{2} << 30}) {
    const StagingBuffer buffer(bytes);
    EXPECT_NE(buffer.data(), nullptr) << bytes << " bytes";
  }
}

TEST(StagingBuffer, of_every_size_can_be_written_to_its_end) {
  for (std::size_t bytes = 1; bytes < (1 << 20); bytes += 1777) {
    const StagingBuffer buffer(bytes);
    ASSERT_NE(buffer.data(), nullptr);
    static_cast<char*>(buffer.data())[bytes - 1] = 1;
  }
}

TEST(StagingBuffer, moves_its_ownership) {
  StagingBuffer one(4096);
  void* data = one.data();
  StagingBuffer other(std::move(one));
  EXPECT_EQ(other.data(), data);
  drop_staging_buffers();
  std::memset(other.data(), 1, 4096);  // in use, so not dropped
}

}  // namespace
}  // namespace penstock::interpose
