#include "transports/small/batched_copy.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/transports/busy_stream.hpp"
#include "tests/transports/strided_cases.hpp"
#include "transports/cuda/kernels.hpp"
#include "transports/refusals.hpp"

namespace penstock::transports::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes payload(std::size_t bytes, std::uint64_t seed) {
  Bytes result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) result[i] = payload_byte(seed, i);
  return result;
}

CopyItem item(const GpuMemory& to, std::size_t to_offset, const GpuMemory& from, std::size_t from_offset,
              std::size_t bytes) {
  return {static_cast<char*>(to.data()) + to_offset, static_cast<const char*>(from.data()) + from_offset,
          static_cast<std::uint32_t>(bytes)};
}

/// Where they first differ; -1 if nowhere.
std::ptrdiff_t difference(const Bytes& found, const Bytes& wanted) {
  const auto at = std::mismatch(found.begin(), found.end(), wanted.begin(), wanted.end());
  return at.first == found.end() ? -1 : at.first - found.begin();
}

/// Launches on a stream of the context of device 0, as transports do.
class Launcher {
 public:
  explicit Launcher(cuda::StreamUse lane = cuda::StreamUse::pull_0) : lane_(lane) {
    use_device(0);
    context_ = cuda::Context::any(0);
  }
  Status launch(BatchedCopy& batch, std::span<const CopyItem> items) {
    const cuda::ContextScope scope(*context_);
    if (!scope.status().ok()) return scope.status();
    if (Status made = context_->stream(lane_, stream_); !made.ok()) return made;
    return batch.launch(context_, stream_, items);
  }
  /// So that no first launch has to wait for a stream that a test keeps busy.
  Status prepare() {
    const cuda::ContextScope scope(*context_);
    if (!scope.status().ok()) return scope.status();
    if (Status made = context_->stream(lane_, stream_); !made.ok()) return made;
    return cuda::Kernels::ready_in(*context_);
  }
  Status copy(std::span<const CopyItem> items) {
    BatchedCopy batch;
    Status launched = launch(batch, items);
    return launched.ok() ? batch.wait() : launched;
  }
  /// Known after prepare() or the first launch.
  [[nodiscard]] CUstream stream() const noexcept { return stream_; }

 private:
  cuda::StreamUse lane_;
  cuda::ContextRef context_;
  CUstream stream_ = nullptr;
};

TEST(BatchedCopy, is_available) {
  use_device(0);
  EXPECT_TRUE(CopyKernels::available().ok()) << CopyKernels::available().where();
}

TEST(BatchedCopy, moves_any_size_at_any_alignment_and_nothing_else) {
  constexpr std::size_t sizes[] = {1, 2, 15, 16, 17, 31, 63, 255, 4099, 16383, 16384, 16385, 65536 + 7};
  constexpr std::size_t offsets[] = {0, 1, 2, 4, 8, 11};
  Launcher launcher;
  for (const std::size_t to_offset : offsets) {
    std::vector<std::size_t> places;  // of each item; 16-byte aligned, with room for offset and guard bytes
    std::size_t total = 0;
    for (const std::size_t size : sizes) {
      for (std::size_t i = 0; i < std::size(offsets); ++i) {
        places.push_back(total);
        total += (size + 63) / 16 * 16;
      }
    }
    const GpuMemory source(BufferKind::device, total);
    const GpuMemory target(BufferKind::device, total);
    const Bytes content = payload(total, to_offset);
    source.write(content);
    Bytes wanted(total, guard_byte);
    target.write(wanted);
    std::vector<CopyItem> items;
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::size_t to = places[i] + to_offset;
      const std::size_t from = places[i] + offsets[i % std::size(offsets)];
      const std::size_t bytes = sizes[i / std::size(offsets)];
      items.push_back(item(target, to, source, from, bytes));
      std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(from), bytes,
                  wanted.begin() + static_cast<std::ptrdiff_t>(to));
    }
    for (std::span<const CopyItem> left = items; !left.empty();) {
      const std::size_t count = std::min(left.size(), CopyKernels::most_items);
      const Status copied = launcher.copy(left.first(count));
      ASSERT_TRUE(copied.ok()) << copied.where() << " " << copied.detail();
      left = left.subspan(count);
    }
    ASSERT_EQ(difference(target.read(), wanted), -1) << "to offset " << to_offset;
  }
}

TEST(BatchedCopy, moves_layouts_in_pieces_in_every_unit) {
  const GpuMemory source(BufferKind::device, strided_cases_bytes);
  const GpuMemory target(BufferKind::device, strided_cases_bytes);
  const Bytes content = payload(strided_cases_bytes, 5);
  source.write(content);
  Launcher launcher;
  for (const StridedCase& each : strided_cases) {
    Bytes wanted(strided_cases_bytes, guard_byte);
    target.write(wanted);
    each.copy(content, wanted);
    ASSERT_TRUE(launcher.copy(std::array{each.item(target.data(), source.data())}).ok()) << each.name;
    EXPECT_EQ(difference(target.read(), wanted), -1) << each.name;
  }
}

TEST(BatchedCopy, takes_as_many_layouts_in_pieces_as_others) {
  constexpr std::size_t rows = 16;
  constexpr std::size_t each = rows * 24;
  const GpuMemory source(BufferKind::device, CopyKernels::most_items * each);
  const GpuMemory target(BufferKind::device, CopyKernels::most_items * each);
  const Bytes content = payload(source.bytes(), 7);
  source.write(content);
  Launcher launcher;
  for (const std::size_t count : {1u, 2u, 3u, 8u, 9u, 28u, 29u, 32u}) {
    std::vector<CopyItem> items;
    Bytes wanted(target.bytes(), guard_byte);
    target.write(wanted);
    for (std::size_t i = 0; i < count; ++i) {
      items.push_back(item(target, i * each, source, i * each, rows * 8));
      items.back().from_side.loops = {.row_bytes = 8, .depth = 1, .counts = {rows}, .strides = {24}};
      for (std::size_t byte = 0; byte < rows * 8; ++byte)
        wanted[i * each + byte] = content[i * each + offset_of(items.back().from_side, byte)];
    }
    ASSERT_TRUE(launcher.copy(items).ok());
    ASSERT_EQ(difference(target.read(), wanted), -1) << count << " items";
  }
}

TEST(BatchedCopy, by_the_copy_engine_comes_to_the_same) {
  const GpuMemory source(BufferKind::device, 8192);
  const GpuMemory target(BufferKind::device, 8192);
  const Bytes content = payload(8192, 9);
  source.write(content);
  CopyItem copy = item(target, 3, source, 1, 693);
  copy.to_side.loops = {.row_bytes = 7, .depth = 2, .counts = {11, 9}, .strides = {10, 131}};
  copy.from_side.loops = {.row_bytes = 33, .depth = 1, .counts = {21}, .strides = {50}};
  Bytes wanted(8192, guard_byte);
  target.write(wanted);
  for (std::size_t i = 0; i < 693; ++i)
    wanted[3 + offset_of(copy.to_side, i)] = content[1 + offset_of(copy.from_side, i)];
  Launcher launcher;
  ASSERT_TRUE(launcher.prepare().ok());
  const cuda::ContextScope scope(*cuda::Context::any(0));
  ASSERT_TRUE(copy_by_engine(launcher.stream(), copy).ok());
  REQUIRE_CUDA(cuStreamSynchronize(launcher.stream()));
  EXPECT_EQ(difference(target.read(), wanted), -1);
}

TEST(BatchedCopy, takes_each_number_of_items_up_to_the_largest) {
  constexpr std::size_t each = 96;
  const GpuMemory source(BufferKind::device, CopyKernels::most_items * each);
  const GpuMemory target(BufferKind::device, CopyKernels::most_items * each);
  const Bytes content = payload(source.bytes(), 3);
  source.write(content);
  Launcher launcher;
  for (const std::size_t count : {1u, 4u, 5u, 16u, 17u, 31u, 32u}) {
    std::vector<CopyItem> items;
    for (std::size_t i = 0; i < count; ++i) items.push_back(item(target, i * each, source, i * each, each));
    Bytes wanted(target.bytes(), guard_byte);
    target.write(wanted);
    std::copy_n(content.begin(), count * each, wanted.begin());
    ASSERT_TRUE(launcher.copy(items).ok());
    ASSERT_EQ(difference(target.read(), wanted), -1) << count << " items";
  }
  const std::vector<CopyItem> too_many(CopyKernels::most_items + 1, item(target, 0, source, 0, 1));
  EXPECT_EQ(launcher.copy(too_many).code(), Code::bad_argument);
}

TEST(BatchedCopy, of_nothing_is_done_at_once) {
  Launcher launcher;
  BatchedCopy batch;
  EXPECT_TRUE(batch.done());
  EXPECT_TRUE(launcher.launch(batch, {}).ok());
  EXPECT_TRUE(batch.done());
  const std::vector<CopyItem> empty_items(5);
  EXPECT_TRUE(launcher.launch(batch, empty_items).ok());
  EXPECT_TRUE(batch.done());
}

TEST(BatchedCopy, passes_over_empty_items) {
  const GpuMemory memory(BufferKind::device, 64);
  memory.write(payload(64, 1));
  std::vector<CopyItem> items(3);
  items[1] = item(memory, 32, memory, 0, 32);
  EXPECT_TRUE(Launcher().copy(items).ok());
  Bytes wanted = payload(64, 1);
  std::copy_n(wanted.begin(), 32, wanted.begin() + 32);
  EXPECT_EQ(difference(memory.read(), wanted), -1);
}

TEST(BatchedCopy, reads_and_writes_every_kind_of_memory_that_kernels_reach) {
  constexpr std::size_t bytes = 100'000;
  constexpr BufferKind kinds[] = {BufferKind::pinned, BufferKind::device, BufferKind::async_pool,
                                  BufferKind::virtual_memory, BufferKind::managed};
  Launcher launcher;
  for (const BufferKind from : kinds) {
    for (const BufferKind to : kinds) {
      const GpuMemory source(from, bytes);
      const GpuMemory target(to, bytes);
      source.write(payload(bytes, 5));
      const CopyItem items[] = {item(target, 0, source, 0, bytes)};
      ASSERT_TRUE(launcher.copy(items).ok());
      EXPECT_EQ(difference(target.read(), payload(bytes, 5)), -1) << name_of(from) << " to " << name_of(to);
    }
  }
}

TEST(BatchedCopy, pulls_from_a_peer) {
  if (device_count() < 2) GTEST_SKIP() << "one GPU only";
  int reachable = 0;
  REQUIRE_CUDA(cuDeviceCanAccessPeer(&reachable, 0, 1));
  if (reachable == 0) GTEST_SKIP() << "no peer access";
  constexpr std::size_t items_each = CopyKernels::most_items;
  constexpr std::size_t each = 8192;
  const GpuMemory source(BufferKind::device, items_each * each, 1);
  source.write(payload(source.bytes(), 8));
  CUcontext peer = nullptr;
  REQUIRE_CUDA(cuCtxGetCurrent(&peer));
  const GpuMemory target(BufferKind::device, items_each * each);
  const CUresult enabled = cuCtxEnablePeerAccess(peer, 0);
  ASSERT_TRUE(enabled == CUDA_SUCCESS || enabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  std::vector<CopyItem> items;
  for (std::size_t i = 0; i < items_each; ++i)
    items.push_back(item(target, i * each, source, i * each, each));
  ASSERT_TRUE(Launcher().copy(items).ok());
  EXPECT_EQ(difference(target.read(), payload(source.bytes(), 8)), -1);
}

TEST(BatchedCopy, comes_after_the_streams_earlier_work_and_says_when_it_is_done) {
  constexpr std::size_t bytes = 1000;
  const GpuMemory source(BufferKind::device, bytes);
  const GpuMemory target(BufferKind::pinned, bytes);
  target.write(Bytes(bytes, guard_byte));
  source.write(payload(bytes, 2));
  const CopyItem items[] = {item(target, 0, source, 0, bytes)};
  Launcher launcher;
  BatchedCopy batch;
  ASSERT_TRUE(launcher.prepare().ok());
  {
    BusyStream busy(launcher.stream());
    ASSERT_TRUE(launcher.launch(batch, items).ok());
    EXPECT_EQ(launcher.launch(batch, items).code(), Code::bad_argument) << "the last one is in flight";
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
    while (std::chrono::steady_clock::now() < end) {  // long enough for looks at the stream
      bool done = true;
      ASSERT_TRUE(batch.query(done).ok());
      ASSERT_FALSE(done);
    }
    EXPECT_EQ(difference(target.read(), Bytes(bytes, guard_byte)), -1);
    busy.release();
    while (!batch.done()) std::this_thread::yield();
    EXPECT_EQ(difference(target.read(), payload(bytes, 2)), -1) << "the host sees the bytes with the flag";
  }
}

TEST(BatchedCopy, a_token_that_is_moved_takes_its_batch_along) {
  const GpuMemory memory(BufferKind::pinned, 2);
  memory.write({7, 0});
  const CopyItem items[] = {item(memory, 1, memory, 0, 1)};
  Launcher launcher;
  BatchedCopy first;
  ASSERT_TRUE(launcher.prepare().ok());
  BusyStream busy(launcher.stream());
  ASSERT_TRUE(launcher.launch(first, items).ok());
  BatchedCopy second(std::move(first));
  EXPECT_FALSE(second.done());
  busy.release();
  EXPECT_TRUE(second.wait().ok());
  EXPECT_EQ(memory.read()[1], 7);
}

TEST(BatchedCopy, a_token_waits_for_its_batch_before_it_goes) {
  const GpuMemory memory(BufferKind::pinned, 2);
  memory.write({7, 0});
  const CopyItem items[] = {item(memory, 1, memory, 0, 1)};
  Launcher launcher;
  for (int round = 0; round < 100; ++round) {
    memory.write({static_cast<std::uint8_t>(round), 0xff});
    {
      BatchedCopy batch;
      ASSERT_TRUE(launcher.launch(batch, items).ok());
    }
    ASSERT_EQ(memory.read()[1], round);
  }
}

TEST(BatchedCopy, threads_with_streams_of_their_own_do_not_disturb_one_another) {
  constexpr std::size_t each = 20'000;  // two blocks each, so that launches count theirs
  constexpr std::size_t items_each = 3;
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number) {
    threads.emplace_back([number] {
      Launcher launcher(static_cast<cuda::StreamUse>(number));
      const GpuMemory source(BufferKind::device, items_each * each);
      const GpuMemory target(BufferKind::device, items_each * each);
      std::vector<CopyItem> items;
      for (std::size_t i = 0; i < items_each; ++i)
        items.push_back(item(target, i * each, source, i * each, each));
      BatchedCopy batch;
      for (unsigned round = 0; round < 5; ++round) {
        source.write(payload(source.bytes(), number * 10 + round));
        ASSERT_TRUE(launcher.launch(batch, items).ok());
        ASSERT_TRUE(batch.wait().ok());
        ASSERT_EQ(difference(target.read(), payload(source.bytes(), number * 10 + round)), -1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(BatchedCopy, is_refused_when_all_flags_are_in_use_and_goes_on_when_one_is_free) {
  const GpuMemory memory(BufferKind::device, 2);
  const CopyItem items[] = {item(memory, 1, memory, 0, 1)};
  Launcher launcher;
  std::vector<BatchedCopy> tokens(kernels::slot_count);
  for (BatchedCopy& token : tokens) {
    ASSERT_TRUE(launcher.launch(token, items).ok());
    ASSERT_TRUE(token.wait().ok());
  }
  BatchedCopy surplus;
  EXPECT_EQ(launcher.launch(surplus, items).code(), Code::out_of_memory);
  EXPECT_TRUE(surplus.done());
  tokens.pop_back();
  EXPECT_TRUE(launcher.launch(surplus, items).ok());
  EXPECT_TRUE(surplus.wait().ok());
}

TEST(BatchedCopy, ends_when_its_context_is_destroyed_and_the_token_serves_another_context) {
  use_device(0);
  BatchedCopy batch;
  for (int round = 0; round < 3; ++round) {
    CUcontext handle = nullptr;
    REQUIRE_CUDA(cuCtxCreate(&handle, nullptr, 0, 0));
    const cuda::ContextRef context = cuda::Context::of(handle);
    CUdeviceptr memory = 0;
    REQUIRE_CUDA(cuMemAlloc(&memory, 100'000));
    const CopyItem items[] = {
        {reinterpret_cast<void*>(memory + 50'000), reinterpret_cast<const void*>(memory), 50'000}};
    {
      const cuda::ContextScope scope(*context);
      CUstream stream = nullptr;
      ASSERT_TRUE(context->stream(cuda::StreamUse::pull_0, stream).ok());
      ASSERT_TRUE(batch.launch(context, stream, items).ok());
      ASSERT_TRUE(batch.wait().ok());
      ASSERT_TRUE(batch.launch(context, stream, items).ok());
    }
    REQUIRE_CUDA(cuCtxDestroy(handle));
    static_cast<void>(batch.wait());  // done, or failed with its context; but it ends
    EXPECT_TRUE(batch.done());
  }
}

/// Faults are read when the driver starts, so each of these tests is a process of its own.
class BatchedCopyWithFaults : public testing::Test {
 protected:
  void SetUp() override {
    if (dlsym(RTLD_DEFAULT, "simulated_gpu_marker") == nullptr)
      GTEST_SKIP() << "faults need the simulated GPU";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
  void TearDown() override { unsetenv("SIMULATED_GPU_FAULTS"); }
};

/// At once: a kernel that has raised its flag may still be on its way out, and whoever looks for leaks then
/// takes its memory for one.
[[noreturn]] void finish(bool as_expected) {
  std::_Exit(as_expected ? 0 : 1);
}

TEST_F(BatchedCopyWithFaults, says_that_the_image_was_refused) {
  setenv("SIMULATED_GPU_FAULTS", "cuLibraryLoadData:200", 1);
  EXPECT_EXIT(
      {
        Launcher launcher;
        BatchedCopy batch;
        const Status launched = launcher.launch(batch, {});
        finish(launched.detail() == CUDA_ERROR_INVALID_IMAGE && !CopyKernels::available().ok() &&
               batch.done());
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(BatchedCopyWithFaults, tells_once_that_the_image_was_refused_and_not_before_it_was_needed) {
  setenv("SIMULATED_GPU_FAULTS", "cuLibraryLoadData:200", 1);
  EXPECT_EXIT(
      {
        use_device(0);
        const bool before = take_refusal().status.ok();
        const bool available = CopyKernels::available().ok();
        const Status refused = take_refusal().status;
        finish(before && !available && refused.detail() == CUDA_ERROR_INVALID_IMAGE &&
               take_refusal().status.ok());
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(BatchedCopyWithFaults, a_launch_that_fails_copies_nothing_and_the_next_may_succeed) {
  setenv("SIMULATED_GPU_FAULTS", "cuLaunchKernel:701x1", 1);
  EXPECT_EXIT(
      {
        const GpuMemory memory(BufferKind::pinned, 2);
        memory.write({7, 0});
        const CopyItem items[] = {item(memory, 1, memory, 0, 1)};
        Launcher launcher;
        BatchedCopy batch;
        const Status refused = launcher.launch(batch, items);
        const bool first =
            refused.detail() == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES && batch.done() && memory.read()[1] == 0;
        finish(first && launcher.launch(batch, items).ok() && batch.wait().ok() && memory.read()[1] == 7);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(BatchedCopyWithFaults, a_batch_that_never_ends_well_is_found_out) {
  setenv("SIMULATED_GPU_FAULTS", "cuStreamQuery:719", 1);
  EXPECT_EXIT(
      {
        const GpuMemory memory(BufferKind::pinned, 2);
        const CopyItem items[] = {item(memory, 1, memory, 0, 1)};
        Launcher launcher;
        BatchedCopy batch;
        static_cast<void>(launcher.prepare());
        BusyStream busy(launcher.stream());
        const bool launched = launcher.launch(batch, items).ok() && !batch.done();
        finish(launched && batch.wait().detail() == CUDA_ERROR_LAUNCH_FAILED && batch.done());
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(BatchedCopyWithFaults, says_that_no_memory_could_be_pinned_for_its_flags) {
  setenv("SIMULATED_GPU_FAULTS", "cuMemHostRegister_v2:2", 1);
  EXPECT_EXIT(
      {
        Launcher launcher;
        BatchedCopy batch;
        finish(launcher.launch(batch, {}).code() == Code::out_of_memory && batch.done());
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace penstock::transports::test
