// How the members of a window of device memory synchronise, and what kernels that the application queued
// before mean for it.
#include <array>

#include "tests/interpose/windows/window_memory.hpp"

namespace penstock::windows {
namespace {

constexpr std::array mixed = {MemoryKind::device, MemoryKind::pageable};

TEST(Epochs, an_exclusive_lock_keeps_others_out) {
  WindowOf<int> window(kind_of_rank(mixed), 1, 0);
  constexpr int rounds = 50;
  for (int round = 0; round < rounds; ++round) {
    for (int target = 0; target < ranks(); ++target) {
      int value = -1;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window.get());
      MPI_Get(&value, 1, MPI_INT, target, 0, 1, MPI_INT, window.get());
      MPI_Win_flush(target, window.get());
      ++value;
      MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, window.get());
      MPI_Win_unlock(target, window.get());
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(window.elements()[0], rounds * ranks());
}

TEST(Epochs, shared_locks_are_held_together) {
  const WindowOf<int> window(MemoryKind::device, 1);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.get());
  MPI_Barrier(MPI_COMM_WORLD);  // all hold it
  MPI_Win_unlock(0, window.get());
  MPI_Win_lock_all(0, window.get());
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(window.get());
}

TEST(Epochs, a_rank_that_takes_a_lock_again_and_again_lets_others_have_it) {
  WindowOf<int> window(MemoryKind::device, 1, 0);
  if (rank() == 0) {
    for (int value = 0; value != ranks() - 1;) {
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.get());
      MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, window.get());
      MPI_Win_unlock(0, window.get());
    }
  } else {
    const int one = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.get());
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window.get());
    MPI_Win_unlock(0, window.get());
  }
}

TEST(Epochs, locks_of_several_targets_are_held_together) {
  const WindowOf<int> window(MemoryKind::device, 1);
  for (int target = 0; target < ranks(); ++target) MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.get());
  const int value = rank();
  for (int target = 0; target < ranks(); ++target)
    EXPECT_EQ(MPI_Accumulate(&value, 1, MPI_INT, target, 0, 1, MPI_INT, MPI_MAX, window.get()), MPI_SUCCESS);
  for (int target = 0; target < ranks(); ++target) MPI_Win_unlock(target, window.get());
}

MPI_Group group_of(std::initializer_list<int> members) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(members.size()), members.begin(), &group);
  MPI_Group_free(&world);
  return group;
}

TEST(Epochs, MPI_Win_wait_returns_when_all_origins_have_completed) {
  for (int round = 0; round < 20; ++round) {
    WindowOf<int> window(kind_of_rank(mixed), 8, -1);
    MPI_Group neighbours = group_of({(rank() + 1) % ranks(), (rank() + ranks() - 1) % ranks()});
    if (ranks() == 2) {
      MPI_Group_free(&neighbours);
      neighbours = group_of({1 - rank()});
    }
    MPI_Win_post(neighbours, 0, window.get());
    MPI_Win_start(neighbours, 0, window.get());
    const int value = 100 * round + rank();
    EXPECT_EQ(MPI_Put(&value, 1, MPI_INT, (rank() + 1) % ranks(), rank(), 1, MPI_INT, window.get()),
              MPI_SUCCESS);
    MPI_Win_complete(window.get());
    if (round % 2 == 0) {
      MPI_Win_wait(window.get());
    } else {
      for (int flag = 0; flag == 0;) MPI_Win_test(window.get(), &flag);
    }
    const int before = (rank() + ranks() - 1) % ranks();
    EXPECT_EQ(window.elements()[static_cast<std::size_t>(before)], 100 * round + before);
    MPI_Group_free(&neighbours);
  }
}

TEST(Epochs, MPI_Win_fence_orders_puts_before_what_the_target_does_next) {
  WindowOf<int> window(kind_of_rank(mixed), 4, 0);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window.get());
  for (int round = 1; round < 50; ++round) {
    MPI_Put(&round, 1, MPI_INT, (rank() + 1) % ranks(), 2, 1, MPI_INT, window.get());
    MPI_Win_fence(0, window.get());
    EXPECT_EQ(window.elements()[2], round);
    MPI_Win_fence(0, window.get());
  }
}

TEST(Epochs, what_was_queued_on_the_GPU_before_is_seen_by_the_others) {
  constexpr std::size_t count = 2'000'000;
  WindowOf<int> window(MemoryKind::device, count, -1);
  Elements<int> pinned(MemoryKind::pinned, count, 1);
  const int target = (rank() + 1) % ranks();
  const auto queue = [&](int value) {
    pinned.set(std::vector<int>(count, value));
    window.elements().memory().write_in_stream_order(0, pinned.data(), count * sizeof(int));
  };
  int value = -2;
  queue(1);
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(MPI_Get(&value, 1, MPI_INT, target, count - 1, 1, MPI_INT, window.get()), MPI_SUCCESS);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window.get());
  EXPECT_EQ(value, 1);

  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank(), 0, window.get());
  queue(2);
  MPI_Win_unlock(rank(), window.get());
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window.get());
  EXPECT_EQ(MPI_Get(&value, 1, MPI_INT, target, count - 1, 1, MPI_INT, window.get()), MPI_SUCCESS);
  MPI_Win_flush_all(window.get());
  EXPECT_EQ(value, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  queue(3);
  MPI_Win_sync(window.get());
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(MPI_Get(&value, 1, MPI_INT, target, count - 1, 1, MPI_INT, window.get()), MPI_SUCCESS);
  MPI_Win_flush_local(target, window.get());
  EXPECT_EQ(value, 3);
  MPI_Win_unlock_all(window.get());
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  queue(4);
  MPI_Win_post(all, 0, window.get());
  MPI_Win_start(all, 0, window.get());
  EXPECT_EQ(MPI_Get(&value, 1, MPI_INT, target, count - 1, 1, MPI_INT, window.get()), MPI_SUCCESS);
  MPI_Win_complete(window.get());
  EXPECT_EQ(value, 4);
  MPI_Win_wait(window.get());
  MPI_Group_free(&all);
}

TEST(Epochs, a_put_reads_what_was_queued_before_it) {
  constexpr std::size_t count = 2'000'000;
  for (const MemoryKind target_kind : {MemoryKind::device, MemoryKind::pageable}) {
    PENSTOCK_SKIP_WITHOUT_WINDOW(target_kind);
    WindowOf<int> window(target_kind, count, -1);
    Elements<int> pinned(MemoryKind::pinned, count, 5 + rank());
    Elements<int> origin(MemoryKind::device, count, -3);
    MPI_Win_fence(0, window.get());
    origin.memory().write_in_stream_order(0, pinned.data(), count * sizeof(int));
    MPI_Put(origin.data(), count, MPI_INT, (rank() + 1) % ranks(), 0, count, MPI_INT, window.get());
    MPI_Win_fence(0, window.get());
    EXPECT_EQ(window.elements()[count - 1], 5 + (rank() + ranks() - 1) % ranks());
  }
}

TEST(Epochs, a_rank_that_waits_for_a_lock_makes_progress_for_others) {
  const WindowOf<int> window(MemoryKind::device, 1);
  constexpr int count = 1'000'000;
  const Elements<int> sent(MemoryKind::device, count, 3);
  const Elements<int> received(MemoryKind::device, count, -1);
  if (rank() == 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(sent.data(), count, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.get());  // rank 1 has it until it has the message
    MPI_Win_unlock(0, window.get());
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    if (rank() == 1) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.get());
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 1) {
      MPI_Recv(received.data(), count, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(received[count - 1], 3);
      MPI_Win_unlock(0, window.get());
    }
  }
}

TEST(Epochs, calls_out_of_turn_raise_MPI_ERR_RMA_SYNC) {
  const WindowOf<int> window(MemoryKind::device, 4);
  MPI_Win handle = window.get();
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  const auto is_out_of_turn = [](int code) { return class_of(code) == MPI_ERR_RMA_SYNC; };
  int flag = 0;
  EXPECT_TRUE(is_out_of_turn(MPI_Win_unlock(0, handle)));
  EXPECT_TRUE(is_out_of_turn(MPI_Win_unlock_all(handle)));
  EXPECT_TRUE(is_out_of_turn(MPI_Win_flush(0, handle)));
  EXPECT_TRUE(is_out_of_turn(MPI_Win_flush_local_all(handle)));
  EXPECT_TRUE(is_out_of_turn(MPI_Win_complete(handle)));
  EXPECT_TRUE(is_out_of_turn(MPI_Win_wait(handle)));
  EXPECT_TRUE(is_out_of_turn(MPI_Win_test(handle, &flag)));
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, handle);
  EXPECT_TRUE(is_out_of_turn(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, handle)));
  EXPECT_TRUE(is_out_of_turn(MPI_Win_lock_all(0, handle)));
  EXPECT_TRUE(is_out_of_turn(MPI_Win_start(all, 0, handle)));
  EXPECT_TRUE(is_out_of_turn(MPI_Win_fence(0, handle)));
  EXPECT_TRUE(is_out_of_turn(MPI_Win_free(&handle)));
  MPI_Win_unlock(0, handle);
  EXPECT_EQ(class_of(MPI_Win_lock(12345, 0, 0, handle)), MPI_ERR_LOCKTYPE);
  EXPECT_EQ(class_of(MPI_Win_lock(MPI_LOCK_SHARED, ranks(), 0, handle)), MPI_ERR_RANK);
  MPI_Group_free(&all);
  MPI_Barrier(MPI_COMM_WORLD);
}

int heard = 0;
void hear(MPI_Win* /*window*/, int* code, ...) {
  heard = class_of(*code);
}

TEST(Epochs, errors_go_to_the_error_handler_of_the_window) {
  const WindowOf<int> window(MemoryKind::device, 4);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Win_create_errhandler(hear, &handler);
  MPI_Win_set_errhandler(window.get(), handler);
  heard = MPI_SUCCESS;
  MPI_Win_unlock(0, window.get());
  EXPECT_EQ(heard, MPI_ERR_RMA_SYNC);
  MPI_Errhandler_free(&handler);
}

}  // namespace
}  // namespace penstock::windows
