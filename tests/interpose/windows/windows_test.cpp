// Windows of device memory, and of members with memory of other kinds: what is put, and what is got.
#include <cuda_runtime_api.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "tests/interpose/windows/window_memory.hpp"

namespace penstock::windows {
namespace {

constexpr std::array mixed = {MemoryKind::device, MemoryKind::pageable, MemoryKind::pinned};
constexpr std::array origins = {MemoryKind::device, MemoryKind::pageable, MemoryKind::pinned,
                                MemoryKind::managed, MemoryKind::async_pool};
constexpr std::size_t part = 1000;

std::vector<int> numbers(int first, std::size_t count = part) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}
int first_of(int origin, int target) {
  return 100'000 * (origin + 1) + 10'000 * target;
}

std::vector<int> slice(const std::vector<int>& values, int which) {
  const auto begin = values.begin() + which * static_cast<std::ptrdiff_t>(part);
  return {begin, begin + static_cast<std::ptrdiff_t>(part)};
}

TEST(DeviceWindows, have_the_attributes_of_the_callers_memory) {
  WindowOf<int> window(MemoryKind::device, 300);
  void* base = nullptr;
  int flag = 0;
  MPI_Win_get_attr(window.get(), MPI_WIN_BASE, static_cast<void*>(&base), &flag);
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(base, window.elements().data());
  MPI_Aint* size = nullptr;
  MPI_Win_get_attr(window.get(), MPI_WIN_SIZE, static_cast<void*>(&size), &flag);
  EXPECT_EQ(*size, 1200);
  int* number = nullptr;
  MPI_Win_get_attr(window.get(), MPI_WIN_DISP_UNIT, static_cast<void*>(&number), &flag);
  EXPECT_EQ(*number, 4);
  MPI_Win_get_attr(window.get(), MPI_WIN_CREATE_FLAVOR, static_cast<void*>(&number), &flag);
  EXPECT_EQ(*number, MPI_WIN_FLAVOR_CREATE);
  MPI_Win_get_attr(window.get(), MPI_WIN_MODEL, static_cast<void*>(&number), &flag);
  EXPECT_EQ(*number, MPI_WIN_UNIFIED);
}

TEST(DeviceWindows, share_no_memory_but_the_members_own) {
  WindowOf<int> window(MemoryKind::device, 300);
  for (int member = 0; member < ranks(); ++member) {
    MPI_Aint size = -1;
    int unit = -1;
    void* base = nullptr;
    EXPECT_EQ(MPI_Win_shared_query(window.get(), member, &size, &unit, static_cast<void*>(&base)),
              MPI_SUCCESS);
    EXPECT_EQ(size, member == rank() ? 1200 : 0);
    EXPECT_EQ(unit, 4);
    EXPECT_EQ(base, member == rank() ? window.elements().data() : nullptr);
  }
  MPI_Aint size = -1;
  int unit = -1;
  void* base = nullptr;
  EXPECT_EQ(class_of(MPI_Win_shared_query(window.get(), ranks(), &size, &unit, static_cast<void*>(&base))),
            MPI_ERR_RANK);
}

TEST(DeviceWindows, have_the_lowest_rank_with_memory_in_the_place_of_none) {
  const Elements<char> memory(MemoryKind::device, 300);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(rank() == 0 ? nullptr : memory.data(), rank() == 0 ? 0 : 300, 1 + rank(), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &window);
  MPI_Aint size = -1;
  int unit = -1;
  void* base = nullptr;
  EXPECT_EQ(MPI_Win_shared_query(window, MPI_PROC_NULL, &size, &unit, static_cast<void*>(&base)),
            MPI_SUCCESS);
  EXPECT_EQ(size, rank() == 1 ? 300 : 0);
  EXPECT_EQ(unit, 2);
  EXPECT_EQ(base, rank() == 1 ? memory.data() : nullptr);
  MPI_Win_free(&window);
}

/// The library's own window, which it frees, has no memory.
TEST(DeviceWindows, have_their_attributes_in_delete_callbacks_too) {
  static void* base;
  static MPI_Aint size;
  const auto look = [](MPI_Win window, int, void*, void*) -> int {
    int flag = 0;
    MPI_Aint* found = nullptr;
    MPI_Win_get_attr(window, MPI_WIN_BASE, static_cast<void*>(&base), &flag);
    MPI_Win_get_attr(window, MPI_WIN_SIZE, static_cast<void*>(&found), &flag);
    size = flag != 0 ? *found : 0;
    return MPI_SUCCESS;
  };
  const Elements<int> elements(MemoryKind::device, 300);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(elements.data(), 1200, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  int key = 0;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, look, &key, nullptr);
  MPI_Win_set_attr(window, key, nullptr);
  MPI_Win_free_keyval(&key);
  base = nullptr;
  size = 0;
  MPI_Win_free(&window);
  EXPECT_EQ(base, elements.data());
  EXPECT_EQ(size, 1200);
}

/// Its base may lie anywhere.
TEST(DeviceWindows, of_which_no_member_has_bytes_are_the_librarys) {
  if (!library_makes_windows()) GTEST_SKIP() << "this MPI makes no windows here";
  const Elements<int> elements(MemoryKind::device, 1);
  MPI_Win window = MPI_WIN_NULL;
  EXPECT_EQ(MPI_Win_create(elements.data(), 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window), MPI_SUCCESS);
  MPI_Win_free(&window);
}

TEST(DeviceWindows, may_have_members_without_bytes_beside_others_on_the_host) {
  if (!library_makes_windows()) GTEST_SKIP() << "this MPI makes no windows here";
  const bool has_bytes = rank() == 0;
  const Elements<int> elements(has_bytes ? MemoryKind::pageable : MemoryKind::device, 10);
  MPI_Win window = MPI_WIN_NULL;
  EXPECT_EQ(MPI_Win_create(elements.data(), has_bytes ? 40 : 0, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window),
            MPI_SUCCESS);
  MPI_Win_free(&window);
}

int copied_attributes = 0;
int count_deletion(MPI_Win, int, void*, void*) {
  ++copied_attributes;
  return MPI_SUCCESS;
}

TEST(DeviceWindows, keep_names_attributes_and_groups) {
  int key = 0;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, count_deletion, &key, nullptr);
  copied_attributes = 0;
  {
    const WindowOf<int> window(MemoryKind::device, 10);
    MPI_Win_set_name(window.get(), "halo");
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    MPI_Win_get_name(window.get(), name.data(), &length);
    EXPECT_STREQ(name.data(), "halo");
    int value = 5;
    MPI_Win_set_attr(window.get(), key, &value);
    int* found = nullptr;
    int flag = 0;
    MPI_Win_get_attr(window.get(), key, static_cast<void*>(&found), &flag);
    EXPECT_EQ(found, &value);
    MPI_Group of_window = MPI_GROUP_NULL;
    MPI_Group of_world = MPI_GROUP_NULL;
    MPI_Win_get_group(window.get(), &of_window);
    MPI_Comm_group(MPI_COMM_WORLD, &of_world);
    int result = MPI_UNEQUAL;
    MPI_Group_compare(of_window, of_world, &result);
    EXPECT_EQ(result, MPI_IDENT);
    MPI_Group_free(&of_window);
    MPI_Group_free(&of_world);
  }
  EXPECT_EQ(copied_attributes, 1);
  MPI_Win_free_keyval(&key);
}

class Kinds : public testing::TestWithParam<std::tuple<MemoryKind, int>> {
 protected:
  void SetUp() override { PENSTOCK_SKIP_WITHOUT_WINDOW(kind_of_rank(mixed, shift)); }
  MemoryKind origin_kind = std::get<0>(GetParam());
  int shift = std::get<1>(GetParam());  ///< ranks' kinds of memory, rotated
};

TEST_P(Kinds, MPI_Put_writes_into_memory_of_every_member) {
  const auto all = static_cast<std::size_t>(ranks());
  WindowOf<int> window(kind_of_rank(mixed, shift), part * all, -1);
  Elements<int> origin(origin_kind, part * all);
  std::vector<int> values;
  for (int target = 0; target < ranks(); ++target) {
    const auto one = numbers(first_of(rank(), target));
    values.insert(values.end(), one.begin(), one.end());
  }
  origin.set(values);
  MPI_Win_fence(0, window.get());
  for (int target = 0; target < ranks(); ++target) {
    EXPECT_EQ(MPI_Put(origin.data() + target * static_cast<int>(part), part, MPI_INT, target,
                      rank() * static_cast<int>(part), part, MPI_INT, window.get()),
              MPI_SUCCESS);
  }
  MPI_Win_fence(0, window.get());
  const std::vector<int> got = window.elements().get();
  for (int from = 0; from < ranks(); ++from)
    EXPECT_EQ(slice(got, from), numbers(first_of(from, rank()))) << from;
}

TEST_P(Kinds, MPI_Get_reads_memory_of_every_member) {
  const auto all = static_cast<std::size_t>(ranks());
  WindowOf<int> window(kind_of_rank(mixed, shift), part);
  window.elements().set(numbers(first_of(rank(), 0)));
  const Elements<int> origin(origin_kind, part * all, -1);
  MPI_Win_fence(0, window.get());
  for (int target = 0; target < ranks(); ++target) {
    EXPECT_EQ(MPI_Get(origin.data() + target * static_cast<int>(part), part, MPI_INT, target, 0, part,
                      MPI_INT, window.get()),
              MPI_SUCCESS);
  }
  MPI_Win_fence(0, window.get());
  const std::vector<int> got = origin.get();
  for (int target = 0; target < ranks(); ++target)
    EXPECT_EQ(slice(got, target), numbers(first_of(target, 0)));
}

/// Every second and third element: rows of a matrix; and irregular blocks.
std::array<MPI_Datatype, 3> types_of_twelve() {
  std::array<MPI_Datatype, 3> types{};
  MPI_Type_vector(6, 2, 5, MPI_INT, types.data());
  const std::array<int, 4> lengths{1, 5, 2, 4};
  const std::array<int, 4> places{20, 0, 9, 30};
  MPI_Type_indexed(4, lengths.data(), places.data(), MPI_INT, &types[1]);
  MPI_Type_contiguous(12, MPI_INT, &types[2]);
  for (MPI_Datatype& type : types) MPI_Type_commit(&type);
  return types;
}

/// The elements of a message, in its order, by the MPI library itself.
std::vector<int> packed(const std::vector<int>& values, MPI_Datatype type) {
  std::vector<int> result(12);
  int position = 0;
  MPI_Pack(values.data(), 1, type, result.data(), 48, &position, MPI_COMM_SELF);
  return result;
}
void unpack(const std::vector<int>& elements, std::vector<int>& values, MPI_Datatype type) {
  int position = 0;
  MPI_Unpack(elements.data(), 48, &position, values.data(), 1, type, MPI_COMM_SELF);
}

TEST_P(Kinds, MPI_Put_and_MPI_Get_lay_bytes_out_as_both_datatypes_say) {
  constexpr std::size_t room = 40;
  auto types = types_of_twelve();
  const int target = (rank() + 1) % ranks();
  const int before = (rank() + ranks() - 1) % ranks();
  for (MPI_Datatype origin_type : types) {
    for (MPI_Datatype target_type : types) {
      WindowOf<int> window(kind_of_rank(mixed, shift), room + 3, -1);
      Elements<int> origin(origin_kind, room);
      const Elements<int> back(origin_kind, room, -2);
      origin.set(numbers(1000 * rank(), room));
      MPI_Win_fence(0, window.get());
      ASSERT_EQ(MPI_Put(origin.data(), 1, origin_type, target, 3, 1, target_type, window.get()), MPI_SUCCESS);
      MPI_Win_fence(0, window.get());
      std::vector<int> expected(room, -1);
      unpack(packed(numbers(1000 * before, room), origin_type), expected, target_type);
      expected.insert(expected.begin(), 3, -1);
      EXPECT_EQ(window.elements().get(), expected);
      ASSERT_EQ(MPI_Get(back.data(), 1, origin_type, target, 3, 1, target_type, window.get()), MPI_SUCCESS);
      MPI_Win_fence(0, window.get());
      expected.assign(room, -2);
      unpack(packed(numbers(1000 * rank(), room), origin_type), expected, origin_type);
      EXPECT_EQ(back.get(), expected);
    }
  }
  for (MPI_Datatype& type : types) MPI_Type_free(&type);
}

TEST_P(Kinds, MPI_Rput_and_MPI_Rget_are_complete_when_their_requests_are) {
  WindowOf<int> window(kind_of_rank(mixed, shift), part, -1);
  Elements<int> origin(origin_kind, part);
  const Elements<int> back(origin_kind, part, -2);
  origin.set(numbers(first_of(rank(), 1)));
  const int target = (rank() + 1) % ranks();
  MPI_Win_lock_all(0, window.get());
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Rput(origin.data(), part, MPI_INT, target, 0, part, MPI_INT, window.get(), &request),
            MPI_SUCCESS);
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  MPI_Win_flush(target, window.get());
  ASSERT_EQ(MPI_Rget(back.data(), part, MPI_INT, target, 0, part, MPI_INT, window.get(), &request),
            MPI_SUCCESS);
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(back.get(), numbers(first_of(rank(), 1)));
  ASSERT_EQ(MPI_Rput(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, 0, MPI_INT, window.get(), &request), MPI_SUCCESS);
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  MPI_Win_unlock_all(window.get());
}

std::string name_of_case(const testing::TestParamInfo<Kinds::ParamType>& info) {
  return std::string(test_support::name_of(std::get<0>(info.param))) + "_" +
         std::to_string(std::get<1>(info.param));
}
TEST_P(Kinds, a_flush_ends_what_a_request_stands_for) {
  WindowOf<int> window(kind_of_rank(mixed, shift), part);
  window.elements().set(numbers(first_of(rank(), 0)));
  Elements<int> origin(origin_kind, part, -1);
  const int target = (rank() + 1) % ranks();
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.get());
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Rget(origin.data(), part, MPI_INT, target, 0, part, MPI_INT, window.get(), &request),
            MPI_SUCCESS);
  MPI_Win_flush(target, window.get());
  EXPECT_EQ(origin.get(), numbers(first_of(target, 0)));
  origin.set(numbers(5));
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(origin.get(), numbers(5));
  MPI_Win_unlock(target, window.get());
}

INSTANTIATE_TEST_SUITE_P(Origins, Kinds,
                         testing::Combine(testing::ValuesIn(origins), testing::Values(0, 1, 2)),
                         name_of_case);

TEST(DeviceWindows, take_large_puts_and_gets) {
  constexpr std::size_t count = 3'000'000;
  for (const MemoryKind origin_kind : {MemoryKind::device, MemoryKind::pageable}) {
    WindowOf<int> window(kind_of_rank(mixed), count, -1);
    Elements<int> origin(origin_kind, count);
    origin.set(numbers(rank(), count));
    const int target = (rank() + 1) % ranks();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.get());
    MPI_Put(origin.data(), count, MPI_INT, target, 0, count, MPI_INT, window.get());
    MPI_Win_unlock(target, window.get());
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(window.elements().get() == numbers((rank() + ranks() - 1) % ranks(), count));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(DeviceWindows, may_have_members_without_memory_and_units_of_their_own) {
  const bool is_empty = rank() % 2 == 1;
  Elements<int> memory(MemoryKind::device, 64, -1);
  MPI_Win window = MPI_WIN_NULL;
  ASSERT_EQ(MPI_Win_create(is_empty ? nullptr : memory.data(), is_empty ? 0 : 256, rank() == 0 ? 4 : 8,
                           MPI_INFO_NULL, MPI_COMM_WORLD, &window),
            MPI_SUCCESS);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, window);
  int value = 7 + rank();
  EXPECT_EQ(MPI_Put(&value, 1, MPI_INT, 0, 3 + rank(), 1, MPI_INT, window), MPI_SUCCESS);
  if (ranks() > 2) {
    EXPECT_EQ(MPI_Put(&value, 1, MPI_INT, 2, rank(), 1, MPI_INT, window), MPI_SUCCESS);
  }
  EXPECT_EQ(MPI_Put(&value, 0, MPI_INT, 1, 0, 0, MPI_INT, window), MPI_SUCCESS);
  EXPECT_EQ(class_of(MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, window)), MPI_ERR_RMA_RANGE);
  MPI_Win_fence(0, window);
  for (int from = 0; from < ranks(); ++from) {
    const auto place = static_cast<std::size_t>(from);
    if (rank() == 0) {
      EXPECT_EQ(memory[3 + place], 7 + from);
    }
    if (rank() == 2) {
      EXPECT_EQ(memory[2 * place], 7 + from);
    }
  }
  MPI_Win_free(&window);
  EXPECT_EQ(window, MPI_WIN_NULL);
}

TEST(DeviceWindows, may_begin_within_an_allocation) {
  Elements<int> memory(MemoryKind::device, 1000, -1);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(memory.data() + 500, 400, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  const int value = rank();
  MPI_Put(&value, 1, MPI_INT, (rank() + 1) % ranks(), 99, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  EXPECT_EQ(memory[599], (rank() + ranks() - 1) % ranks());
  EXPECT_EQ(memory[600], -1);
  MPI_Win_free(&window);
}

TEST(DeviceWindows, of_one_rank_are_windows_too) {
  Elements<int> memory(MemoryKind::device, 10);
  memory.set(numbers(0, 10));
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(memory.data(), 40, 4, MPI_INFO_NULL, MPI_COMM_SELF, &window);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  std::array<int, 2> got{};
  MPI_Get(got.data(), 2, MPI_INT, 0, 4, 2, MPI_INT, window);
  MPI_Win_flush(0, window);
  EXPECT_EQ(got, (std::array{4, 5}));
  MPI_Win_unlock(0, window);
  MPI_Win_free(&window);
}

TEST(HostWindows, stay_windows_of_the_library) {
  PENSTOCK_SKIP_WITHOUT_WINDOW(MemoryKind::pageable);
  WindowOf<int> window(MemoryKind::pageable, 10, -1);
  MPI_Win_fence(0, window.get());
  const int value = rank();
  MPI_Put(&value, 1, MPI_INT, (rank() + 1) % ranks(), 4, 1, MPI_INT, window.get());
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(window.elements()[4], (rank() + ranks() - 1) % ranks());
}

TEST(HostWindows, take_device_buffers_of_absolute_addresses) {
  PENSTOCK_SKIP_WITHOUT_WINDOW(MemoryKind::pageable);
  WindowOf<int> window(MemoryKind::pageable, 10, -1);
  int on_host = 10 + rank();
  const Elements<int> on_device(MemoryKind::device, 1, 20 + rank());
  const Elements<int> managed(MemoryKind::managed, 1, 30 + rank());
  const std::array<int, 3> lengths{1, 1, 1};
  std::array<MPI_Aint, 3> addresses{};
  MPI_Get_address(&on_host, addresses.data());
  MPI_Get_address(on_device.data(), &addresses[1]);
  MPI_Get_address(managed.data(), &addresses[2]);
  MPI_Datatype absolute = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(3, lengths.data(), addresses.data(), MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  const int before = (rank() + ranks() - 1) % ranks();
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(MPI_Put(MPI_BOTTOM, 1, absolute, (rank() + 1) % ranks(), 4, 3, MPI_INT, window.get()),
            MPI_SUCCESS);
  MPI_Win_fence(0, window.get());
  const std::vector<int> got = window.elements().get();
  EXPECT_EQ(std::vector<int>(got.begin() + 4, got.begin() + 7),
            (std::vector<int>{10 + before, 20 + before, 30 + before}));
  EXPECT_EQ(MPI_Get(MPI_BOTTOM, 1, absolute, (rank() + 1) % ranks(), 4, 3, MPI_INT, window.get()),
            MPI_SUCCESS);
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(on_device[0], 20 + rank());
  MPI_Type_free(&absolute);
}

TEST(DeviceWindows, are_allocated_where_MPI_Win_allocate_is_asked_for_device_memory) {
  const DeviceMemoryInfo info;
  const bool asks = rank() != 1;  // that one gets memory of the host
  int* base = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  ASSERT_EQ(MPI_Win_allocate(80, 4, asks ? info.get() : MPI_INFO_NULL, MPI_COMM_WORLD,
                             static_cast<void*>(&base), &window),
            MPI_SUCCESS);
  void* known = nullptr;
  int* flavor = nullptr;
  int flag = 0;
  MPI_Win_get_attr(window, MPI_WIN_BASE, static_cast<void*>(&known), &flag);
  EXPECT_EQ(known, base);
  MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, static_cast<void*>(&flavor), &flag);
  EXPECT_EQ(*flavor, MPI_WIN_FLAVOR_ALLOCATE);
  cudaPointerAttributes attributes{};
  cudaPointerGetAttributes(&attributes, base);
  EXPECT_EQ(attributes.type == cudaMemoryTypeDevice, asks);
  MPI_Win_fence(0, window);
  const int sent = 5 + rank();
  MPI_Put(&sent, 1, MPI_INT, (rank() + 1) % ranks(), 19, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  int got = -1;
  MPI_Get(&got, 1, MPI_INT, rank(), 19, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  EXPECT_EQ(got, 5 + (rank() + ranks() - 1) % ranks());
  if (!asks) {
    EXPECT_EQ(base[19], got);
  }
  MPI_Win_free(&window);
}

TEST(DeviceWindows, that_cannot_be_mapped_are_the_librarys) {
  if (std::getenv("PENSTOCK_OWN_WINDOWS") != nullptr) GTEST_SKIP() << "what the library makes is not seen";
  if (!library_makes_windows()) GTEST_SKIP() << "this MPI makes no windows here";
  WindowOf<int> window(rank() == 0 ? MemoryKind::async_pool : MemoryKind::pageable, 10);
  int* model = nullptr;
  int flag = 0;
  MPI_Win_get_attr(window.get(), MPI_WIN_MODEL, static_cast<void*>(&model), &flag);
  if (rank() == 0) {
    EXPECT_EQ(*model, MPI_WIN_SEPARATE);
  }
  MPI_Win_fence(0, window.get());
  if (rank() == 1) {
    const int sent = 5;
    MPI_Put(&sent, 1, MPI_INT, 0, 7, 1, MPI_INT, window.get());
  }
  MPI_Win_fence(0, window.get());
  if (rank() == 0) {
    EXPECT_EQ(window.elements()[7], 5);
    EXPECT_EQ(window.elements()[6], 0);
  }
}

TEST(DeviceWindows, raise_errors_of_accesses_that_lead_nowhere) {
  const WindowOf<int> window(MemoryKind::device, 10);
  int value = 0;
  const auto put = [&](int target, MPI_Aint place, int count, MPI_Datatype type) {
    return class_of(MPI_Put(&value, count, type, target, place, count, type, window.get()));
  };
  EXPECT_EQ(put(0, 0, 1, MPI_INT), MPI_ERR_RMA_SYNC);
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(put(0, 10, 1, MPI_INT), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(put(0, 9, 2, MPI_INT), MPI_ERR_RMA_RANGE);
  EXPECT_EQ(put(0, -1, 1, MPI_INT), MPI_ERR_DISP);
  EXPECT_EQ(put(ranks(), 0, 1, MPI_INT), MPI_ERR_RANK);
  EXPECT_EQ(put(0, 0, -1, MPI_INT), MPI_ERR_COUNT);
  EXPECT_EQ(put(0, 0, 1, MPI_DATATYPE_NULL), MPI_ERR_TYPE);
  EXPECT_EQ(put(MPI_PROC_NULL, 0, 1, MPI_INT), MPI_SUCCESS);
  EXPECT_EQ(class_of(MPI_Put(&value, 1, MPI_INT, 0, 0, 0, MPI_INT, window.get())), MPI_SUCCESS);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get());
  EXPECT_EQ(put(0, 0, 1, MPI_INT), MPI_ERR_RMA_SYNC);
}

}  // namespace
}  // namespace penstock::windows
