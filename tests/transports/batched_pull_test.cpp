// Pulls of one time that go together: by how many launches and copies, and that every byte arrives and no
// other is touched.
#include "transports/small/batched_pull.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "tests/transports/gpu_memory.hpp"
#include "transports/copy_selection/start_copy.hpp"
#include "transports/cuda/driver.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports::test {
namespace {

/// While it lives, counts the kernels and copies that are launched.
class CountedLaunches {
 public:
  CountedLaunches() : table_(const_cast<cuda::Driver&>(*cuda::driver())) {
    launch_ = table_.cuLaunchKernel;
    copy_ = table_.cuMemcpyAsync;
    kernels_ = copies_ = 0;
    table_.cuLaunchKernel = [](CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                               unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                               CUstream stream, void** parameters, void** extra) {
      ++kernels_;
      return launch_(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,
                     parameters, extra);
    };
    table_.cuMemcpyAsync = [](CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
      ++copies_;
      return copy_(to, from, bytes, stream);
    };
  }
  ~CountedLaunches() {
    table_.cuLaunchKernel = launch_;
    table_.cuMemcpyAsync = copy_;
  }
  CountedLaunches(const CountedLaunches&) = delete;
  CountedLaunches& operator=(const CountedLaunches&) = delete;

  [[nodiscard]] int kernels() const { return kernels_; }
  [[nodiscard]] int copies() const { return copies_; }

 private:
  cuda::Driver& table_;
  static inline decltype(cuda::Driver::cuLaunchKernel) launch_ = nullptr;
  static inline decltype(cuda::Driver::cuMemcpyAsync) copy_ = nullptr;
  static inline int kernels_ = 0;
  static inline int copies_ = 0;
};

/// Payloads that lie at odd distances from each other in two allocations, and are pulled from one into the
/// other.
class Window {
 public:
  Window(BufferKind from, BufferKind to, std::size_t bytes, std::size_t count)
      : bytes_(bytes),
        count_(count),
        from_(from, count * (bytes + gap_bytes)),
        to_(to, count * (bytes + gap_bytes)) {
    fill(from_, layout(), bytes * count, seed);
    fill(to_, {}, 0, 0);
  }

  /// All of them; none is stepped before all have begun.
  void begin() {
    for (std::size_t i = 0; i < count_; ++i) {
      const BufferView source{inspect(at(from_, i)), Layout::contiguous(bytes_)};
      const BufferView destination{inspect(at(to_, i)), Layout::contiguous(bytes_)};
      const bool is_host = !lives_on_device(source.buffer.kind);
      const CopySource what{.pointer = source.buffer.pointer,
                            .bytes = bytes_,
                            .side = is_host ? Side::host : Side::device,
                            .is_pinned = source.is_pinned_throughout()};
      ASSERT_TRUE(start_copy(what, destination, cuda::Context::any(0), pulls_.emplace_back()).ok());
    }
  }
  void end() {
    for (bool all_finished = false; !all_finished; std::this_thread::yield()) {
      all_finished = true;
      for (std::unique_ptr<Pull>& pull : pulls_) {
        bool finished = pull == nullptr;
        if (!finished) {
          ASSERT_TRUE(pull->advance(finished).ok());
        }
        if (finished) pull.reset();
        all_finished = all_finished && finished;
      }
    }
    EXPECT_EQ(first_difference(to_, layout(), bytes_ * count_, seed), -1);
  }
  void pull() {
    begin();
    end();
  }

 private:
  static constexpr std::size_t gap_bytes = 48;
  static constexpr std::uint64_t seed = 7;

  [[nodiscard]] std::ptrdiff_t offset(std::size_t index) const {
    return static_cast<std::ptrdiff_t>(index * (bytes_ + gap_bytes) + index * 3 % 17);
  }
  [[nodiscard]] char* at(const GpuMemory& memory, std::size_t index) const {
    return static_cast<char*>(memory.data()) + offset(index);
  }
  [[nodiscard]] Layout layout() const {
    Layout layout;
    for (std::size_t i = 0; i < count_; ++i) layout.append({offset(i), bytes_, 1, 0});
    return layout;
  }

  std::size_t bytes_;
  std::size_t count_;
  GpuMemory from_;
  GpuMemory to_;
  std::vector<std::unique_ptr<Pull>> pulls_;
};

class BatchedPull : public testing::Test {
 protected:
  void SetUp() override {
    use_device(0);
    Window(BufferKind::device, BufferKind::device, 100, 40).pull();  // what the first launches do besides
  }
};

TEST_F(BatchedPull, between_a_device_and_pinned_memory_goes_by_a_kernel_for_many) {
  for (const std::size_t bytes : {1u, 8u, 1000u, 65'537u}) {
    for (const auto& [from, to] : {std::pair(BufferKind::device, BufferKind::pinned),
                                   std::pair(BufferKind::pinned, BufferKind::device)}) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes from " << name_of(from) << " to " << name_of(to));
      Window window(from, to, bytes, 33);
      const CountedLaunches launches;
      window.pull();
      EXPECT_EQ(launches.copies(), 1);  // the first goes alone, for the shortest way
      EXPECT_LE(launches.kernels(), 2);
    }
  }
}

TEST_F(BatchedPull, of_more_than_the_figure_says_is_a_copy_of_its_own) {
  Tuning table = shipped_tuning();
  table.host_batched_to = 4096;
  set_tuning(table);
  for (const auto& [from, to] : {std::pair(BufferKind::device, BufferKind::pinned),
                                 std::pair(BufferKind::pinned, BufferKind::device)}) {
    Window window(from, to, 4097, 10);
    const CountedLaunches launches;
    window.pull();
    EXPECT_EQ(launches.copies(), 10);
    EXPECT_EQ(launches.kernels(), 0);
  }
  set_tuning(shipped_tuning());
}

TEST_F(BatchedPull, with_memory_that_is_not_pinned_is_a_copy_of_its_own) {
  for (const auto& [from, to] : {std::pair(BufferKind::device, BufferKind::pageable),
                                 std::pair(BufferKind::pageable, BufferKind::device)}) {
    Window window(from, to, 20'000, 10);
    const CountedLaunches launches;
    window.pull();
    EXPECT_EQ(launches.copies(), 10);
    EXPECT_EQ(launches.kernels(), 0);
  }
}

TEST_F(BatchedPull, between_devices_does_not_wait_for_one_with_host_memory) {
  Window slow(BufferKind::device, BufferKind::pinned, 1000, 10);
  Window fast(BufferKind::device, BufferKind::device, 1000, 10);
  const CountedLaunches launches;
  slow.begin();
  fast.begin();
  EXPECT_EQ(launches.kernels(), 0);
  fast.end();
  EXPECT_EQ(launches.kernels(), 1) << "the other batch is not stepped";
  slow.end();
  EXPECT_EQ(launches.kernels(), 2);
}

TEST_F(BatchedPull, does_not_touch_memory_that_is_dropped_before_the_launch) {
  auto window = std::make_unique<Window>(BufferKind::device, BufferKind::pinned, 1000, 10);
  window->begin();
  window.reset();
  Window(BufferKind::device, BufferKind::pinned, 1000, 10).pull();
}

TEST(PinnedThroughout, is_what_lies_in_one_piece_of_pinned_memory) {
  constexpr std::size_t bytes = 1 << 20;
  use_device(0);
  const GpuMemory memory(BufferKind::pinned, bytes);
  const auto whole = [&](std::size_t offset, std::size_t length) {
    return BufferView{inspect(static_cast<char*>(memory.data()) + offset), Layout::contiguous(length)}
        .is_pinned_throughout();
  };
  EXPECT_TRUE(whole(0, bytes));
  EXPECT_TRUE(whole(12'345, bytes - 12'345));
  EXPECT_FALSE(whole(12'345, bytes - 12'344));
  EXPECT_FALSE(whole(bytes - 1, 2));

  const Layout in_pieces = Layout::contiguous(8).repeated(4, 16);
  EXPECT_FALSE((BufferView{inspect(memory.data()), in_pieces}.is_pinned_throughout()));

  const GpuMemory pageable(BufferKind::pageable, bytes);
  EXPECT_FALSE((BufferView{inspect(pageable.data()), Layout::contiguous(1)}.is_pinned_throughout()));
  const GpuMemory device(BufferKind::device, bytes);
  EXPECT_FALSE((BufferView{inspect(device.data()), Layout::contiguous(1)}.is_pinned_throughout()));
}

/// Of which a part was registered: a kernel that went beyond it would end the application's context.
TEST(PinnedThroughout, is_not_what_was_registered_in_part) {
  constexpr std::size_t page = 4096;
  use_device(0);
  GpuMemory memory(BufferKind::pageable, 8 * page);
  auto* const first =
      reinterpret_cast<char*>((reinterpret_cast<std::uintptr_t>(memory.data()) + page - 1) / page * page);
  REQUIRE_CUDA(cuMemHostRegister(first, 4 * page, 0));
  const auto whole = [&](std::size_t offset, std::size_t length) {
    return BufferView{inspect(first + offset), Layout::contiguous(length)}.is_pinned_throughout();
  };
  EXPECT_TRUE(whole(0, 4 * page));
  EXPECT_TRUE(whole(100, 4 * page - 100));
  EXPECT_FALSE(whole(100, 4 * page - 99));
  EXPECT_FALSE(whole(3 * page, 2 * page));
  REQUIRE_CUDA(cuMemHostUnregister(first));
  EXPECT_FALSE(whole(0, 4 * page));
}

}  // namespace
}  // namespace penstock::transports::test
