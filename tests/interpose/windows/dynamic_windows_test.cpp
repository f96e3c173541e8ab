// Windows to which members attach memory: accesses of all kinds to what is attached.
#include <numeric>

#include "tests/interpose/windows/attached_memory.hpp"

namespace penstock::windows {
namespace {

constexpr std::array attached_kinds = {MemoryKind::device, MemoryKind::pageable, MemoryKind::device,
                                       MemoryKind::pinned};

std::vector<int> numbers(int first, std::size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

/// A region of each kind, attached, and where every rank's lie.
struct Regions {
  Regions(const DynamicWindow& window, std::size_t count, int value = -1) {
    for (const MemoryKind kind : attached_kinds) {
      elements.emplace_back(kind, count, value);
      EXPECT_EQ(window.attach(elements.back()), MPI_SUCCESS);
    }
    for (const auto& each : elements) addresses.push_back(addresses_of_all(each.data()));
  }
  void detach(const DynamicWindow& window) {
    for (const auto& each : elements) EXPECT_EQ(window.detach(each.data()), MPI_SUCCESS);
  }
  [[nodiscard]] MPI_Aint address(std::size_t region, int target, std::size_t index = 0) const {
    return element<int>(addresses[region][static_cast<std::size_t>(target)], index);
  }

  std::vector<Elements<int>> elements;
  std::vector<std::vector<MPI_Aint>> addresses;
};

TEST(DynamicWindows, have_no_base_and_no_size) {
  const DynamicWindow window;
  void* base = &base;
  int flag = 0;
  MPI_Win_get_attr(window.get(), MPI_WIN_BASE, static_cast<void*>(&base), &flag);
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(base, MPI_BOTTOM);
  MPI_Aint* size = nullptr;
  MPI_Win_get_attr(window.get(), MPI_WIN_SIZE, static_cast<void*>(&size), &flag);
  EXPECT_EQ(*size, 0);
  int* number = nullptr;
  MPI_Win_get_attr(window.get(), MPI_WIN_DISP_UNIT, static_cast<void*>(&number), &flag);
  EXPECT_EQ(*number, 1);
  MPI_Win_get_attr(window.get(), MPI_WIN_CREATE_FLAVOR, static_cast<void*>(&number), &flag);
  EXPECT_EQ(*number, MPI_WIN_FLAVOR_DYNAMIC);
  MPI_Win_get_attr(window.get(), MPI_WIN_MODEL, static_cast<void*>(&number), &flag);
  EXPECT_EQ(*number, MPI_WIN_UNIFIED);
}

class Origins : public testing::TestWithParam<MemoryKind> {};

TEST_P(Origins, put_into_and_get_from_every_region) {
  constexpr std::size_t part = 500;
  const auto all = static_cast<std::size_t>(ranks());
  const DynamicWindow window;
  Regions regions(window, part * all);
  Elements<int> origin(GetParam(), part);
  for (std::size_t region = 0; region < attached_kinds.size(); ++region) {
    const int first = 1000 * (rank() + 1) + static_cast<int>(region);
    origin.set(numbers(first, part));
    MPI_Win_fence(0, window.get());
    for (int target = 0; target < ranks(); ++target) {
      const MPI_Aint where = regions.address(region, target, part * static_cast<std::size_t>(rank()));
      EXPECT_EQ(class_of(MPI_Put(origin.data(), part, MPI_INT, target, where, part, MPI_INT, window.get())),
                MPI_SUCCESS);
    }
    MPI_Win_fence(0, window.get());
    const auto got = regions.elements[region].get();
    for (std::size_t from = 0; from < all; ++from) {
      const auto begin = got.begin() + static_cast<std::ptrdiff_t>(from * part);
      EXPECT_EQ(std::vector<int>(begin, begin + part),
                numbers(1000 * static_cast<int>(from + 1) + static_cast<int>(region), part));
    }
    MPI_Win_fence(0, window.get());
    const auto from = static_cast<std::size_t>(last_rank());
    MPI_Get(origin.data(), part, MPI_INT, next_rank(), regions.address(region, next_rank(), part * from),
            part, MPI_INT, window.get());
    MPI_Win_fence(0, window.get());
    EXPECT_EQ(origin.get(), numbers(1000 * (last_rank() + 1) + static_cast<int>(region), part));
  }
  regions.detach(window);
}

TEST_P(Origins, accumulate_into_every_region) {
  const DynamicWindow window;
  Regions regions(window, 100, 0);
  const Elements<int> origin(GetParam(), 100, rank() + 1);
  const Elements<int> earlier(GetParam(), 1, -1);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window.get());
  for (std::size_t region = 0; region < attached_kinds.size(); ++region) {
    for (int target = 0; target < ranks(); ++target) {
      MPI_Accumulate(origin.data(), 98, MPI_INT, target, regions.address(region, target), 98, MPI_INT,
                     MPI_SUM, window.get());
      MPI_Fetch_and_op(origin.data(), earlier.data(), MPI_INT, target, regions.address(region, target, 98),
                       MPI_SUM, window.get());
      int expected = 0;
      int found = 0;
      MPI_Compare_and_swap(origin.data(), &expected, &found, MPI_INT, target,
                           regions.address(region, target, 99), window.get());
    }
  }
  MPI_Win_unlock_all(window.get());
  MPI_Barrier(MPI_COMM_WORLD);
  const int sum = ranks() * (ranks() + 1) / 2;
  for (const auto& each : regions.elements) {
    const auto got = each.get();
    EXPECT_EQ(std::vector<int>(got.begin(), got.begin() + 99), std::vector<int>(99, sum));
    EXPECT_TRUE(got[99] >= 1 && got[99] <= ranks()) << got[99];  // the first rank's
  }
  EXPECT_NE(earlier[0], -1);
  MPI_Barrier(MPI_COMM_WORLD);
  regions.detach(window);
}

INSTANTIATE_TEST_SUITE_P(DynamicWindows, Origins,
                         testing::Values(MemoryKind::device, MemoryKind::pageable, MemoryKind::pinned,
                                         MemoryKind::managed, MemoryKind::async_pool),
                         [](const auto& kind) { return std::string(test_support::name_of(kind.param)); });

TEST(DynamicWindows, are_accessed_by_requests_and_between_groups) {
  const DynamicWindow window;
  Regions regions(window, 10);
  MPI_Win_lock(MPI_LOCK_SHARED, next_rank(), 0, window.get());
  const int sent = 7 + rank();
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Rput(&sent, 1, MPI_INT, next_rank(), regions.address(0, next_rank(), 3), 1, MPI_INT, window.get(),
           requests.data());
  MPI_Raccumulate(&sent, 1, MPI_INT, next_rank(), regions.address(1, next_rank(), 3), 1, MPI_INT, MPI_REPLACE,
                  window.get(), &requests[1]);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  MPI_Win_unlock(next_rank(), window.get());
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(regions.elements[0][3], 7 + last_rank());
  EXPECT_EQ(regions.elements[1][3], 7 + last_rank());

  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Win_post(world, 0, window.get());
  MPI_Win_start(world, 0, window.get());
  int got = -1;
  MPI_Get(&got, 1, MPI_INT, next_rank(), regions.address(0, next_rank(), 3), 1, MPI_INT, window.get());
  MPI_Win_complete(window.get());
  MPI_Win_wait(window.get());
  EXPECT_EQ(got, 7 + rank());
  MPI_Group_free(&world);
  regions.detach(window);
}

TEST(DynamicWindows, take_datatypes_of_absolute_addresses_at_the_target) {
  const DynamicWindow window;
  Regions regions(window, 10);
  const std::array<int, 2> lengths{2, 1};
  const std::array<MPI_Aint, 2> places{regions.address(0, next_rank(), 6),
                                       regions.address(0, next_rank(), 1)};
  MPI_Datatype absolute = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(2, lengths.data(), places.data(), MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  const std::array<int, 3> sent{1, 2, 3};
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(class_of(MPI_Put(sent.data(), 3, MPI_INT, next_rank(), 0, 1, absolute, window.get())),
            MPI_SUCCESS);
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(regions.elements[0].get(), (std::vector<int>{-1, 3, -1, -1, -1, -1, 1, 2, -1, -1}));
  MPI_Type_free(&absolute);
  regions.detach(window);
}

TEST(DynamicWindows, gather_small_accesses_to_several_regions) {
  constexpr std::size_t count = 64;
  const DynamicWindow window;
  Regions regions(window, count);
  const Elements<int> origin(MemoryKind::device, count, 100 + rank());
  for (int again = 0; again < 3; ++again) {  // held back if the last ones were completed at once
    MPI_Win_fence(0, window.get());
    for (std::size_t i = 0; i < count; ++i)
      MPI_Put(origin.data() + i, 1, MPI_INT, next_rank(), regions.address(i % 3, next_rank(), count - 1 - i),
              1, MPI_INT, window.get());
    MPI_Win_fence(0, window.get());
  }
  for (std::size_t i = 0; i < count; ++i)
    EXPECT_EQ(regions.elements[i % 3][count - 1 - i], 100 + last_rank()) << i;
  MPI_Barrier(MPI_COMM_WORLD);
  regions.detach(window);
}

TEST(DynamicWindows, are_seen_as_queued_work_leaves_them) {
  constexpr std::size_t count = 2'000'000;
  const DynamicWindow window;
  Elements<int> memory(MemoryKind::device, count, -1);
  Elements<int> pinned(MemoryKind::pinned, count);
  EXPECT_EQ(window.attach(memory), MPI_SUCCESS);
  const auto bases = addresses_of_all(memory.data());
  const MPI_Aint last = element<int>(bases[static_cast<std::size_t>(next_rank())], count - 1);
  for (int round = 1; round <= 5; ++round) {
    pinned.set(std::vector<int>(count, round));
    memory.memory().write_in_stream_order(0, pinned.data(), count * sizeof(int));
    MPI_Win_fence(0, window.get());
    int got = -2;
    MPI_Get(&got, 1, MPI_INT, next_rank(), last, 1, MPI_INT, window.get());
    MPI_Win_fence(0, window.get());
    EXPECT_EQ(got, round);
  }
  EXPECT_EQ(window.detach(memory.data()), MPI_SUCCESS);
}

}  // namespace
}  // namespace penstock::windows
