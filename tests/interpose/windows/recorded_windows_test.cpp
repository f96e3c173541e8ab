// Two ranks that put a mebibyte into each other's memory, ten times; rank 1 comes late to each fence, or is
// late to open, to complete and to unlock. recorded_windows.sh knows what the report must say of it.
#include <chrono>
#include <thread>

#include "tests/interpose/windows/window_memory.hpp"

namespace penstock::windows {
namespace {

constexpr int count = 1 << 18;
constexpr int steps = 10;
constexpr auto late = std::chrono::milliseconds(20);

void put_in_turns(MemoryKind kind) {
  const Elements<int> origin(kind, count, rank());
  WindowOf<int> window(kind, count, -1);
  const int other = rank() == 0 ? 1 : 0;
  MPI_Win_fence(0, window.get());
  for (int step = 0; step < steps && rank() < 2; ++step) {
    if (rank() == 1) std::this_thread::sleep_for(late);
    MPI_Put(origin.data(), count, MPI_INT, other, 0, count, MPI_INT, window.get());
    MPI_Win_fence(0, window.get());
  }
  for (int step = 0; step < steps && rank() >= 2; ++step) MPI_Win_fence(0, window.get());
}

TEST(RecordedWindows, are_ours) {
  put_in_turns(MemoryKind::device);
}

TEST(RecordedWindows, are_the_librarys) {
  PENSTOCK_SKIP_WITHOUT_WINDOW(MemoryKind::pageable);
  put_in_turns(MemoryKind::pageable);
}

/// A group of one rank of MPI_COMM_WORLD.
class GroupOfOne {
 public:
  explicit GroupOfOne(int member) {
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &member, &group_);
    MPI_Group_free(&world);
  }
  ~GroupOfOne() { MPI_Group_free(&group_); }
  GroupOfOne(const GroupOfOne&) = delete;
  GroupOfOne& operator=(const GroupOfOne&) = delete;

  [[nodiscard]] MPI_Group get() const noexcept { return group_; }

 private:
  MPI_Group group_ = MPI_GROUP_NULL;
};

/// Rank 0 waits for rank 1 in each call that waits for some members; others are not among them.
TEST(RecordedWindows, that_wait_for_some_members) {
  const Elements<int> origin(MemoryKind::device, count, rank());
  const WindowOf<int> window(MemoryKind::device, count, -1);
  const int other = rank() == 0 ? 1 : 0;
  const GroupOfOne group(other);
  for (int barrier = 0; barrier < 2 * steps && rank() >= 2; ++barrier) MPI_Barrier(MPI_COMM_WORLD);
  const auto put = [&] { MPI_Put(origin.data(), count, MPI_INT, other, 0, count, MPI_INT, window.get()); };
  for (int step = 0; step < steps && rank() < 2; ++step) {
    if (rank() == 0) {
      MPI_Win_start(group.get(), 0, window.get());
      put();
      MPI_Win_complete(window.get());
      MPI_Win_post(group.get(), 0, window.get());
      MPI_Win_wait(window.get());
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.get());
    } else {
      std::this_thread::sleep_for(late);
      MPI_Win_post(group.get(), 0, window.get());
      MPI_Win_wait(window.get());
      MPI_Win_start(group.get(), 0, window.get());
      std::this_thread::sleep_for(late);
      put();
      MPI_Win_complete(window.get());
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.get());
      MPI_Barrier(MPI_COMM_WORLD);
      std::this_thread::sleep_for(late);
    }
    MPI_Win_unlock(0, window.get());
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Rank 1 is in host code for long before it opens its memory to rank 0, and nothing else takes long.
TEST(RecordedWindows, that_are_opened_late) {
  const Elements<int> origin(MemoryKind::device, count, rank());
  const WindowOf<int> window(MemoryKind::device, count, -1);
  const GroupOfOne group(rank() == 0 ? 1 : 0);
  for (int step = 0; step < steps; ++step) {
    if (rank() == 0) {
      MPI_Win_start(group.get(), 0, window.get());
      MPI_Put(origin.data(), count, MPI_INT, 1, 0, count, MPI_INT, window.get());
      MPI_Win_complete(window.get());
    } else if (rank() == 1) {
      std::this_thread::sleep_for(late);
      MPI_Win_post(group.get(), 0, window.get());
      MPI_Win_wait(window.get());
    }
  }
}

}  // namespace
}  // namespace penstock::windows
