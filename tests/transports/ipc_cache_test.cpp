// The cache of mappings, with limits small enough to be met. Another process allocates, this one maps.
#include "transports/device_memory/ipc_cache.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "tests/support/busy_gpu.hpp"
#include "tests/transports/gpu_memory.hpp"
#include "tests/transports/partner.hpp"

namespace penstock::transports::test {
namespace {

using cuda::IpcCache;
using Mapped = std::shared_ptr<const cuda::MappedRange>;

constexpr unsigned allocations = 8;
constexpr std::size_t bytes = 3 << 20;
constexpr Shape shape{bytes - 64};

class IpcCacheOf : public testing::Test {
 protected:
  void SetUp() override {
    use_device(0);
    context_ = cuda::Context::any();
    ASSERT_NE(context_, nullptr);
    for (unsigned slot = 0; slot < allocations; ++slot) {
      owner_.allocate(slot, BufferKind::device, bytes);
      owner_.fill(slot, shape, slot);
    }
  }

  Status map(IpcCache& cache, unsigned slot, Mapped& mapped) {
    const Offer offer = owner_.describe(slot, shape).offer;
    CUipcMemHandle handle;
    std::memcpy(&handle, offer.ipc_handle, sizeof(handle));
    return cache.map(
        {{offer.process_id, offer.process_nonce}, offer.buffer_id, offer.range_base, offer.range_bytes},
        handle, context_, mapped);
  }
  /// The owner frees the memory of a slot, and gets other memory. Returns true if that is at its address.
  bool replace(unsigned slot) {
    const std::uint64_t before = owner_.describe(slot, shape).offer.range_base;
    owner_.release(slot);
    owner_.allocate(slot, BufferKind::device, bytes);
    return owner_.describe(slot, shape).offer.range_base == before;
  }
  static std::uint8_t byte_of(const Mapped& mapped, std::size_t index) {
    std::uint8_t byte = 0;
    use_device(0);
    REQUIRE_CUDA(cuMemcpyDtoH(&byte, mapped->address() + index, 1));
    return byte;
  }

  Partner owner_;
  cuda::ContextRef context_;
};

TEST_F(IpcCacheOf, bounded_size_drops_the_ranges_that_were_longest_unused) {
  IpcCache cache({.ranges = 3, .recent_ranges = 1});
  Mapped mapped;
  for (unsigned slot = 0; slot < allocations; ++slot) {
    ASSERT_TRUE(map(cache, slot, mapped).ok());
    EXPECT_EQ(byte_of(mapped, 1000), payload_byte(slot, 1000));
    EXPECT_LE(cache.size(), 3u);
  }
  const CUdeviceptr last = mapped->address();
  mapped.reset();
  ASSERT_TRUE(map(cache, allocations - 1, mapped).ok());
  EXPECT_EQ(mapped->address(), last) << "the most recent one was dropped";
}

TEST_F(IpcCacheOf, bounded_bytes_drops_idle_ranges_beyond_the_recent_ones) {
  IpcCache cache({.idle_bytes = 2 * bytes, .recent_ranges = 1});
  Mapped mapped;
  for (unsigned slot = 0; slot < allocations; ++slot) ASSERT_TRUE(map(cache, slot, mapped).ok());
  EXPECT_LE(cache.size(), 3u);
}

TEST_F(IpcCacheOf, a_small_device_keeps_less_of_others_memory) {
  std::size_t total = 0;
  REQUIRE_CUDA(cuDeviceTotalMem(&total, 0));
  IpcCache cache({.part_of_device = total / (2 * bytes), .recent_ranges = 1});
  Mapped mapped;
  for (unsigned slot = 0; slot < allocations; ++slot) ASSERT_TRUE(map(cache, slot, mapped).ok());
  EXPECT_LE(cache.size(), 3u);
}

TEST_F(IpcCacheOf, ranges_in_use_never_drops_one_of_them) {
  IpcCache cache({.ranges = 2, .recent_ranges = 0});
  std::vector<Mapped> in_use(allocations);
  for (unsigned slot = 0; slot < allocations; ++slot) ASSERT_TRUE(map(cache, slot, in_use[slot]).ok());
  EXPECT_EQ(cache.size(), allocations);
  for (unsigned slot = 0; slot < allocations; ++slot) {
    EXPECT_EQ(byte_of(in_use[slot], 77), payload_byte(slot, 77));
  }
  in_use.clear();
  Mapped mapped;
  ASSERT_TRUE(map(cache, 0, mapped).ok());
  owner_.allocate(0, BufferKind::device, bytes);
  ASSERT_TRUE(map(cache, 0, mapped).ok());
  EXPECT_LE(cache.size(), 2u);
}

TEST_F(IpcCacheOf, a_range_in_use_keeps_it_mapped_when_it_is_cleared) {
  IpcCache cache;
  Mapped mapped;
  ASSERT_TRUE(map(cache, 1, mapped).ok());
  cache.clear();
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(byte_of(mapped, 5), payload_byte(1, 5));
}

TEST_F(IpcCacheOf, a_destroyed_context_forgets_its_mappings) {
  IpcCache cache;
  Mapped mapped;
  CUcontext handle = nullptr;
  REQUIRE_CUDA(cuCtxCreate(&handle, nullptr, 0, 0));
  const cuda::ContextRef primary = context_;
  context_ = cuda::Context::of(handle);
  ASSERT_TRUE(map(cache, 1, mapped).ok());
  mapped.reset();
  REQUIRE_CUDA(cuCtxDestroy(handle));
  context_ = primary;
  ASSERT_TRUE(map(cache, 1, mapped).ok());
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(byte_of(mapped, 5), payload_byte(1, 5));
}

// In these three the call would not return if it waited for the GPU's work.
TEST_F(IpcCacheOf, a_busy_gpu_unmaps_freed_memory_later) {
  IpcCache cache;
  Mapped mapped;
  ASSERT_TRUE(map(cache, 0, mapped).ok());
  mapped.reset();
  if (!replace(0)) GTEST_SKIP() << "this driver gives other addresses";
  owner_.fill(0, shape, 9);
  {
    const test_support::BusyGpu work;
    ASSERT_TRUE(map(cache, 0, mapped).ok());
    EXPECT_EQ(cache.size(), 2u);
  }
  EXPECT_EQ(byte_of(mapped, 1000), payload_byte(9, 1000));
  ASSERT_TRUE(map(cache, 0, mapped).ok());
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(byte_of(mapped, 1000), payload_byte(9, 1000));
}

TEST_F(IpcCacheOf, a_busy_gpu_maps_nothing_more_beyond_the_limits) {
  IpcCache cache({.ranges = 2, .recent_ranges = 1});
  Mapped mapped;
  {
    const test_support::BusyGpu work;
    for (const unsigned slot : {0u, 1u, 2u}) ASSERT_TRUE(map(cache, slot, mapped).ok());
    mapped.reset();
    EXPECT_EQ(map(cache, 3, mapped).code(), Code::declined);
    ASSERT_TRUE(map(cache, 1, mapped).ok()) << "this one is mapped";
    mapped.reset();
  }
  ASSERT_TRUE(map(cache, 3, mapped).ok());
  EXPECT_LE(cache.size(), 2u);
  EXPECT_EQ(byte_of(mapped, 5), payload_byte(3, 5));
}

TEST_F(IpcCacheOf, a_busy_gpu_counts_freed_memory_too) {
  IpcCache cache({.idle_bytes = bytes});
  Mapped mapped;
  const test_support::BusyGpu work;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(map(cache, 0, mapped).ok());
    mapped.reset();
    if (!replace(0)) GTEST_SKIP() << "this driver gives other addresses";
  }
  EXPECT_EQ(map(cache, 0, mapped).code(), Code::declined);
}

TEST_F(IpcCacheOf, several_threads_gives_each_a_good_mapping) {
  IpcCache cache({.ranges = 2, .recent_ranges = 0});
  std::vector<Offer> offers;
  for (unsigned slot = 0; slot < allocations; ++slot) offers.push_back(owner_.describe(slot, shape).offer);
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (unsigned round = 0; round < 50; ++round) {
        const unsigned slot = (round * (thread + 1)) % allocations;
        const Offer& offer = offers[slot];
        CUipcMemHandle handle;
        std::memcpy(&handle, offer.ipc_handle, sizeof(handle));
        Mapped mapped;
        // declined while another thread's copy keeps the GPU busy, and the limit is reached
        for (Code code = Code::declined; code != Code::ok;) {
          code = cache
                     .map({{offer.process_id, offer.process_nonce},
                           offer.buffer_id,
                           offer.range_base,
                           offer.range_bytes},
                          handle, context_, mapped)
                     .code();
          ASSERT_TRUE(code == Code::ok || code == Code::declined);
        }
        ASSERT_EQ(byte_of(mapped, round), payload_byte(slot, round));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace penstock::transports::test
