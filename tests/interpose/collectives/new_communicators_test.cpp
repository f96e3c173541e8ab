// Communicators that a program makes once its ranks use a GPU: on these the ranks agree on non-blocking
// collectives from the first one on. That those go by messages is seen in nonblocking_job.sh, which counts
// the messages of the test that is repeated for each way to make one.
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/interpose/collectives/comparison.hpp"
#include "tests/interpose/collectives/numbers.hpp"
#include "tests/support/memory.hpp"

namespace penstock::test_support {
namespace {

int size_of(MPI_Comm communicator) {
  int size = 0;
  MPI_Comm_size(communicator, &size);
  return size;
}

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

/// A block of numbers from each rank to each, which say whose they are.
struct Transpose {
  MPI_Comm communicator;
  int rank = rank_in(communicator);
  std::size_t ranks = static_cast<std::size_t>(size_of(communicator));
  Memory sent = numbers_on_device(World(), elements* ranks);
  Memory received = numbers_on_device(World(), elements* ranks);
  MPI_Request request = MPI_REQUEST_NULL;

  explicit Transpose(MPI_Comm on) : communicator(on) { write_all(sent, rank); }
  int start() {
    return MPI_Ialltoall(sent.data(), count, MPI_INT, received.data(), count, MPI_INT, communicator,
                         &request);
  }
  void expect_right() const {
    for (std::size_t from = 0; from < ranks; ++from)
      EXPECT_TRUE(counts_up(received, from * elements, elements, static_cast<int>(from) + rank * count));
  }
};

/// A way to make a communicator of all ranks.
struct Making {
  const char* name;
  MPI_Comm (*make)(const World& world);
};

MPI_Comm duplicate(const World& world) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(world.communicator, &made);
  return made;
}

MPI_Comm duplicate_with_info(const World& world) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup_with_info(world.communicator, MPI_INFO_NULL, &made);
  return made;
}

MPI_Comm split_in_reverse_order(const World& world) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split(world.communicator, 0, -world.rank, &made);
  return made;
}

MPI_Comm split_by_node(const World& world) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split_type(world.communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  return made;
}

MPI_Comm create_from_all(const World& world) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(world.communicator, &group);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_create(world.communicator, group, &made);
  MPI_Group_free(&group);
  return made;
}

MPI_Comm create_by_its_members(const World& world) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(world.communicator, &group);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_create_group(world.communicator, group, 3, &made);
  MPI_Group_free(&group);
  return made;
}

MPI_Comm make_grid(const World& world) {
  const std::array extents = {world.size, 1};
  const std::array periods = {0, 1};
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Cart_create(world.communicator, 2, extents.data(), periods.data(), 0, &made);
  return made;
}

MPI_Comm make_line(const World& world) {
  const int is_periodic = 0;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Cart_create(world.communicator, 1, &world.size, &is_periodic, 0, &made);
  return made;
}

MPI_Comm take_a_line_of_a_grid(const World& world) {
  MPI_Comm grid = make_grid(world);
  const std::array remain = {1, 0};
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Cart_sub(grid, remain.data(), &made);
  MPI_Comm_free(&grid);
  return made;
}

/// A chain.
MPI_Comm make_graph(const World& world) {
  std::vector<int> index;
  std::vector<int> edges;
  for (int rank = 0; rank < world.size; ++rank) {
    if (rank > 0) edges.push_back(rank - 1);
    if (rank + 1 < world.size) edges.push_back(rank + 1);
    index.push_back(static_cast<int>(edges.size()));
  }
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Graph_create(world.communicator, world.size, index.data(), edges.data(), 0, &made);
  return made;
}

MPI_Comm make_ring(const World& world) {
  const int before = (world.rank + world.size - 1) % world.size;
  const int after = (world.rank + 1) % world.size;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(world.communicator, 1, &before, MPI_UNWEIGHTED, 1, &after, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &made);
  return made;
}

MPI_Comm merge_the_first_and_the_others(const World& world) {
  const bool is_first = world.rank == 0;
  MPI_Comm side = MPI_COMM_NULL;
  MPI_Comm_split(world.communicator, is_first ? 0 : 1, 0, &side);
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Intercomm_create(side, 0, world.communicator, is_first ? 1 : 0, 4, &both);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Intercomm_merge(both, is_first ? 0 : 1, &made);
  MPI_Comm_free(&both);
  MPI_Comm_free(&side);
  return made;
}

class NewCommunicators : public testing::Test {
 protected:
  void SetUp() override {
    if (gpu_count() == 0) GTEST_SKIP() << "no GPU";
  }
  const World world;
};

class EachNewCommunicator : public NewCommunicators, public testing::WithParamInterface<Making> {};

TEST_P(EachNewCommunicator, carries_non_blocking_collectives_by_messages_from_the_first_on) {
  MPI_Comm made = GetParam().make(world);
  Transpose transpose(made);
  EXPECT_EQ(transpose.start(), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&transpose.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  transpose.expect_right();
  EXPECT_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(
    Made, EachNewCommunicator,
    testing::Values(Making{"MPI_Comm_dup", duplicate}, Making{"MPI_Comm_dup_with_info", duplicate_with_info},
                    Making{"MPI_Comm_split", split_in_reverse_order},
                    Making{"MPI_Comm_split_type", split_by_node}, Making{"MPI_Comm_create", create_from_all},
                    Making{"MPI_Comm_create_group", create_by_its_members},
                    Making{"MPI_Cart_create", make_grid}, Making{"MPI_Cart_sub", take_a_line_of_a_grid},
                    Making{"MPI_Graph_create", make_graph},
                    Making{"MPI_Dist_graph_create_adjacent", make_ring},
                    Making{"MPI_Intercomm_merge", merge_the_first_and_the_others}),
    [](const auto& instance) { return instance.param.name; });

/// The neighbours of a rank in a chain.
std::vector<int> neighbours_in_chain(const World& world) {
  std::vector<int> ranks;
  if (world.rank > 0) ranks.push_back(world.rank - 1);
  if (world.rank + 1 < world.size) ranks.push_back(world.rank + 1);
  return ranks;
}

/// A chain as a distributed graph.
MPI_Comm make_chain(const World& world) {
  const std::vector<int> around = neighbours_in_chain(world);
  const int degree = static_cast<int>(around.size());
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(world.communicator, degree, around.data(), MPI_UNWEIGHTED, degree,
                                 around.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  return made;
}

class EachTopology : public NewCommunicators, public testing::WithParamInterface<Making> {};

/// Each rank sends its neighbours one block after the other, and gets that which they have for it.
TEST_P(EachTopology, carries_non_blocking_collectives_among_neighbours_by_messages_from_the_first_on) {
  MPI_Comm made = GetParam().make(world);
  const std::vector<int> around = neighbours_in_chain(world);
  Memory sent = numbers_on_device(world, 2 * elements);
  Memory received = numbers_on_device(world, 2 * elements);
  write_all(sent, world.rank);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(
      MPI_Ineighbor_alltoall(sent.data(), count, MPI_INT, received.data(), count, MPI_INT, made, &request),
      MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  // on a line the first rank has a place for no neighbour, too
  const bool is_line = GetParam().make == make_line;
  const auto place = [&](int rank, int neighbour) {
    return neighbour > rank && (is_line || rank > 0) ? 1 : 0;
  };
  for (const int neighbour : around) {
    EXPECT_TRUE(counts_up(received, static_cast<std::size_t>(place(world.rank, neighbour)) * elements,
                          elements, neighbour + place(neighbour, world.rank) * count));
  }
  EXPECT_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(Made, EachTopology,
                         testing::Values(Making{"MPI_Cart_create", make_line},
                                         Making{"MPI_Graph_create", make_graph},
                                         Making{"MPI_Dist_graph_create_adjacent", make_chain}),
                         [](const auto& instance) { return instance.param.name; });

/// As a 3-D FFT does it: rows and columns, several exchanges under way on both.
TEST_F(NewCommunicators, of_rows_and_columns_have_several_collectives_under_way) {
  for (int round = 0; round < 3; ++round) {
    MPI_Comm row = MPI_COMM_NULL;
    MPI_Comm column = MPI_COMM_NULL;
    MPI_Comm_split(world.communicator, world.rank / 2, world.rank, &row);
    MPI_Comm_split(world.communicator, world.rank % 2, world.rank, &column);
    std::array transposes = {Transpose(row), Transpose(column), Transpose(row), Transpose(column)};
    for (Transpose& transpose : transposes) EXPECT_EQ(transpose.start(), MPI_SUCCESS);
    for (std::size_t i = transposes.size(); i-- > 0;)
      EXPECT_EQ(MPI_Wait(&transposes[i].request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (const Transpose& transpose : transposes) transpose.expect_right();
    EXPECT_EQ(MPI_Comm_free(&row), MPI_SUCCESS);
    EXPECT_EQ(MPI_Comm_free(&column), MPI_SUCCESS);
  }
}

TEST_F(NewCommunicators, do_not_hold_up_blocking_collectives_of_host_memory) {
  MPI_Comm made = duplicate(world);
  // whoever has something for all goes on at once where a plain MPI lets it, and back
  for (int round = 0; round < 20; ++round) {
    Transpose transpose(made);
    EXPECT_EQ(transpose.start(), MPI_SUCCESS);
    int number = world.rank == round % world.size ? round : -1;
    EXPECT_EQ(MPI_Bcast(&number, 1, MPI_INT, round % world.size, made), MPI_SUCCESS);
    EXPECT_EQ(number, round);
    EXPECT_EQ(MPI_Wait(&transpose.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    transpose.expect_right();
  }
  EXPECT_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
}

TEST_F(NewCommunicators, that_are_freed_at_once_leave_others_alone) {
  for (int round = 0; round < 30; ++round) {
    MPI_Comm unused = duplicate(world);
    EXPECT_EQ(MPI_Comm_free(&unused), MPI_SUCCESS);
    MPI_Comm made = split_in_reverse_order(world);
    Transpose transpose(made);
    EXPECT_EQ(transpose.start(), MPI_SUCCESS);
    // what is under way goes on
    EXPECT_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&transpose.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    transpose.expect_right();
  }
}

/// As many as a rank has places for in shared memory, and more, but never so many at a time.
TEST_F(NewCommunicators, carry_non_blocking_collectives_by_messages_after_very_many_others) {
  for (int i = 0; i < 2100; ++i) {
    MPI_Comm made = duplicate(world);
    ASSERT_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
  }
  MPI_Comm made = duplicate(world);
  Transpose transpose(made);
  EXPECT_EQ(transpose.start(), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&transpose.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  transpose.expect_right();
  EXPECT_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
}

void expect_transpose(MPI_Comm communicator) {
  Transpose transpose(communicator);
  EXPECT_EQ(transpose.start(), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&transpose.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  transpose.expect_right();
}

TEST_F(NewCommunicators, may_be_very_many) {
  std::vector<MPI_Comm> all;
  for (int i = 0; i < 600; ++i) all.push_back(duplicate(world));
  for (const std::size_t i : {0u, 100u, 599u}) expect_transpose(all[i]);
  for (MPI_Comm& communicator : all) EXPECT_EQ(MPI_Comm_free(&communicator), MPI_SUCCESS);
}

/// MPI_Comm_create_group is not collective over a communicator whose ranks could give spares back.
TEST_F(NewCommunicators, may_be_very_many_by_their_members_alone) {
  const Memory touched = numbers_on_device(world, elements);
  std::vector<MPI_Comm> all;
  for (int i = 0; i < 1500; ++i) all.push_back(create_by_its_members(world));
  for (MPI_Comm& communicator : all) EXPECT_EQ(MPI_Comm_free(&communicator), MPI_SUCCESS);
}

/// Of MPICH, which says how many it has when there are no more.
int communicators_of_library(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  int free = 0;
  int all = 0;
  const char* const numbers = std::strstr(text.data(), "(0/");
  EXPECT_TRUE(numbers != nullptr && std::sscanf(numbers, "(%d/%d free", &free, &all) == 2) << text.data();
  return all;
}

/// Before that, Penstock has some of its own, of which but one is used.
TEST_F(NewCommunicators, may_be_very_many_more_until_the_library_has_none_left) {
#ifdef OPEN_MPI
  GTEST_SKIP() << "which has very many more";
#endif
  const Memory touched = numbers_on_device(world, elements);
  MPI_Comm_set_errhandler(world.communicator, MPI_ERRORS_RETURN);
  std::vector<MPI_Comm> all = {duplicate(world)};
  expect_transpose(all.front());
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(world.communicator, world.rank % 2, 0, &half);
  int code = MPI_SUCCESS;
  for (MPI_Comm made = MPI_COMM_NULL; code == MPI_SUCCESS;) {
    code = MPI_Comm_dup(all.size() % 2 == 0 ? all.front() : world.communicator, &made);
    if (code == MPI_SUCCESS) all.push_back(made);
  }
  // besides these, MPI_COMM_WORLD, MPI_COMM_SELF, the half, and one for the messages of the first
  constexpr std::size_t others = 4;
  EXPECT_EQ(all.size() + others, static_cast<std::size_t>(communicators_of_library(code)));
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(all.back(), &handler);
  EXPECT_EQ(handler, MPI_ERRORS_RETURN);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, all.size() / 2, all.size() - 1}) {
    expect_transpose(all[i]);
    Memory memory = numbers_on_device(world, elements);
    write_all(memory, world.rank);
    EXPECT_EQ(MPI_Bcast(memory.data(), count, MPI_INT, 1, all[i]), MPI_SUCCESS);
    EXPECT_TRUE(counts_up(memory, 0, elements, 1));
  }
  expect_transpose(half);
  for (MPI_Comm& communicator : all) EXPECT_EQ(MPI_Comm_free(&communicator), MPI_SUCCESS);
  EXPECT_EQ(MPI_Comm_free(&half), MPI_SUCCESS);
  MPI_Comm made = duplicate(world);
  expect_transpose(made);
  EXPECT_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
  MPI_Comm_set_errhandler(world.communicator, MPI_ERRORS_ARE_FATAL);
}

/// What is made takes over how errors go, and not how they go while it is made.
TEST_F(NewCommunicators, have_the_error_handler_of_what_they_are_made_from) {
  const Memory touched = numbers_on_device(world, elements);
  MPI_Comm first = duplicate(world);
  for (const MPI_Errhandler wanted : {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN}) {
    MPI_Comm_set_errhandler(first, wanted);
    MPI_Comm made = MPI_COMM_NULL;
    EXPECT_EQ(MPI_Comm_dup(first, &made), MPI_SUCCESS);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(made, &handler);
    EXPECT_EQ(handler, wanted);
    MPI_Comm_get_errhandler(first, &handler);
    EXPECT_EQ(handler, wanted);
    EXPECT_EQ(MPI_Comm_free(&made), MPI_SUCCESS);
  }
  EXPECT_EQ(MPI_Comm_free(&first), MPI_SUCCESS);
}

}  // namespace
}  // namespace penstock::test_support
