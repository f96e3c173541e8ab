// Lists of integers between GPUs that may travel as bitmaps: what arrives is what was sent, whether they do
// or not. Run through host memory, where lists of this size are looked at, as they are and in chunks as
// between nodes.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <type_traits>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr std::size_t list_bytes = 96u << 10;

int other() {
  return 1 - rank();
}

template <class T>
MPI_Datatype datatype_of() {
  if constexpr (std::is_same_v<T, std::int32_t>) return MPI_INT;
  if constexpr (std::is_same_v<T, std::uint32_t>) return MPI_UNSIGNED;
  if constexpr (std::is_same_v<T, std::int64_t>) return MPI_INT64_T;
  if constexpr (std::is_same_v<T, std::uint64_t>) return MPI_UINT64_T;
}

template <class T>
using List = std::vector<T>;

/// From `first` on, each larger by 1 to `largest_step` than the one before.
template <class T>
List<T> increasing(std::size_t count, T first, unsigned largest_step, unsigned seed = 1) {
  std::mt19937 random(seed);
  List<T> list(count);
  auto next = static_cast<std::make_unsigned_t<T>>(first);
  for (T& integer : list) {
    integer = static_cast<T>(next);
    next += static_cast<std::make_unsigned_t<T>>(1 + random() % largest_step);
  }
  return list;
}

template <class T>
Bytes bytes_of(const List<T>& list) {
  Bytes bytes(list.size() * sizeof(T));
  std::memcpy(bytes.data(), list.data(), bytes.size());
  return bytes;
}

/// A list in memory of a kind; of other content until it is written.
template <class T>
class ListBuffer {
 public:
  explicit ListBuffer(std::size_t count, MemoryKind kind = MemoryKind::device)
      : count_(count), buffer_(kind, count * sizeof(T), 99) {}
  explicit ListBuffer(const List<T>& list, MemoryKind kind = MemoryKind::device)
      : ListBuffer(list.size(), kind) {
    buffer_.write(bytes_of(list));
  }
  [[nodiscard]] void* data() const { return buffer_.data(); }
  [[nodiscard]] int count() const { return static_cast<int>(count_); }
  [[nodiscard]] bool holds(const List<T>& list) const {
    return buffer_.read(list.size() * sizeof(T)) == bytes_of(list) && buffer_.guard_is_intact();
  }

 private:
  std::size_t count_;
  Buffer buffer_;
};

template <class T>
void expect_to_arrive(const List<T>& list, const List<T>& expected, MPI_Comm communicator,
                      MemoryKind destination = MemoryKind::device) {
  if (rank() == 0) {
    const ListBuffer<T> sent(list);
    MPI_Send(sent.data(), sent.count(), datatype_of<T>(), 1, 3, communicator);
    EXPECT_TRUE(sent.holds(list)) << "sending changed it";
  } else {
    const ListBuffer<T> received(list.size(), destination);
    MPI_Status status;
    MPI_Recv(received.data(), received.count(), datatype_of<T>(), 0, 3, communicator, &status);
    int count = 0;
    MPI_Get_count(&status, datatype_of<T>(), &count);
    EXPECT_EQ(count, received.count());
    EXPECT_TRUE(received.holds(expected));
  }
}
template <class T>
void expect_to_arrive(const List<T>& list) {
  expect_to_arrive(list, list, MPI_COMM_WORLD);
}

template <class T>
class PackedLists : public testing::Test {
 protected:
  static constexpr std::size_t count = list_bytes / sizeof(T);
};
using Integers = testing::Types<std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(PackedLists, Integers);

TYPED_TEST(PackedLists, that_increase_arrive) {
  using T = TypeParam;
  for (const unsigned largest_step : {1u, 5u, 20u})
    expect_to_arrive(increasing<T>(this->count, 3, largest_step));
  expect_to_arrive(increasing<T>(this->count, std::numeric_limits<T>::min(), 3));
  expect_to_arrive(increasing<T>(this->count + 1, 7, 3));
}

TYPED_TEST(PackedLists, that_do_not_increase_arrive_as_they_are) {
  using T = TypeParam;
  List<T> list = increasing<T>(this->count, 3, 3);
  std::swap(list[this->count / 2], list[this->count / 2 + 1]);
  expect_to_arrive(list);
  std::shuffle(list.begin(), list.end(), std::mt19937(5));
  expect_to_arrive(list);
}

TYPED_TEST(PackedLists, are_looked_at_again_when_they_increase_again) {
  using T = TypeParam;
  const List<T> sorted = increasing<T>(this->count, 3, 3);
  const List<T> falling(sorted.rbegin(), sorted.rend());
  for (int i = 0; i < 3; ++i) expect_to_arrive(falling);
  for (int i = 0; i < 12; ++i) expect_to_arrive(sorted);
}

TEST(PackedListsOfInts, arrive_in_host_memory_and_where_there_is_more_room) {
  using T = std::int32_t;
  const List<T> list = increasing<T>(list_bytes / sizeof(T), 3, 3);
  for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::pinned, MemoryKind::managed})
    expect_to_arrive(list, list, MPI_COMM_WORLD, kind);
  if (rank() == 0) {
    const ListBuffer<T> sent(list);
    MPI_Send(sent.data(), sent.count(), MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else {
    const ListBuffer<T> received(list.size() + 5000);
    MPI_Status status;
    MPI_Recv(received.data(), received.count(), MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
             &status);
    int count = 0;
    MPI_Get_count(&status, MPI_INT, &count);
    EXPECT_EQ(static_cast<std::size_t>(count), list.size());
    EXPECT_TRUE(received.holds(list));
  }
}

TEST(PackedListsOfInts, received_as_bytes_in_pieces_or_too_short_arrive_as_any_message) {
  using T = std::int32_t;
  const List<T> list = increasing<T>(list_bytes / sizeof(T), 3, 3);
  const ErrorsReturned errors_returned;
  const auto half = static_cast<int>(list.size() / 2);
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_vector(static_cast<int>(list.size()), 1, 2, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  if (rank() == 0) {
    const ListBuffer<T> sent(list);
    for (int i = 0; i < 3; ++i) MPI_Send(sent.data(), sent.count(), MPI_INT, 1, i, MPI_COMM_WORLD);
  } else {
    const ListBuffer<T> received(list.size());
    MPI_Recv(received.data(), static_cast<int>(list_bytes), MPI_BYTE, 0, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    EXPECT_TRUE(received.holds(list));
    EXPECT_EQ(class_of(MPI_Recv(received.data(), half, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)),
              MPI_ERR_TRUNCATE);
    const ListBuffer<T> wide(List<T>(2 * list.size(), -1));
    MPI_Recv(wide.data(), 1, spread, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    List<T> expected(2 * list.size(), -1);
    for (std::size_t i = 0; i < list.size(); ++i) expected[2 * i] = list[i];
    EXPECT_TRUE(wide.holds(expected));
  }
  MPI_Type_free(&spread);
}

TEST(PackedListsOfInts, many_at_once_in_both_directions_arrive_though_memory_for_bitmaps_runs_out) {
  using T = std::uint32_t;
  constexpr int messages = 40;
  constexpr std::size_t count = list_bytes / sizeof(T);
  std::vector<ListBuffer<T>> sent;
  std::vector<ListBuffer<T>> received;
  std::vector<MPI_Request> requests(2 * messages);
  const auto list = [](int from, int message) {
    return increasing<T>(count, 1, 2, static_cast<unsigned>(2 * message + from));
  };
  for (int i = 0; i < messages; ++i) {
    sent.emplace_back(list(rank(), i));
    received.emplace_back(count);
  }
  for (int i = 0; i < messages; ++i) {
    const auto at = static_cast<std::size_t>(i);
    MPI_Irecv(received[at].data(), received[at].count(), MPI_UNSIGNED, other(), i, MPI_COMM_WORLD,
              &requests[2 * at]);
    MPI_Isend(sent[at].data(), sent[at].count(), MPI_UNSIGNED, other(), i, MPI_COMM_WORLD,
              &requests[2 * at + 1]);
  }
  MPI_Waitall(2 * messages, requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < messages; ++i)
    EXPECT_TRUE(received[static_cast<std::size_t>(i)].holds(list(other(), i))) << "message " << i;
}

TEST(PackedListsOfInts, arrive_in_order_from_every_kind_of_send) {
  using T = std::int32_t;
  const auto list = [](unsigned seed) { return increasing<T>(list_bytes / sizeof(T), 3, 4, seed); };
  if (rank() == 0) {
    const ListBuffer<T> first(list(1));
    const ListBuffer<T> second(list(2));
    const ListBuffer<T> third(list(3));
    MPI_Ssend(first.data(), first.count(), MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Request requests[2];
    MPI_Isend(second.data(), second.count(), MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(third.data(), third.count(), MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Start(&requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[1]);
  } else {
    const ListBuffer<T> received(list_bytes / sizeof(T));
    for (unsigned seed = 1; seed <= 3; ++seed) {
      MPI_Status status;
      MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      int count = 0;
      MPI_Get_count(&status, MPI_INT, &count);
      EXPECT_EQ(count, received.count());
      MPI_Recv(received.data(), received.count(), MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_TRUE(received.holds(list(seed)));
    }
  }
}

/// A communicator with the hint, from each call that gives it.
class VertexSets : public testing::TestWithParam<bool> {
 protected:
  VertexSets() {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "penstock_vertex_set", "true");
    if (GetParam()) {
      MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &communicator_);
    } else {
      MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
      MPI_Comm_set_info(communicator_, info);
    }
    MPI_Info_free(&info);
  }
  ~VertexSets() override { MPI_Comm_free(&communicator_); }

  MPI_Comm communicator_ = MPI_COMM_NULL;
};

TEST_P(VertexSets, arrive_in_increasing_order_and_twice_the_same_vertex_as_it_lies_there) {
  using T = std::uint32_t;
  const List<T> sorted = increasing<T>(list_bytes / sizeof(T), 3, 3);
  List<T> mixed = sorted;
  std::shuffle(mixed.begin(), mixed.end(), std::mt19937(5));
  expect_to_arrive(mixed, sorted, communicator_);
  mixed[7] = mixed[70];
  expect_to_arrive(mixed, mixed, communicator_);
}

TEST_P(VertexSets, are_no_sets_on_a_duplicate_nor_once_the_hint_is_taken_back) {
  using T = std::uint32_t;
  List<T> mixed = increasing<T>(list_bytes / sizeof(T), 3, 3);
  std::shuffle(mixed.begin(), mixed.end(), std::mt19937(5));
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup(communicator_, &duplicate);
  expect_to_arrive(mixed, mixed, duplicate);
  MPI_Comm_free(&duplicate);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "penstock_vertex_set", "false");
  MPI_Comm_set_info(communicator_, info);
  MPI_Info_free(&info);
  expect_to_arrive(mixed, mixed, communicator_);
}

TEST_P(VertexSets, are_told_of_by_MPI_Comm_get_info) {
  char value[MPI_MAX_INFO_VAL + 1] = {};
  int is_there = 0;
  MPI_Info used = MPI_INFO_NULL;
  MPI_Comm_get_info(communicator_, &used);
  MPI_Info_get(used, "penstock_vertex_set", MPI_MAX_INFO_VAL, value, &is_there);
  EXPECT_TRUE(is_there != 0 && std::strcmp(value, "true") == 0);
  MPI_Info_free(&used);
}

INSTANTIATE_TEST_SUITE_P(ByCall, VertexSets, testing::Bool(), [](const testing::TestParamInfo<bool>& given) {
  return given.param ? "when_duplicated" : "by_set_info";
});

}  // namespace
}  // namespace penstock::programs
