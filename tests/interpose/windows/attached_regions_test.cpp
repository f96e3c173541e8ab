// What members attach to a window, and detach: where accesses lead before and after, to memory that came in
// the place of other memory, too, and what is refused.
#include <chrono>
#include <numeric>
#include <optional>
#include <thread>

#include "tests/interpose/windows/attached_memory.hpp"
#include "tests/support/busy_gpu.hpp"

namespace penstock::windows {
namespace {

/// Device memory, at the address that is asked for if the allocator gives that.
std::optional<Elements<int>> device_memory_at(const int* address, std::size_t count, int value) {
  std::vector<Elements<int>> elsewhere;
  for (int attempt = 0; attempt < 16; ++attempt) {
    Elements<int> elements(MemoryKind::device, count, value);
    if (elements.data() == address) return elements;
    elsewhere.push_back(std::move(elements));
  }
  return std::nullopt;
}

TEST(DynamicRegions, forget_memory_that_was_detached_and_freed) {
  constexpr std::size_t count = 300'000;
  const DynamicWindow window;
  std::optional<Elements<int>> memory(std::in_place, MemoryKind::device, count, 0);
  int at_one_address = 0;
  for (int round = 1; round <= 4; ++round) {
    EXPECT_EQ(window.attach(*memory), MPI_SUCCESS);
    const auto bases = addresses_of_all(memory->data());
    int got = -1;
    const MPI_Aint last = element<int>(bases[static_cast<std::size_t>(next_rank())], count - 1);
    MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, window.get());
    MPI_Get(&got, 1, MPI_INT, next_rank(), last, 1, MPI_INT, window.get());
    MPI_Win_flush(next_rank(), window.get());
    EXPECT_EQ(got, round - 1);
    const int sent = 50 + round;
    MPI_Put(&sent, 1, MPI_INT, next_rank(), last, 1, MPI_INT, window.get());
    MPI_Win_unlock(next_rank(), window.get());
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ((*memory)[count - 1], sent);
    EXPECT_EQ(window.detach(memory->data()), MPI_SUCCESS);
    const int* const address = memory->data();
    memory.reset();
    memory = device_memory_at(address, count, round);
    at_one_address += memory ? 1 : 0;
    if (!memory) memory.emplace(MemoryKind::device, count, round);
  }
  RecordProperty("allocations_at_the_address_of_the_last", at_one_address);
}

/// The driver keeps small allocations in one block, and maps none in the place of one that is still mapped.
TEST(DynamicRegions, take_memory_in_the_place_of_what_was_freed_while_the_GPU_works) {
  const DynamicWindow window;
  for (const std::size_t count : std::array<std::size_t, 4>{1000, 3000, 500, 2000}) {
    const Elements<int> memory(MemoryKind::device, count, static_cast<int>(count));
    EXPECT_EQ(window.attach(memory), MPI_SUCCESS);
    const auto bases = addresses_of_all(memory.data());
    {
      test_support::BusyGpu busy;
      std::thread ends([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        busy.end();
      });
      MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, window.get());
      int got = 0;
      EXPECT_EQ(MPI_Get(&got, 1, MPI_INT, next_rank(), bases[static_cast<std::size_t>(next_rank())], 1,
                        MPI_INT, window.get()),
                MPI_SUCCESS);
      MPI_Win_unlock(next_rank(), window.get());
      EXPECT_EQ(got, static_cast<int>(count));
      ends.join();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(window.detach(memory.data()), MPI_SUCCESS);
  }
}

TEST(DynamicRegions, see_another_end_or_another_memory_of_a_region_at_one_address) {
  const DynamicWindow window;
  const Elements<int> memory(MemoryKind::device, 100, 1);
  const auto bases = addresses_of_all(memory.data());
  const MPI_Aint base = bases[static_cast<std::size_t>(next_rank())];
  for (const std::size_t count : {std::size_t{100}, std::size_t{50}, std::size_t{80}}) {
    EXPECT_EQ(window.attach(memory.data(), count), MPI_SUCCESS);
    MPI_Win_fence(0, window.get());
    int got = 0;
    const auto get = [&](std::size_t index) {
      return class_of(
          MPI_Get(&got, 1, MPI_INT, next_rank(), element<int>(base, index), 1, MPI_INT, window.get()));
    };
    EXPECT_EQ(get(count - 1), MPI_SUCCESS);
    EXPECT_EQ(get(count), MPI_ERR_RMA_RANGE);
    MPI_Win_fence(0, window.get());
    EXPECT_EQ(got, 1);
    EXPECT_EQ(window.detach(memory.data()), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(DynamicRegions, refuse_accesses_outside_of_what_is_attached) {
  const DynamicWindow window;
  const Elements<int> memory(MemoryKind::device, 100, 1);
  EXPECT_EQ(window.attach(memory.data() + 10, 10), MPI_SUCCESS);
  EXPECT_EQ(window.attach(memory.data() + 20, 10), MPI_SUCCESS);
  EXPECT_EQ(window.attach(memory.data() + 40, 10), MPI_SUCCESS);
  const auto bases = addresses_of_all(memory.data());
  const MPI_Aint base = bases[static_cast<std::size_t>(next_rank())];
  MPI_Win_fence(0, window.get());
  const std::array<int, 100> sent{};
  const auto put = [&](std::size_t index, int count) {
    return class_of(MPI_Put(sent.data(), count, MPI_INT, next_rank(), element<int>(base, index), count,
                            MPI_INT, window.get()));
  };
  EXPECT_EQ(put(9, 1), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(put(9, 2), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(put(30, 1), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(put(49, 2), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(put(10, 40), MPI_ERR_RMA_RANGE) << "with a gap between regions";
  EXPECT_EQ(put(10, 10), MPI_SUCCESS);
  EXPECT_EQ(put(49, 1), MPI_SUCCESS);
  EXPECT_EQ(put(1000, 0), MPI_SUCCESS);
  for (const MPI_Aint nowhere : {MPI_Aint{0}, MPI_Aint{-8}, PTRDIFF_MAX, PTRDIFF_MIN}) {
    EXPECT_EQ(class_of(MPI_Put(sent.data(), 1, MPI_INT, next_rank(), nowhere, 1, MPI_INT, window.get())),
              MPI_ERR_RMA_RANGE);
    EXPECT_EQ(class_of(MPI_Accumulate(sent.data(), 1, MPI_INT, next_rank(), nowhere, 1, MPI_INT, MPI_SUM,
                                      window.get())),
              MPI_ERR_RMA_RANGE);
  }
  MPI_Win_fence(0, window.get());
  auto expected = std::vector<int>(100, 1);
  std::fill_n(expected.begin() + 10, 10, 0);
  expected[49] = 0;
  EXPECT_EQ(memory.get(), expected);
  EXPECT_EQ(window.detach(memory.data() + 10), MPI_SUCCESS);
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(put(10, 1), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(put(20, 1), MPI_SUCCESS);
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(window.detach(memory.data() + 20), MPI_SUCCESS);
  EXPECT_EQ(window.detach(memory.data() + 40), MPI_SUCCESS);
}

TEST(DynamicRegions, lead_on_to_the_regions_behind_them) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pageable, MemoryKind::pinned}) {
    SCOPED_TRACE(name_of(kind));
    const DynamicWindow window;
    const Elements<int> memory(kind, 100, 1);
    EXPECT_EQ(window.attach(memory.data() + 50, 30), MPI_SUCCESS);
    EXPECT_EQ(window.attach(memory.data() + 10, 20), MPI_SUCCESS);
    EXPECT_EQ(window.attach(memory.data() + 30, 20), MPI_SUCCESS);
    const auto bases = addresses_of_all(memory.data());
    for (const int target : {next_rank(), rank()}) {
      const MPI_Aint base = bases[static_cast<std::size_t>(target)];
      std::vector<int> sent(70);
      std::iota(sent.begin(), sent.end(), 100 * (target + 1));
      std::vector<int> got(70, 0);
      MPI_Win_fence(0, window.get());
      EXPECT_EQ(MPI_Put(sent.data(), 70, MPI_INT, target, element<int>(base, 10), 70, MPI_INT, window.get()),
                MPI_SUCCESS);
      MPI_Win_fence(0, window.get());
      EXPECT_EQ(MPI_Accumulate(sent.data(), 2, MPI_INT, target, element<int>(base, 49), 2, MPI_INT, MPI_SUM,
                               window.get()),
                MPI_SUCCESS);
      MPI_Win_fence(0, window.get());
      EXPECT_EQ(MPI_Get(got.data(), 70, MPI_INT, target, element<int>(base, 10), 70, MPI_INT, window.get()),
                MPI_SUCCESS);
      MPI_Win_fence(0, window.get());
      sent[39] += sent[0];
      sent[40] += sent[1];
      EXPECT_EQ(got, sent);
      EXPECT_EQ(class_of(MPI_Put(sent.data(), 71, MPI_INT, target, element<int>(base, 10), 71, MPI_INT,
                                 window.get())),
                MPI_ERR_RMA_RANGE);
    }
    EXPECT_EQ(window.detach(memory.data() + 30), MPI_SUCCESS);
    MPI_Win_fence(0, window.get());
    const auto get = [&](std::size_t index, int count) {
      std::vector<int> got(100);
      return class_of(MPI_Get(got.data(), count, MPI_INT, next_rank(),
                              element<int>(bases[static_cast<std::size_t>(next_rank())], index), count,
                              MPI_INT, window.get()));
    };
    EXPECT_EQ(get(29, 2), MPI_ERR_RMA_RANGE);
    EXPECT_EQ(get(10, 70), MPI_ERR_RMA_RANGE);
    MPI_Win_fence(0, window.get());
    EXPECT_EQ(window.detach(memory.data() + 10), MPI_SUCCESS);
    EXPECT_EQ(window.detach(memory.data() + 50), MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(DynamicRegions, refuse_memory_that_cannot_be_attached_or_is_not) {
  const DynamicWindow window;
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::pageable}) {
    const Elements<int> memory(kind, 100);
    int* const base = memory.data();
    EXPECT_EQ(window.attach(base + 10, 10), MPI_SUCCESS);
    EXPECT_EQ(window.attach(base + 10, 10), MPI_ERR_RMA_ATTACH);
    EXPECT_EQ(window.attach(base + 5, 6), MPI_ERR_RMA_ATTACH);
    EXPECT_EQ(window.attach(base + 19, 6), MPI_ERR_RMA_ATTACH);
    EXPECT_EQ(window.attach(base + 12, 2), MPI_ERR_RMA_ATTACH);
    EXPECT_EQ(window.attach(base, 100), MPI_ERR_RMA_ATTACH);
    EXPECT_EQ(window.attach(base + 20, 10), MPI_SUCCESS);
    EXPECT_EQ(window.attach(base, 10), MPI_SUCCESS);
    EXPECT_EQ(window.attach(base, 0), MPI_SUCCESS);
    EXPECT_EQ(window.detach(base + 15), MPI_ERR_BASE);
    for (int* const each : {base, base, base + 10, base + 20}) EXPECT_EQ(window.detach(each), MPI_SUCCESS);
    EXPECT_EQ(window.detach(base), MPI_ERR_BASE);
  }
  EXPECT_EQ(class_of(MPI_Win_attach(window.get(), nullptr, -1)), MPI_ERR_SIZE);
  const Elements<int> of_device(MemoryKind::device, 10);
  EXPECT_EQ(window.attach(of_device.data(), std::size_t{1} << 40), MPI_ERR_RMA_ATTACH);
  const WindowOf<int> not_dynamic(MemoryKind::device, 10);
  EXPECT_EQ(class_of(MPI_Win_attach(not_dynamic.get(), of_device.data(), 4)), MPI_ERR_RMA_FLAVOR);
  EXPECT_EQ(class_of(MPI_Win_detach(not_dynamic.get(), of_device.data())), MPI_ERR_RMA_FLAVOR);
}

TEST(DynamicRegions, take_many_regions_but_not_any_number) {
  constexpr std::size_t most = 1024;
  const DynamicWindow window;
  const Elements<int> memory(MemoryKind::device, 2 * (most + 1), -1);
  for (std::size_t i = 0; i < most; ++i) ASSERT_EQ(window.attach(memory.data() + 2 * i, 1), MPI_SUCCESS);
  EXPECT_EQ(window.attach(memory.data() + 2 * most, 1), MPI_ERR_RMA_ATTACH);
  EXPECT_EQ(window.detach(memory.data()), MPI_SUCCESS);
  EXPECT_EQ(window.attach(memory.data() + 2 * most, 1), MPI_SUCCESS);
  const auto bases = addresses_of_all(memory.data());
  const MPI_Aint base = bases[static_cast<std::size_t>(next_rank())];
  MPI_Win_fence(0, window.get());
  std::vector<int> sent(most + 1);
  std::iota(sent.begin(), sent.end(), 10 * rank());
  for (std::size_t i = 1; i <= most; ++i)
    MPI_Put(&sent[i], 1, MPI_INT, next_rank(), element<int>(base, 2 * i), 1, MPI_INT, window.get());
  MPI_Win_fence(0, window.get());
  const auto got = memory.get();
  EXPECT_EQ(got[0], -1);
  for (std::size_t i = 1; i <= most; ++i) {
    ASSERT_EQ(got[2 * i], static_cast<int>(i) + 10 * last_rank());
    ASSERT_EQ(got[2 * i - 1], -1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(DynamicRegions, of_memory_that_cannot_be_mapped_are_accessed_by_its_rank_alone) {
  const DynamicWindow window;
  const Elements<int> of_a_pool(MemoryKind::async_pool, 10, 1);
  const Elements<int> memory(MemoryKind::device, 10, 1);
  EXPECT_EQ(window.attach(of_a_pool), MPI_SUCCESS);
  EXPECT_EQ(window.attach(memory), MPI_SUCCESS);
  const auto pools = addresses_of_all(of_a_pool.data());
  const auto others = addresses_of_all(memory.data());
  MPI_Win_fence(0, window.get());
  const int sent = 5 + rank();
  const auto put = [&](int target, const std::vector<MPI_Aint>& bases) {
    return class_of(MPI_Put(&sent, 1, MPI_INT, target, bases[static_cast<std::size_t>(target)], 1, MPI_INT,
                            window.get()));
  };
  EXPECT_EQ(put(next_rank(), pools), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_EQ(put(next_rank(), pools), MPI_ERR_UNSUPPORTED_OPERATION);
  EXPECT_EQ(put(rank(), pools), MPI_SUCCESS);
  EXPECT_EQ(put(next_rank(), others), MPI_SUCCESS);
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(of_a_pool[0], 5 + rank());
  EXPECT_EQ(memory[0], 5 + last_rank());
  EXPECT_EQ(window.detach(of_a_pool.data()), MPI_SUCCESS);
  EXPECT_EQ(window.detach(memory.data()), MPI_SUCCESS);
}

TEST(DynamicRegions, let_ranks_attach_while_others_access) {
  const DynamicWindow window;
  const Elements<int> fixed(MemoryKind::device, 1, 0);
  EXPECT_EQ(window.attach(fixed), MPI_SUCCESS);
  const auto bases = addresses_of_all(fixed.data());
  const Elements<int> others(MemoryKind::device, 64);
  MPI_Win_lock_all(0, window.get());
  for (int round = 0; round < 200; ++round) {
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(window.attach(others.data() + 8 * i, 4), MPI_SUCCESS);
    const int one = 1;
    int earlier = 0;
    EXPECT_EQ(MPI_Fetch_and_op(&one, &earlier, MPI_INT, next_rank(),
                               bases[static_cast<std::size_t>(next_rank())], MPI_SUM, window.get()),
              MPI_SUCCESS);
    EXPECT_EQ(earlier, round);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(window.detach(others.data() + 8 * i), MPI_SUCCESS);
  }
  MPI_Win_unlock_all(window.get());
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(fixed[0], 200);
}

TEST(DynamicRegions, are_attached_by_one_thread_while_another_accesses) {
  if (programs::thread_level_asked_for != MPI_THREAD_MULTIPLE) GTEST_SKIP();
  constexpr int rounds = 300;
  const DynamicWindow window;
  const Elements<int> fixed(MemoryKind::device, 1, 0);
  EXPECT_EQ(window.attach(fixed), MPI_SUCCESS);
  const auto bases = addresses_of_all(fixed.data());
  const Elements<int> others(MemoryKind::device, 64);
  MPI_Win_lock_all(0, window.get());
  std::thread attaching([&] {
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(window.attach(others.data() + 8 * i, 4), MPI_SUCCESS);
      for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(window.detach(others.data() + 8 * i), MPI_SUCCESS);
    }
  });
  for (int round = 0; round < rounds; ++round) {
    const int one = 1;
    for (int target = 0; target < ranks(); ++target)
      EXPECT_EQ(MPI_Accumulate(&one, 1, MPI_INT, target, bases[static_cast<std::size_t>(target)], 1, MPI_INT,
                               MPI_SUM, window.get()),
                MPI_SUCCESS);
  }
  attaching.join();
  MPI_Win_unlock_all(window.get());
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(fixed[0], rounds * ranks());
}

}  // namespace
}  // namespace penstock::windows
