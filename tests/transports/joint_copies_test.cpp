// Small copies between host memory and a device that are made together: all arrive whole, nothing else is
// touched, and what cannot be made together is left alone.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/transports/busy_stream.hpp"
#include "tests/transports/gpu_memory.hpp"
#include "transports/host/in_call.hpp"
#include "transports/small/small_copies.hpp"

namespace penstock::transports::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr BufferKind kinds[] = {BufferKind::device, BufferKind::async_pool, BufferKind::virtual_memory};
constexpr std::size_t sizes[] = {1, 2, 7, 8, 15, 16, 17, 63, 64, 1000, 4095, 4096};
constexpr std::size_t area_bytes = largest_joint_copy + 32;

/// As many copies as go together, each of an area of its own in one allocation, and their host sides.
struct Copies {
  Copies(BufferKind kind, std::size_t count) : memory(kind, count * area_bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      Place& place = places.emplace_back();
      place.buffer = inspect(static_cast<char*>(memory.data()) + offset(i));
      place.layout = Layout::contiguous(size(i));
      hosts.emplace_back(size(i), guard_byte);
    }
  }
  static std::size_t size(std::size_t index) { return sizes[index % std::size(sizes)]; }
  static std::size_t offset(std::size_t index) { return index * area_bytes + index * 5 % 17; }

  static Bytes payload(std::size_t index) {
    Bytes content(size(index));
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = payload_byte(index, i);
    return content;
  }
  /// The memory with all payloads in their places, and guard bytes everywhere else.
  [[nodiscard]] Bytes whole() const {
    Bytes content(memory.bytes(), guard_byte);
    for (std::size_t i = 0; i < places.size(); ++i)
      std::ranges::copy(payload(i), content.begin() + static_cast<std::ptrdiff_t>(offset(i)));
    return content;
  }
  [[nodiscard]] std::vector<Upload> uploads() const {
    std::vector<Upload> all;
    for (std::size_t i = 0; i < places.size(); ++i)
      all.push_back({&places[i], reinterpret_cast<const char*>(hosts[i].data())});
    return all;
  }
  [[nodiscard]] std::vector<Download> downloads() {
    std::vector<Download> all;
    for (std::size_t i = 0; i < places.size(); ++i)
      all.push_back({&places[i], reinterpret_cast<char*>(hosts[i].data())});
    return all;
  }

  GpuMemory memory;
  std::vector<Place> places;
  std::vector<Bytes> hosts;
};

class JointCopies : public testing::Test {
 protected:
  void SetUp() override { use_device(0); }
};

TEST_F(JointCopies, go_up_in_any_number_size_and_alignment_and_nowhere_else) {
  for (const BufferKind kind : kinds) {
    for (const std::size_t count : {1u, 2u, 3u, 31u, 32u, 33u, 64u}) {
      SCOPED_TRACE(testing::Message() << count << " copies to " << name_of(kind) << " memory");
      Copies copies(kind, count);
      copies.memory.write(Bytes(copies.memory.bytes(), guard_byte));
      for (std::size_t i = 0; i < count; ++i) copies.hosts[i] = Copies::payload(i);
      ASSERT_TRUE(upload_together(copies.uploads()));
      EXPECT_EQ(copies.memory.read(), copies.whole());
    }
  }
}

TEST_F(JointCopies, come_down_in_any_number_size_and_alignment) {
  for (const BufferKind kind : kinds) {
    for (const std::size_t count : {1u, 2u, 3u, 31u, 32u, 33u, 64u}) {
      SCOPED_TRACE(testing::Message() << count << " copies from " << name_of(kind) << " memory");
      Copies copies(kind, count);
      copies.memory.write(copies.whole());
      ASSERT_TRUE(download_together(copies.downloads()));
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(copies.hosts[i], Copies::payload(i)) << i;
    }
  }
}

TEST_F(JointCopies, of_none_are_made_at_once) {
  EXPECT_TRUE(upload_together({}));
  EXPECT_TRUE(download_together({}));
}

TEST_F(JointCopies, into_one_place_leave_one_of_the_payloads) {
  Copies copies(BufferKind::device, 64);
  constexpr std::size_t bytes = 8;
  std::vector<Upload> uploads;
  for (std::size_t i = 0; i < copies.places.size(); ++i) {
    copies.hosts[i] = Bytes(bytes, static_cast<std::uint8_t>(i + 1));
    copies.places[i] = {copies.places[0].buffer, Layout::contiguous(bytes)};
  }
  ASSERT_TRUE(upload_together(copies.uploads()));
  const Bytes found = copies.memory.read();
  const auto is_of_one = [](std::uint8_t byte) { return byte >= 1 && byte <= 64; };
  EXPECT_TRUE(std::all_of(found.begin(), found.begin() + bytes, is_of_one));
}

/// Work on the legacy stream that the test lets go, and behind it the payloads of all downloads, or zeros
/// over the places of all uploads.
TEST_F(JointCopies, wait_for_what_the_application_queued_before) {
  for (const std::uint64_t handed_over_ns : {std::uint64_t{0}, std::uint64_t{1}}) {
    Copies up(BufferKind::device, 33);
    Copies down(BufferKind::device, 33);
    const GpuMemory content(BufferKind::pinned, down.memory.bytes());
    content.write(down.whole());
    const auto destination = reinterpret_cast<CUdeviceptr>(down.memory.data());
    for (std::size_t i = 0; i < up.hosts.size(); ++i) up.hosts[i] = Copies::payload(i);
    std::thread copier;
    {
      BusyStream busy(CU_STREAM_LEGACY);
      REQUIRE_CUDA(cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(up.memory.data()), guard_byte,
                                   up.memory.bytes(), CU_STREAM_LEGACY));
      REQUIRE_CUDA(cuMemcpyHtoDAsync(destination, content.data(), down.memory.bytes(), CU_STREAM_LEGACY));
      const std::uint64_t queued_ns = handed_over_ns == 0 ? 0 : steady_now_ns();
      for (Place& place : up.places) place.handed_over_ns = queued_ns;
      for (Place& place : down.places) place.handed_over_ns = queued_ns;
      copier = std::thread([&] {
        use_device(0);
        EXPECT_TRUE(upload_together(up.uploads()));
        EXPECT_TRUE(download_together(down.downloads()));
      });
    }
    copier.join();
    EXPECT_EQ(up.memory.read(), up.whole());
    for (std::size_t i = 0; i < down.hosts.size(); ++i) EXPECT_EQ(down.hosts[i], Copies::payload(i)) << i;
  }
}

TEST_F(JointCopies, are_refused_where_one_does_not_suit) {
  const GpuMemory device(BufferKind::device, 4 * largest_joint_copy);
  const GpuMemory managed(BufferKind::managed, 64);
  const GpuMemory pinned(BufferKind::pinned, 64);
  Layout rows;
  rows.append({0, 8, 3, 16});
  const Place good = {inspect(device.data()), Layout::contiguous(8)};
  const Place unsuitable[] = {{inspect(managed.data()), Layout::contiguous(8)},
                              {inspect(pinned.data()), Layout::contiguous(8)},
                              {inspect(device.data()), Layout::contiguous(largest_joint_copy + 1)},
                              {inspect(device.data()), Layout()},
                              {inspect(device.data()), rows}};
  EXPECT_TRUE(suits_a_joint_copy(good));
  Bytes host(2 * largest_joint_copy, 1);
  auto* const bytes = reinterpret_cast<char*>(host.data());
  for (const Place& bad : unsuitable) {
    EXPECT_FALSE(suits_a_joint_copy(bad));
    device.write(Bytes(device.bytes(), guard_byte));
    EXPECT_FALSE(upload_together(std::array{Upload{&good, bytes}, Upload{&bad, bytes}}));
    EXPECT_FALSE(download_together(std::array{Download{&good, bytes}, Download{&bad, bytes}}));
    EXPECT_EQ(device.read(), Bytes(device.bytes(), guard_byte));
  }
  EXPECT_FALSE(upload_together(std::vector(most_joint_copies + 1, Upload{&good, bytes})));
}

TEST_F(JointCopies, of_several_devices_are_refused) {
  if (device_count() < 2) GTEST_SKIP() << "one GPU only";
  const GpuMemory one(BufferKind::device, 8, 0);
  const GpuMemory other(BufferKind::device, 8, 1);
  use_device(0);
  const Place places[] = {{inspect(one.data()), Layout::contiguous(8)},
                          {inspect(other.data()), Layout::contiguous(8)}};
  char host[8] = {};
  EXPECT_FALSE(upload_together(std::array{Upload{&places[0], host}, Upload{&places[1], host}}));
}

[[noreturn]] void finish(bool as_expected) {
  std::exit(as_expected ? 0 : 1);
}

/// Each in a process of its own: what a GPU is shared with stays known, and faults are read when the driver
/// starts.
using JointCopiesInAProcess = JointCopies;

TEST_F(JointCopiesInAProcess, are_left_alone_on_a_shared_gpu) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Copies copies(BufferKind::device, 3);
        set_shared_gpu_check([](std::uint64_t) { return true; });
        finish(!upload_together(copies.uploads()) && !download_together(copies.downloads()));
      },
      testing::ExitedWithCode(0), "");
}

void expect_refusal_with(const char* faults) {
  if (dlsym(RTLD_DEFAULT, "simulated_gpu_marker") == nullptr) GTEST_SKIP() << "faults need the simulated GPU";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("SIMULATED_GPU_FAULTS", faults, 1);
  EXPECT_EXIT(
      {
        use_device(0);
        Copies copies(BufferKind::device, 33);
        for (std::size_t i = 0; i < copies.hosts.size(); ++i) copies.hosts[i] = Copies::payload(i);
        copies.memory.write(Bytes(copies.memory.bytes(), guard_byte));
        const bool is_refused = !upload_together(copies.uploads());
        const bool is_made = upload_together(copies.uploads());
        finish(is_refused && is_made && copies.memory.read() == copies.whole());
      },
      testing::ExitedWithCode(0), "");
  unsetenv("SIMULATED_GPU_FAULTS");
}

TEST_F(JointCopiesInAProcess, are_refused_with_the_first_launch_and_made_the_next_time) {
  expect_refusal_with("cuLaunchKernel:701x1");
}

TEST_F(JointCopiesInAProcess, are_refused_with_the_second_launch_and_made_the_next_time) {
  expect_refusal_with("cuLaunchKernel:701@2x1");
}

TEST_F(JointCopiesInAProcess, are_refused_where_the_pinned_memory_has_no_address_and_made_the_next_time) {
  expect_refusal_with("cuMemHostGetDevicePointer_v2:1x1");
}

}  // namespace
}  // namespace penstock::transports::test
