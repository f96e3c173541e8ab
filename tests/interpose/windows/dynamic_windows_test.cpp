// Windows to which members attach memory: what is attached and when, and where accesses lead.
#include <cuda_runtime_api.h>

#include <numeric>
#include <optional>

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

TEST(DynamicWindows, forget_memory_that_was_detached_and_freed) {
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

TEST(DynamicWindows, see_another_end_or_another_memory_of_a_region_at_one_address) {
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

TEST(DynamicWindows, refuse_accesses_outside_of_what_is_attached) {
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
  EXPECT_EQ(put(19, 2), MPI_ERR_RMA_RANGE) << "of two regions";
  EXPECT_EQ(put(10, 40), MPI_ERR_RMA_RANGE) << "with a gap between them";
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

TEST(DynamicWindows, refuse_memory_that_cannot_be_attached_or_is_not) {
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

TEST(DynamicWindows, take_many_regions_but_not_any_number) {
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

TEST(DynamicWindows, of_memory_that_cannot_be_mapped_are_accessed_by_its_rank_alone) {
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

TEST(DynamicWindows, let_ranks_attach_while_others_access) {
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
