// Windows of device memory that the MPI library must make, as members are on several nodes or do not reach
// each other's memory. They follow MPI's separate memory model: a program that does sees no difference.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "interpose/windows/separate/differences.hpp"
#include "tests/interpose/windows/window_memory.hpp"

namespace penstock::windows {
namespace {

constexpr std::size_t count = 1000;

/// Skips where such windows are ours, or where the library makes none.
class SeparateWindows : public testing::Test {
 protected:
  void SetUp() override {
    if (!library_makes_windows()) GTEST_SKIP() << "this MPI makes no windows here";
    const WindowOf<int> window(MemoryKind::device, 1);
    if (model_of(window.get()) != MPI_WIN_SEPARATE) GTEST_SKIP() << "Penstock makes the windows here";
  }

  static int model_of(MPI_Win window) {
    int* model = nullptr;
    int is_there = 0;
    MPI_Win_get_attr(window, MPI_WIN_MODEL, static_cast<void*>(&model), &is_there);
    return is_there != 0 ? *model : -1;
  }

  int next = (rank() + 1) % ranks();
  int previous = (rank() + ranks() - 1) % ranks();
};

TEST_F(SeparateWindows, have_the_attributes_of_the_callers_memory) {
  WindowOf<int> window(MemoryKind::device, 300);
  void* base = nullptr;
  int flag = 0;
  MPI_Win_get_attr(window.get(), MPI_WIN_BASE, static_cast<void*>(&base), &flag);
  EXPECT_EQ(base, window.elements().data());
  MPI_Aint* size = nullptr;
  MPI_Win_get_attr(window.get(), MPI_WIN_SIZE, static_cast<void*>(&size), &flag);
  EXPECT_EQ(*size, 1200);
}

TEST_F(SeparateWindows, are_filled_between_fences) {
  WindowOf<int> window(MemoryKind::device, 2 * count, -1);
  const Elements<int> origin(MemoryKind::device, count, 10 * rank());
  Elements<int> result(MemoryKind::device, count, -2);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window.get());
  MPI_Put(origin.data(), count, MPI_INT, next, count, count, MPI_INT, window.get());
  MPI_Win_fence(0, window.get());
  std::vector<int> expected(count, -1);
  expected.insert(expected.end(), count, 10 * previous);
  EXPECT_EQ(window.elements().get(), expected);
  window.elements().set(std::vector<int>(2 * count, 100 + rank()));
  MPI_Win_fence(0, window.get());
  MPI_Get(result.data(), count, MPI_INT, next, count / 2, count, MPI_INT, window.get());
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get());
  EXPECT_EQ(result.get(), std::vector<int>(count, 100 + next));
}

TEST_F(SeparateWindows, are_filled_by_a_group) {
  WindowOf<int> window(MemoryKind::device, count, -1);
  const Elements<int> origin(MemoryKind::device, count, 7 + rank());
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group to = MPI_GROUP_NULL;
  MPI_Group from = MPI_GROUP_NULL;
  MPI_Group_incl(world, 1, &next, &to);
  MPI_Group_incl(world, 1, &previous, &from);
  for (int again = 0; again < 3; ++again) {
    MPI_Win_post(from, 0, window.get());
    MPI_Win_start(to, 0, window.get());
    MPI_Put(origin.data(), count, MPI_INT, next, 0, count, MPI_INT, window.get());
    MPI_Win_complete(window.get());
    int is_over = 0;
    if (again == 0) {
      MPI_Win_wait(window.get());
    } else {
      while (is_over == 0) MPI_Win_test(window.get(), &is_over);
    }
    EXPECT_EQ(window.elements().get(), std::vector<int>(count, 7 + previous));
    window.elements().set(std::vector<int>(count, -1));
  }
  MPI_Group_free(&from);
  MPI_Group_free(&to);
  MPI_Group_free(&world);
}

/// The target takes no part, but for the calls by which it looks at its memory.
TEST_F(SeparateWindows, are_filled_under_locks) {
  WindowOf<int> window(MemoryKind::device, count, -1);
  const Elements<int> origin(MemoryKind::device, count, 5 + rank());
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window.get());
  MPI_Put(origin.data(), count, MPI_INT, next, 0, count, MPI_INT, window.get());
  MPI_Win_unlock(next, window.get());
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank(), 0, window.get());
  EXPECT_EQ(window.elements().get(), std::vector<int>(count, 5 + previous));
  MPI_Win_unlock(rank(), window.get());
}

TEST_F(SeparateWindows, are_seen_after_MPI_Win_sync) {
  WindowOf<int> window(MemoryKind::device, count, -1);
  const Elements<int> origin(MemoryKind::device, count, 3 + rank());
  MPI_Win_lock_all(0, window.get());
  for (int again = 0; again < 3; ++again) {
    window.elements().set(std::vector<int>(count, again));
    MPI_Win_sync(window.get());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Put(origin.data(), count / 2, MPI_INT, next, 0, count / 2, MPI_INT, window.get());
    MPI_Win_flush(next, window.get());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(window.get());
    std::vector<int> expected(count / 2, 3 + previous);
    expected.insert(expected.end(), count / 2, again);
    EXPECT_EQ(window.elements().get(), expected);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(window.get());
}

TEST_F(SeparateWindows, count_what_all_add) {
  WindowOf<long> window(MemoryKind::device, 1, 0);
  constexpr long times = 50;
  const long one = 1;
  MPI_Win_lock_all(0, window.get());
  for (long i = 0; i < times; ++i) {
    long before = 0;
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, window.get());
    MPI_Win_flush(0, window.get());
  }
  MPI_Win_unlock_all(window.get());
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank(), 0, window.get());
  EXPECT_EQ(window.elements()[0], rank() == 0 ? times * ranks() : 0);
  MPI_Win_unlock(rank(), window.get());
}

/// Every byte that the owner stores and every byte that others put is kept, whatever lies beside it.
TEST_F(SeparateWindows, keep_what_both_sides_write_beside_each_other) {
  constexpr std::size_t bytes = 10'000;
  WindowOf<unsigned char> window(MemoryKind::device, bytes, 0);
  std::mt19937 random(17);  // the same on all ranks
  for (int again = 0; again < 5; ++again) {
    std::vector<unsigned char> expected = window.elements().get();
    std::vector<unsigned char> put(bytes);
    std::vector<std::pair<std::size_t, std::size_t>> pieces;
    for (std::size_t at = 0; at < bytes;) {
      const std::size_t length = std::min<std::size_t>(1 + random() % 90, bytes - at);
      const bool is_put = random() % 2 == 0;
      if (is_put) pieces.emplace_back(at, length);
      for (std::size_t i = at; i < at + length; ++i) {
        const auto value = static_cast<unsigned char>(random());
        (is_put ? put : expected)[i] = value;
      }
      at += length;
    }
    window.elements().set(expected);
    MPI_Win_fence(0, window.get());
    for (const auto& [at, length] : pieces) {
      MPI_Put(&put[at], static_cast<int>(length), MPI_BYTE, next, static_cast<MPI_Aint>(at),
              static_cast<int>(length), MPI_BYTE, window.get());
      std::copy_n(&put[at], length, &expected[at]);
    }
    MPI_Win_fence(0, window.get());
    EXPECT_EQ(window.elements().get(), expected) << again;
  }
}

TEST_F(SeparateWindows, may_have_members_with_host_memory) {
  const MemoryKind kind = rank() % 2 == 0 ? MemoryKind::device : MemoryKind::pageable;
  WindowOf<int> window(kind, count, -1);
  const Elements<int> origin(MemoryKind::device, count, rank());
  MPI_Win_fence(0, window.get());
  MPI_Put(origin.data(), count, MPI_INT, next, 0, count, MPI_INT, window.get());
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(window.elements().get(), std::vector<int>(count, previous));
}

TEST_F(SeparateWindows, are_allocated_where_MPI_Win_allocate_is_asked_for_device_memory) {
  const bool asks = rank() != 1;  // that one gets memory of the host
  const DeviceMemoryInfo info;
  int* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  ASSERT_EQ(MPI_Win_allocate(count * sizeof(int), sizeof(int), asks ? info.get() : MPI_INFO_NULL,
                             MPI_COMM_WORLD, static_cast<void*>(&base), &window),
            MPI_SUCCESS);
  EXPECT_EQ(model_of(window) == MPI_WIN_SEPARATE, asks);
  void* known = nullptr;
  int flag = 0;
  MPI_Win_get_attr(window, MPI_WIN_BASE, static_cast<void*>(&known), &flag);
  EXPECT_EQ(known, base);
  cudaPointerAttributes attributes{};
  cudaPointerGetAttributes(&attributes, base);
  EXPECT_EQ(attributes.type == cudaMemoryTypeDevice, asks);

  const std::vector<int> origin(count / 2, rank());
  const std::vector<int> stored(count / 2, 100 + rank());
  cudaMemcpy(base + count / 2, stored.data(), count / 2 * sizeof(int), cudaMemcpyDefault);
  MPI_Win_fence(0, window);
  MPI_Put(origin.data(), count / 2, MPI_INT, next, 0, count / 2, MPI_INT, window);
  MPI_Win_fence(0, window);
  std::vector<int> found(count, -1);
  cudaMemcpy(found.data(), base, count * sizeof(int), cudaMemcpyDefault);
  std::vector<int> expected(count / 2, previous);
  expected.insert(expected.end(), count / 2, 100 + rank());
  EXPECT_EQ(found, expected);
  std::vector<int> got(count / 2, -1);
  MPI_Get(got.data(), count / 2, MPI_INT, next, count / 2, count / 2, MPI_INT, window);
  MPI_Win_fence(0, window);
  EXPECT_EQ(got, std::vector<int>(count / 2, 100 + next));
  EXPECT_EQ(MPI_Win_free(&window), MPI_SUCCESS);
}

TEST_F(SeparateWindows, that_were_allocated_are_filled_before_all_members_have_theirs) {
  const DeviceMemoryInfo info;
  for (int again = 0; again < 20; ++again) {
    int* base = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    MPI_Win_allocate(count * sizeof(int), sizeof(int), info.get(), MPI_COMM_WORLD, static_cast<void*>(&base),
                     &window);
    const std::vector<int> origin(count, 10 * again + rank());
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window);
    MPI_Put(origin.data(), count, MPI_INT, next, 0, count, MPI_INT, window);
    MPI_Win_unlock(next, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank(), 0, window);
    std::vector<int> found(count, -1);
    cudaMemcpy(found.data(), base, count * sizeof(int), cudaMemcpyDefault);
    EXPECT_EQ(found, std::vector<int>(count, 10 * again + previous)) << again;
    MPI_Win_unlock(rank(), window);
    MPI_Win_free(&window);
  }
}

TEST_F(SeparateWindows, keep_what_is_stored_while_nothing_comes_from_nobody) {
  const WindowOf<int> window(MemoryKind::device, count, 0);
  Elements<int> ghost(MemoryKind::device, count, -1);
  MPI_Win_fence(0, window.get());
  MPI_Get(ghost.data(), count, MPI_INT, MPI_PROC_NULL, 0, count, MPI_INT, window.get());
  ghost.set(std::vector<int>(count, 5));
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(ghost.get(), std::vector<int>(count, 5));
}

TEST_F(SeparateWindows, bring_what_was_put_until_they_are_freed) {
  Elements<int> memory(MemoryKind::device, count, -1);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(memory.data(), count * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  const std::vector<int> origin(count, rank());
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
  MPI_Put(origin.data(), count, MPI_INT, next, 0, count, MPI_INT, window);
  MPI_Win_unlock(next, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&window);
  EXPECT_EQ(memory.get(), std::vector<int>(count, previous));
}

TEST_F(SeparateWindows, raise_an_error_if_their_memory_was_freed_and_can_be_freed_themselves) {
  auto memory = std::make_unique<Elements<int>>(MemoryKind::device, std::size_t{1} << 20U, 0);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(memory->data(), MPI_Aint{4} << 20U, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  memory.reset();
  EXPECT_NE(MPI_Win_fence(0, window), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_free(&window), MPI_SUCCESS);
}

TEST(Differences, are_visited_byte_by_byte) {
  std::mt19937 random(5);
  for (int again = 0; again < 300; ++again) {
    const std::size_t bytes = random() % 9000;
    std::vector<std::byte> a(bytes);
    std::vector<std::byte> b(bytes);
    const unsigned long share = random() % 100;
    for (std::size_t i = 0; i < bytes; ++i)
      a[i] = std::byte(random() % 100 < share && i % 5000 < 900 ? 1 : 0);
    std::vector<std::byte> rebuilt = b;
    std::size_t end = 0;
    interpose::for_each_difference(a.data(), b.data(), bytes, 0, [&](std::size_t at, std::size_t length) {
      EXPECT_TRUE(at == 0 || at > end || end == 0);
      for (std::size_t i = at; i < at + length; ++i) EXPECT_NE(a[i], b[i]);
      std::copy_n(a.begin() + static_cast<std::ptrdiff_t>(at), length,
                  rebuilt.begin() + static_cast<std::ptrdiff_t>(at));
      end = at + length;
    });
    EXPECT_EQ(rebuilt, a);
  }
}

TEST(Differences, are_visited_as_one_where_few_bytes_are_between_them) {
  std::vector<std::byte> a(100);
  const std::vector<std::byte> b(100);
  for (const std::size_t at : {3U, 8U, 20U, 99U}) a[at] = std::byte{1};
  std::vector<std::pair<std::size_t, std::size_t>> found;
  interpose::for_each_difference(a.data(), b.data(), a.size(), 4,
                                 [&](std::size_t at, std::size_t length) { found.emplace_back(at, length); });
  EXPECT_EQ(found, (std::vector<std::pair<std::size_t, std::size_t>>{{3, 6}, {20, 1}, {99, 1}}));
}

}  // namespace
}  // namespace penstock::windows
