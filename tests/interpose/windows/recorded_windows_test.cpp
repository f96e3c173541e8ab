// Two ranks that put a mebibyte into each other's memory, ten times; rank 1 comes late to each fence.
// recorded_windows.sh knows what the report must say of it.
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

}  // namespace
}  // namespace penstock::windows
