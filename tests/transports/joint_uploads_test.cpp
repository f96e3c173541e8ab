// Small uploads that are made together: all arrive whole, nothing else is touched, and what cannot be made
// together is left alone.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/transports/busy_stream.hpp"
#include "tests/transports/gpu_memory.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/host/in_call.hpp"
#include "transports/small/joint_uploads.hpp"

namespace penstock::transports::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr BufferKind kinds[] = {BufferKind::device, BufferKind::async_pool, BufferKind::virtual_memory};
constexpr std::size_t sizes[] = {
    1, 2, 7, 8, 15, 16, 17, 63, 64, 1000, 4095, 4096, largest_joint_upload - 1, largest_joint_upload};
constexpr std::size_t area_bytes = largest_joint_upload + 32;

/// As many uploads as go together, each of an area of its own in one allocation, and their host sides.
struct Uploads {
  Uploads(BufferKind kind, std::size_t count) : memory(kind, count * area_bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      BufferView& place = places.emplace_back();
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

  GpuMemory memory;
  std::vector<BufferView> places;
  std::vector<Bytes> hosts;
};

class JointUploads : public testing::Test {
 protected:
  void SetUp() override { use_device(0); }
};

TEST_F(JointUploads, go_up_in_any_number_size_and_alignment_and_nowhere_else) {
  for (const BufferKind kind : kinds) {
    for (const std::size_t count : {1u, 2u, 3u, 31u, 32u, 33u, 64u}) {
      SCOPED_TRACE(testing::Message() << count << " uploads to " << name_of(kind) << " memory");
      Uploads all(kind, count);
      all.memory.write(Bytes(all.memory.bytes(), guard_byte));
      for (std::size_t i = 0; i < count; ++i) all.hosts[i] = Uploads::payload(i);
      ASSERT_TRUE(upload_together(all.uploads()));
      EXPECT_EQ(all.memory.read(), all.whole());
    }
  }
}

TEST_F(JointUploads, of_none_are_made_at_once) {
  EXPECT_TRUE(upload_together({}));
}

TEST_F(JointUploads, into_one_place_leave_one_of_the_payloads) {
  Uploads all(BufferKind::device, 64);
  constexpr std::size_t bytes = 8;
  std::vector<Upload> uploads;
  for (std::size_t i = 0; i < all.places.size(); ++i) {
    all.hosts[i] = Bytes(bytes, static_cast<std::uint8_t>(i + 1));
    all.places[i] = {all.places[0].buffer, Layout::contiguous(bytes)};
  }
  ASSERT_TRUE(upload_together(all.uploads()));
  const Bytes found = all.memory.read();
  const auto is_of_one = [](std::uint8_t byte) { return byte >= 1 && byte <= 64; };
  EXPECT_TRUE(std::all_of(found.begin(), found.begin() + bytes, is_of_one));
}

/// Work on the legacy stream that the test lets go, and behind it zeros over the places of all.
TEST_F(JointUploads, wait_for_what_the_application_queued_before) {
  for (const std::uint64_t handed_over_ns : {std::uint64_t{0}, std::uint64_t{1}}) {
    Uploads all(BufferKind::device, 33);
    for (std::size_t i = 0; i < all.hosts.size(); ++i) all.hosts[i] = Uploads::payload(i);
    std::thread copier;
    {
      BusyStream busy(CU_STREAM_LEGACY);
      REQUIRE_CUDA(cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(all.memory.data()), guard_byte,
                                   all.memory.bytes(), CU_STREAM_LEGACY));
      const std::uint64_t queued_ns = handed_over_ns == 0 ? 0 : steady_now_ns();
      for (BufferView& place : all.places) place.handed_over_ns = queued_ns;
      copier = std::thread([&] {
        use_device(0);
        EXPECT_TRUE(upload_together(all.uploads()));
      });
    }
    copier.join();
    EXPECT_EQ(all.memory.read(), all.whole());
  }
}

TEST_F(JointUploads, are_refused_where_one_does_not_suit) {
  const GpuMemory device(BufferKind::device, 4 * largest_joint_upload);
  const GpuMemory managed(BufferKind::managed, 64);
  const GpuMemory pinned(BufferKind::pinned, 64);
  Layout rows;
  rows.append({0, 8, 3, 16});
  const BufferView good = {inspect(device.data()), Layout::contiguous(8)};
  const BufferView unsuitable[] = {{inspect(managed.data()), Layout::contiguous(8)},
                                   {inspect(pinned.data()), Layout::contiguous(8)},
                                   {inspect(device.data()), Layout::contiguous(largest_joint_upload + 1)},
                                   {inspect(device.data()), Layout()},
                                   {inspect(device.data()), rows}};
  EXPECT_TRUE(suits_a_joint_upload(good));
  Bytes host(2 * largest_joint_upload, 1);
  auto* const bytes = reinterpret_cast<char*>(host.data());
  for (const BufferView& bad : unsuitable) {
    EXPECT_FALSE(suits_a_joint_upload(bad));
    device.write(Bytes(device.bytes(), guard_byte));
    EXPECT_FALSE(upload_together(std::array{Upload{&good, bytes}, Upload{&bad, bytes}}));
    EXPECT_EQ(device.read(), Bytes(device.bytes(), guard_byte));
  }
  EXPECT_FALSE(upload_together(std::vector(most_joint_uploads + 1, Upload{&good, bytes})));
}

TEST_F(JointUploads, of_several_devices_are_refused) {
  if (device_count() < 2) GTEST_SKIP() << "one GPU only";
  const GpuMemory one(BufferKind::device, 8, 0);
  const GpuMemory other(BufferKind::device, 8, 1);
  use_device(0);
  const BufferView places[] = {{inspect(one.data()), Layout::contiguous(8)},
                               {inspect(other.data()), Layout::contiguous(8)}};
  char host[8] = {};
  EXPECT_FALSE(upload_together(std::array{Upload{&places[0], host}, Upload{&places[1], host}}));
}

/// At once: a kernel that has raised its flag may still be on its way out, and whoever looks for leaks then
/// takes its memory for one.
[[noreturn]] void finish(bool as_expected) {
  std::_Exit(as_expected ? 0 : 1);
}

/// Each in a process of its own: what a GPU is shared with stays known, and faults are read when the driver
/// starts.
using JointUploadsInAProcess = JointUploads;

TEST_F(JointUploadsInAProcess, are_left_alone_on_a_shared_gpu) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Uploads all(BufferKind::device, 3);
        set_shared_gpu_check([](std::uint64_t) { return true; });
        finish(!upload_together(all.uploads()));
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
        Uploads all(BufferKind::device, 33);
        for (std::size_t i = 0; i < all.hosts.size(); ++i) all.hosts[i] = Uploads::payload(i);
        all.memory.write(Bytes(all.memory.bytes(), guard_byte));
        const bool is_refused = !upload_together(all.uploads());
        const bool is_made = upload_together(all.uploads());
        finish(is_refused && is_made && all.memory.read() == all.whole());
      },
      testing::ExitedWithCode(0), "");
  unsetenv("SIMULATED_GPU_FAULTS");
}

TEST_F(JointUploadsInAProcess, are_refused_with_the_first_launch_and_made_the_next_time) {
  expect_refusal_with("cuLaunchKernel:701x1");
}

TEST_F(JointUploadsInAProcess, are_refused_with_the_second_launch_and_made_the_next_time) {
  expect_refusal_with("cuLaunchKernel:701@2x1");
}

TEST_F(JointUploadsInAProcess, are_refused_where_the_pinned_memory_has_no_address_and_made_the_next_time) {
  expect_refusal_with("cuMemHostGetDevicePointer_v2:1x1");
}

}  // namespace
}  // namespace penstock::transports::test
