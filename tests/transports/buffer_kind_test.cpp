#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <optional>
#include <thread>

#include "tests/transports/gpu_memory.hpp"
#include "transports/cuda/driver.hpp"
#include "transports/device_memory/host_access.hpp"
#include "transports/device_memory/host_ranges.hpp"
#include "transports/host/callers_mutex.hpp"
#include "transports/host/in_call.hpp"

namespace penstock::transports::test {
namespace {

int in_the_image = 1;

/// While it lives, counts how often the driver is asked about a pointer.
class CountedQuestions {
 public:
  CountedQuestions() : table_(const_cast<cuda::Driver&>(*cuda::driver())) {
    asked_ = table_.cuPointerGetAttributes;
    count_ = 0;
    table_.cuPointerGetAttributes = [](unsigned count, CUpointer_attribute* names, void** answers,
                                       CUdeviceptr pointer) {
      ++count_;
      return asked_(count, names, answers, pointer);
    };
  }
  ~CountedQuestions() { table_.cuPointerGetAttributes = asked_; }
  CountedQuestions(const CountedQuestions&) = delete;
  CountedQuestions& operator=(const CountedQuestions&) = delete;

  [[nodiscard]] int count() const { return count_; }

 private:
  cuda::Driver& table_;
  static inline decltype(cuda::Driver::cuPointerGetAttributes) asked_ = nullptr;
  static inline int count_ = 0;
};

TEST(BufferKind, is_told_for_every_kind_of_memory_at_its_begin_and_its_end) {
  constexpr std::size_t bytes = 3 << 20;
  for (int device = 0; device < device_count(); ++device) {
    for (const BufferKind kind : buffer_kinds) {
      const GpuMemory memory(kind, bytes, device);
      for (const std::size_t offset : {std::size_t{0}, bytes - 1}) {
        const void* pointer = static_cast<char*>(memory.data()) + offset;
        SCOPED_TRACE(name_of(kind));
        const Buffer buffer = inspect(pointer);
        EXPECT_STREQ(name_of(buffer.kind), name_of(kind));
        EXPECT_EQ(buffer.pointer, pointer);
        EXPECT_EQ(is_on_device(pointer), lives_on_device(kind));
        EXPECT_EQ(buffer.context != nullptr, lives_on_device(kind));
        if (!lives_on_device(kind)) continue;
        EXPECT_EQ(buffer.device, device);
        const auto address = reinterpret_cast<CUdeviceptr>(pointer);
        EXPECT_LE(buffer.range_base, address);
        EXPECT_GT(buffer.range_base + buffer.range_bytes, address);
      }
    }
  }
}

TEST(BufferKind, ids_tell_allocations_at_one_address_from_each_other) {
  std::uint64_t last_id = 0;
  for (int round = 0; round < 4; ++round) {
    const GpuMemory memory(BufferKind::device, 1000);
    const std::uint64_t id = inspect(memory.data()).buffer_id;
    EXPECT_NE(id, 0u);
    EXPECT_NE(id, last_id);
    last_id = id;
  }
}

TEST(BufferKind, of_nothing_and_of_ordinary_memory_is_host) {
  use_device(0);
  const int on_the_stack = 0;
  const auto on_the_heap = std::make_unique<int>(0);
  const auto large = std::make_unique<char[]>(64 << 20);
  for (const void* pointer :
       {static_cast<const void*>(nullptr), static_cast<const void*>(&on_the_stack),
        static_cast<const void*>(&in_the_image), static_cast<const void*>(on_the_heap.get()),
        static_cast<const void*>(large.get()), static_cast<const void*>("text")}) {
    EXPECT_FALSE(is_on_device(pointer));
    EXPECT_EQ(inspect(pointer).kind, BufferKind::pageable);
    EXPECT_EQ(inspect(pointer).context, nullptr);
  }
}

/// Once such a freed address was copied from as host memory: windows_test, two ranks on an H200.
TEST(HostAccess, is_asked_again_where_device_memory_has_been_since) {
  const std::size_t block = std::size_t{2} << 20;
  void* const mapped = mmap(nullptr, 2 * block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_TRUE(cuda::host_can_access(mapped));
  munmap(mapped, 2 * block);
  EXPECT_TRUE(cuda::host_can_access(mapped)) << "asked once for each 2 MiB";
  cuda::note_device_address(mapped);
  EXPECT_FALSE(cuda::host_can_access(mapped));
}

TEST(BufferKind, of_freed_memory_is_unknown_as_nobody_can_touch_it) {
  void* address = nullptr;
  {
    const GpuMemory memory(BufferKind::device, 64 << 20);
    address = memory.data();
    ASSERT_TRUE(is_on_device(address));
  }
  EXPECT_TRUE(is_on_device(address));
  EXPECT_EQ(inspect(address).kind, BufferKind::unknown);
}

TEST(BufferKind, of_an_address_that_was_host_memory_is_asked_again) {
  use_device(0);
  constexpr std::size_t bytes = 64 << 20;
  void* host = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(host, MAP_FAILED);
  const auto middle = (reinterpret_cast<CUdeviceptr>(host) + (32 << 20)) & ~CUdeviceptr{(2 << 20) - 1};
  const auto* pointer = reinterpret_cast<const void*>(middle);
  EXPECT_FALSE(is_on_device(pointer));
  munmap(host, bytes);

  CUmemAllocationProp property{};
  property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  property.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  std::size_t chunk_bytes = 0;
  REQUIRE_CUDA(cuMemGetAllocationGranularity(&chunk_bytes, &property, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr reserved = 0;
  REQUIRE_CUDA(cuMemAddressReserve(&reserved, chunk_bytes, 0, middle, 0));
  CUmemGenericAllocationHandle chunk = 0;
  REQUIRE_CUDA(cuMemCreate(&chunk, chunk_bytes, &property, 0));
  REQUIRE_CUDA(cuMemMap(reserved, chunk_bytes, 0, chunk, 0));
  const bool same_address = reserved == middle;
  EXPECT_TRUE(is_on_device(reinterpret_cast<const void*>(reserved)));
  REQUIRE_CUDA(cuMemUnmap(reserved, chunk_bytes));
  REQUIRE_CUDA(cuMemRelease(chunk));
  REQUIRE_CUDA(cuMemAddressFree(reserved, chunk_bytes));
  if (!same_address) GTEST_SKIP() << "the driver chose another address than the one asked for";
}

TEST(BufferKind, of_mapped_host_memory_is_asked_once_in_each_call) {
  use_device(0);
  constexpr std::size_t bytes = 64 << 20;
  void* host = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(host, MAP_FAILED);
  const void* const sent = host;
  const void* const received = static_cast<const char*>(host) + bytes / 2;
  const CountedQuestions questions;
  for (int call = 1; call <= 3; ++call) {
    const InCall in_call;
    for (int time = 0; time < 3; ++time) {
      EXPECT_FALSE(is_on_device(sent));
      EXPECT_FALSE(is_on_device(received));
    }
    EXPECT_EQ(questions.count(), 2 * call);
  }
  EXPECT_FALSE(is_on_device(sent));
  EXPECT_FALSE(is_on_device(sent));
  EXPECT_EQ(questions.count(), 8) << "outside of calls nothing holds";
  munmap(host, bytes);
}

/// Within a call, as a thread sees it that moves other threads' messages meanwhile.
TEST(BufferKind, of_memory_that_another_thread_frees_within_this_ones_call_is_asked_again) {
  constexpr std::size_t bytes = 2 << 20;
  for (const bool take_turns : {true, false}) {
    set_callers_take_turns(take_turns);
    const InCall in_call;
    std::optional<GpuMemory> memory(std::in_place, BufferKind::device, bytes);
    const void* const address = memory->data();
    const std::uint64_t id = inspect(address).buffer_id;
    const CountedQuestions questions;
    EXPECT_EQ(inspect(address).buffer_id, id);
    EXPECT_EQ(questions.count(), take_turns ? 0 : 1);
    std::thread([&] {
      memory.reset();
      memory.emplace(BufferKind::device, bytes);
    }).join();
    if (!take_turns && memory->data() == address) {
      EXPECT_NE(inspect(address).buffer_id, id);
    }
  }
  set_callers_take_turns(false);
}

TEST(HostRanges, hold_the_stack_of_each_thread_and_the_image_and_not_what_is_mapped) {
  int on_the_stack = 0;
  EXPECT_TRUE(cuda::is_surely_host(&on_the_stack));
  EXPECT_TRUE(cuda::is_surely_host(&in_the_image));
  std::thread([&] {
    int on_its_stack = 0;
    EXPECT_TRUE(cuda::is_surely_host(&on_its_stack));
    EXPECT_FALSE(cuda::is_surely_host(&on_the_stack)) << "another thread's stack may go at any time";
  }).join();
  void* mapped = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_FALSE(cuda::is_surely_host(mapped));
  munmap(mapped, 4096);
  EXPECT_FALSE(cuda::is_surely_host(nullptr));
  EXPECT_FALSE(cuda::is_surely_host(reinterpret_cast<const void*>(UINTPTR_MAX)));
}

}  // namespace
}  // namespace penstock::transports::test
