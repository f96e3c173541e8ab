// Runs on four ranks; every test is collective.
#include "interpose/calls/communicators.hpp"
#include "interpose/binding/mpi_level.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <mpi.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "interpose/binding/mpi_binding.hpp"
#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/collectives/agreement/collective_arrival.hpp"
#include "interpose/collectives/agreement/spare_communicators.hpp"
#include "interpose/collectives/schedules/message_schedule.hpp"
#include "interpose/progress/gathering.hpp"
#include "interpose/progress/progress.hpp"
#include "tests/interpose/recorder_double/recorder_double.hpp"

namespace penstock::interpose {

// without payloads to move there is nothing to wait for
Decision arrive(MPI_Comm, const Proposal&) {
  return Decision::library;
}
void arrive_at_new(MPI_Comm) {}
void take_back_arrival(MPI_Comm) noexcept {}
void note_leaving(MPI_Comm) noexcept {}
bool may_give_back(MPI_Comm) {
  return false;
}
bool give_back_spares(int) noexcept {
  return false;
}
TemporaryErrorHandler::TemporaryErrorHandler(MPI_Comm communicator, MPI_Errhandler handler) noexcept
    : communicator_(communicator), handler_(handler) {}
TemporaryErrorHandler::~TemporaryErrorHandler() = default;
void TemporaryErrorHandler::pass_on(MPI_Comm) const noexcept {}
int raise(MPI_Comm, int code) {
  return code;
}
void free_messages_of(MPI_Comm) {}
bool failed_alone(int) noexcept {
  return false;
}
std::shared_ptr<Gathering> gathering_on(MPI_Comm) noexcept {
  return nullptr;
}
bool come_to(Gathering*) noexcept {
  return false;
}
void gather_group(MPI_Group, std::uint64_t, bool) noexcept {}
void settle() {}

namespace {

using test::RecorderDouble;

int world_rank;
constexpr int ranks = 4;

std::uint64_t id_of(MPI_Comm communicator) {
  const CommunicatorInfo* const info = peek_info(communicator);
  return info != nullptr ? info->global_id : 0;
}

/// Whether the members of an intracommunicator have the same number.
bool agrees(MPI_Comm communicator, std::uint64_t number) {
  std::array<std::uint64_t, 2> range{number, ~number};
  MPI_Allreduce(MPI_IN_PLACE, range.data(), 2, MPI_UINT64_T, MPI_MAX, communicator);
  return number != 0 && range[0] == ~range[1];
}

bool has_one_id(MPI_Comm communicator) {
  return agrees(communicator, id_of(communicator));
}

MPI_Comm dup(MPI_Comm communicator) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(communicator, &made);
  return made;
}

MPI_Comm split(int color, int key) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, color, key, &made);
  return made;
}

/// Even ranks on one side, odd on the other.
MPI_Comm make_intercommunicator(MPI_Comm half) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_rank % 2 == 0 ? 1 : 0, 5, &made);
  return made;
}

TEST(Communicators, MPI_COMM_WORLD_and_SELF_have_the_numbers_that_the_format_gives_them) {
  EXPECT_EQ(peek_info(MPI_COMM_WORLD)->local_id, 1u);
  EXPECT_EQ(peek_info(MPI_COMM_SELF)->local_id, 2u);
  EXPECT_TRUE(has_one_id(MPI_COMM_WORLD));
  EXPECT_NE(id_of(MPI_COMM_WORLD), id_of(MPI_COMM_SELF));
  EXPECT_EQ(world_rank_of(MPI_COMM_SELF, 0), world_rank);
}

TEST(Communicators, the_null_communicator_has_no_info) {
  EXPECT_EQ(peek_info(MPI_COMM_NULL), nullptr);
  EXPECT_EQ(info_of(MPI_COMM_NULL), nullptr);
  EXPECT_EQ(world_rank_of(MPI_COMM_NULL, 0), -1);
}

TEST(Communicators, a_duplicate_has_an_id_of_its_own_that_is_equal_on_all_ranks) {
  MPI_Comm first = dup(MPI_COMM_WORLD);
  MPI_Comm second = dup(MPI_COMM_WORLD);
  MPI_Comm of_first = dup(first);
  for (const MPI_Comm communicator : {first, second, of_first}) EXPECT_TRUE(has_one_id(communicator));
  EXPECT_NE(id_of(first), id_of(MPI_COMM_WORLD));
  EXPECT_NE(id_of(first), id_of(second));
  EXPECT_NE(id_of(first), id_of(of_first));
  EXPECT_NE(peek_info(first)->local_id, peek_info(second)->local_id);
  for (MPI_Comm* communicator : {&first, &second, &of_first}) MPI_Comm_free(communicator);
}

TEST(Communicators, a_split_in_reverse_order_tells_the_world_ranks_of_its_members) {
  MPI_Comm half = split(world_rank % 2, -world_rank);
  EXPECT_TRUE(has_one_id(half));
  const std::vector<int> expected{2 + world_rank % 2, world_rank % 2};
  EXPECT_EQ(peek_info(half)->world_ranks, expected);
  EXPECT_EQ(peek_info(half)->size, 2);
  EXPECT_EQ(world_rank_of(half, 0), expected[0]);
  EXPECT_EQ(world_rank_of(half, 2), -1);
  EXPECT_EQ(world_rank_of(half, MPI_PROC_NULL), MPI_PROC_NULL);
  EXPECT_EQ(world_rank_of(half, MPI_ANY_SOURCE), MPI_ANY_SOURCE);
  MPI_Comm_free(&half);
}

TEST(Communicators, the_parts_of_one_split_have_different_ids) {
  MPI_Comm half = split(world_rank % 2, 0);
  const std::uint64_t mine = id_of(half);
  std::array<std::uint64_t, ranks> all{};
  MPI_Allgather(&mine, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
  EXPECT_EQ(all[0], all[2]);
  EXPECT_EQ(all[1], all[3]);
  EXPECT_NE(all[0], all[1]);
  MPI_Comm_free(&half);
}

TEST(Communicators, ranks_that_are_left_out_of_a_creation_stay_in_step_with_the_others) {
  MPI_Comm some = split(world_rank == 0 ? MPI_UNDEFINED : 0, 0);
  if (some != MPI_COMM_NULL) {
    EXPECT_TRUE(has_one_id(some));
    MPI_Comm_free(&some);
  }
  MPI_Comm all = dup(MPI_COMM_WORLD);
  EXPECT_TRUE(has_one_id(all));
  MPI_Comm_free(&all);
}

/// Which of two that are made at once is the first may differ from rank to rank.
TEST(Communicators, intercommunicators_that_two_threads_make_have_one_id_or_none_that_all_rely_on) {
  constexpr int rounds = 20;
  const int remote_leader = world_rank % 2 == 0 ? 1 : 0;
  std::array<MPI_Comm, 2> halves{split(world_rank % 2, 0), split(world_rank % 2, 0)};
  std::array<MPI_Comm, 2> peers{dup(MPI_COMM_WORLD), dup(MPI_COMM_WORLD)};
  for (int round = 0; round < rounds; ++round) {
    std::array<MPI_Comm, 2> made{MPI_COMM_NULL, MPI_COMM_NULL};
    const auto make = [&](std::size_t which) {
      MPI_Intercomm_create(halves[which], 0, peers[which], remote_leader, 5, &made[which]);
    };
    std::thread other(make, 1);
    make(0);
    other.join();
    for (MPI_Comm& communicator : made) {
      int is_relied_on = peek_info(communicator)->id_is_agreed ? 1 : 0;
      MPI_Allreduce(MPI_IN_PLACE, &is_relied_on, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      EXPECT_TRUE(agrees(MPI_COMM_WORLD, id_of(communicator)) || is_relied_on == 0);
      MPI_Comm_free(&communicator);
    }
  }
  for (std::size_t which : {0u, 1u}) {
    MPI_Comm_free(&halves[which]);
    MPI_Comm_free(&peers[which]);
  }
}

TEST(Communicators, a_group_that_makes_a_communicator_alone_agrees_on_its_id_and_others_stay_in_step) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  constexpr std::array<int, 2> members{1, 3};
  MPI_Group_incl(world, 2, members.data(), &some);
  if (world_rank % 2 == 1) {
    MPI_Comm first = MPI_COMM_NULL;
    MPI_Comm second = MPI_COMM_NULL;
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 9, &first);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 9, &second);
    EXPECT_TRUE(has_one_id(first));
    EXPECT_TRUE(has_one_id(second));
    EXPECT_NE(id_of(first), id_of(second));
    MPI_Comm_free(&first);
    MPI_Comm_free(&second);
  }
  MPI_Group_free(&some);
  MPI_Group_free(&world);
  MPI_Comm all = dup(MPI_COMM_WORLD);
  EXPECT_TRUE(has_one_id(all));
  MPI_Comm_free(&all);
}

TEST(Communicators, cartesian_and_graph_topologies_have_one_id_on_all_ranks) {
  constexpr std::array<int, 2> dims{2, 2};
  constexpr std::array<int, 2> periods{1, 0};
  constexpr std::array<int, 2> rows{0, 1};
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Comm row = MPI_COMM_NULL;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims.data(), periods.data(), 1, &grid);
  MPI_Cart_sub(grid, rows.data(), &row);
  const int left = (world_rank + ranks - 1) % ranks;
  const int right = (world_rank + 1) % ranks;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
  for (const MPI_Comm communicator : {grid, row, ring}) EXPECT_TRUE(has_one_id(communicator));
  for (MPI_Comm* communicator : {&grid, &row, &ring}) MPI_Comm_free(communicator);
}

TEST(Communicators, both_sides_of_an_intercommunicator_have_its_id_and_each_the_ranks_of_the_other) {
  MPI_Comm half = split(world_rank % 2, 0);
  MPI_Comm inter = make_intercommunicator(half);
  EXPECT_TRUE(agrees(MPI_COMM_WORLD, id_of(inter)));
  const int other = 1 - world_rank % 2;
  EXPECT_TRUE(peek_info(inter)->is_inter);
  EXPECT_EQ(peek_info(inter)->world_ranks, (std::vector<int>{other, other + 2}));

  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Intercomm_merge(inter, other, &merged);
  EXPECT_TRUE(has_one_id(merged));
  MPI_Comm again = make_intercommunicator(half);
  EXPECT_TRUE(agrees(MPI_COMM_WORLD, id_of(again)));
  EXPECT_NE(id_of(again), id_of(inter));
  for (MPI_Comm* communicator : {&again, &merged, &inter, &half}) MPI_Comm_free(communicator);
}

TEST(Communicators, duplicates_made_without_blocking_have_one_id_though_ranks_use_them_in_different_order) {
  std::array<MPI_Comm, 2> made{};
  std::array<MPI_Request, 2> requests{};
  for (std::size_t i = 0; i < 2; ++i) MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &requests[i]);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  const std::size_t first = world_rank % 2 == 0 ? 0 : 1;
  static_cast<void>(id_of(made[first]));
  static_cast<void>(id_of(made[1 - first]));
  EXPECT_TRUE(has_one_id(made[0]));
  EXPECT_TRUE(has_one_id(made[1]));
  EXPECT_NE(id_of(made[0]), id_of(made[1]));
  for (MPI_Comm& communicator : made) MPI_Comm_free(&communicator);
}

TEST(Communicators, the_info_of_a_duplicate_is_not_its_parents) {
  std::weak_ptr<CommunicatorInfo> watched;
  MPI_Comm made = dup(MPI_COMM_WORLD);
  EXPECT_NE(info_of(made), info_of(MPI_COMM_WORLD));
  watched = info_of(made);
  MPI_Comm of_made = dup(made);
  MPI_Comm_free(&made);
  EXPECT_TRUE(watched.expired());
  EXPECT_NE(peek_info(of_made), nullptr);
  MPI_Comm_free(&of_made);
}

bool is_vertex_set(MPI_Comm communicator) {
  const CommunicatorInfo* const info = peek_info(communicator);
  return info != nullptr && info->is_vertex_set;
}

TEST(Communicators, have_the_hint_of_vertex_sets_by_each_call_that_gives_it_and_no_plain_duplicate_has_it) {
  MPI_Info hint = MPI_INFO_NULL;
  MPI_Info_create(&hint);
  MPI_Info_set(hint, "penstock_vertex_set", "true");
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, hint, &duplicate);
  EXPECT_TRUE(is_vertex_set(duplicate));
  EXPECT_FALSE(is_vertex_set(MPI_COMM_WORLD));
  MPI_Comm plain = dup(duplicate);
  EXPECT_FALSE(is_vertex_set(plain));
  MPI_Comm_set_info(plain, hint);
  EXPECT_TRUE(is_vertex_set(plain));
  MPI_Info_set(hint, "penstock_vertex_set", "perhaps");
  MPI_Comm_set_info(plain, hint);
  EXPECT_TRUE(is_vertex_set(plain)) << "what is not valid changes nothing";
  MPI_Info_set(hint, "penstock_vertex_set", "false");
  MPI_Comm_set_info(plain, hint);
  EXPECT_FALSE(is_vertex_set(plain));
  MPI_Info_free(&hint);
  MPI_Comm_free(&plain);
  MPI_Comm_free(&duplicate);
}

#if PENSTOCK_HAS_MPI_4
TEST(Communicators, made_without_blocking_have_the_hint_of_their_info) {
  MPI_Info hint = MPI_INFO_NULL;
  MPI_Info_create(&hint);
  MPI_Info_set(hint, "penstock_vertex_set", "true");
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup_with_info(MPI_COMM_WORLD, hint, &duplicate, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_TRUE(is_vertex_set(duplicate));
  MPI_Info_free(&hint);
  MPI_Comm_free(&duplicate);
}
#endif

TEST(Communicators, an_info_that_is_kept_outlives_its_communicator) {
  MPI_Comm made = dup(MPI_COMM_WORLD);
  const std::shared_ptr<CommunicatorInfo> kept = info_of(made);
  MPI_Comm_free(&made);
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_EQ(kept->size, ranks);
}

TEST(Communicators, ten_thousand_duplicates_that_are_freed_leave_nothing_behind) {
  constexpr int rounds = 10'000;
  const auto make_and_free = [](int times) {
    std::uint32_t last_local_id = 0;
    for (int i = 0; i < times; ++i) {
      MPI_Comm made = dup(MPI_COMM_SELF);  // no other rank to wait for
      const std::weak_ptr<CommunicatorInfo> watched = info_of(made);
      // the handle is often that of the one before: it must not be taken for it
      ASSERT_NE(watched.lock()->local_id, last_local_id);
      last_local_id = watched.lock()->local_id;
      MPI_Comm_free(&made);
      ASSERT_TRUE(watched.expired());
    }
  };
  RecorderDouble::stop();
  make_and_free(rounds / 10);
  const std::size_t before = mallinfo2().uordblks;
  make_and_free(rounds);
  const std::size_t after = mallinfo2().uordblks;
  EXPECT_LT(after, before + rounds) << "less than a byte for each";
}

TEST(Communicators, threads_that_meet_a_communicator_together_find_one_info) {
  int provided = 0;
  MPI_Query_thread(&provided);
  if (provided != MPI_THREAD_MULTIPLE) GTEST_SKIP() << "no MPI_THREAD_MULTIPLE";
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &made);  // past the wrapper: nobody has seen it yet
  std::array<const CommunicatorInfo*, 4> seen{};
  {
    std::vector<std::jthread> threads;
    for (auto& info : seen) threads.emplace_back([&info, made] { info = peek_info(made); });
  }
  for (const CommunicatorInfo* const info : seen) {
    EXPECT_NE(info, nullptr);
    EXPECT_EQ(info, seen[0]);
  }
  EXPECT_TRUE(has_one_id(made));
  MPI_Comm_free(&made);
}

TEST(Communicators, a_recording_names_a_communicator_and_its_members) {
  RecorderDouble::start();
  MPI_Comm half = split(world_rank % 2, 0);
  MPI_Comm_set_name(half, "rows");
  RecorderDouble::stop();
  const auto seen = RecorderDouble::communicators();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(RecorderDouble::text(seen[0].members), world_rank % 2 == 0 ? "0,2" : "1,3");
  EXPECT_EQ(seen[0].size, 2);
  EXPECT_EQ(seen[0].rank, world_rank / 2);
  EXPECT_EQ(seen[1].local_id, seen[0].local_id);
  EXPECT_EQ(RecorderDouble::text(seen[1].name), "rows");
  MPI_Comm_free(&half);
}

TEST(Communicators, creating_calls_are_recorded_as_collectives_of_the_parent_in_order) {
  RecorderDouble::start();
  MPI_Comm first = dup(MPI_COMM_WORLD);
  MPI_Comm second = dup(MPI_COMM_WORLD);
  RecorderDouble::stop();
  const auto calls = RecorderDouble::calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(RecorderDouble::text(calls[0].function), "MPI_Comm_dup");
  EXPECT_EQ(calls[0].communicator, 1u);
  EXPECT_EQ(calls[1].collective_ordinal, calls[0].collective_ordinal + 1);
  MPI_Comm_free(&first);
  MPI_Comm_free(&second);
}

}  // namespace
}  // namespace penstock::interpose

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &penstock::interpose::world_rank);
  // what the first wrapped call does; here MPI_Init is the library's own
  if (penstock::interpose::bind_mpi() != penstock::interpose::Binding::bound) return 1;
  penstock::interpose::wake_up();
  penstock::interpose::open_communicators();
  const int failed = RUN_ALL_TESTS();
  penstock::interpose::close_communicators();
  penstock::interpose::fall_asleep();
  MPI_Finalize();
  return failed;
}
