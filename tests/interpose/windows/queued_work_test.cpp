// Operations that wait for what the application has queued on a GPU: others are served meanwhile, and work
// that is queued later is not waited for.
#include <sched.h>

#include <atomic>
#include <deque>
#include <thread>

#include "tests/interpose/windows/window_memory.hpp"
#include "tests/support/busy_gpu.hpp"

namespace penstock::windows {
namespace {

/// A word that all ranks share, 0 at first.
class SharedWord {
 public:
  SharedWord() {
    std::atomic<int>* own = nullptr;
    MPI_Win_allocate_shared(rank() == 0 ? sizeof *own : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                            static_cast<void*>(&own), &window_);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &size, &unit, static_cast<void*>(&word_));
    if (rank() == 0) word_->store(0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~SharedWord() { MPI_Win_free(&window_); }
  SharedWord(const SharedWord&) = delete;
  SharedWord& operator=(const SharedWord&) = delete;
  [[nodiscard]] std::atomic<int>& word() const { return *word_; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::atomic<int>* word_ = nullptr;
};

TEST(QueuedWork, that_MPI_Put_waits_for_may_itself_wait_for_a_message_of_this_rank) {
  constexpr int count = 1'000'000;
  const SharedWord is_sent;
  WindowOf<int> window(rank() == 0 ? MemoryKind::pinned : MemoryKind::device, 10, -1);
  const Elements<int> origin(MemoryKind::device, 10, 7);
  const Elements<int> message(rank() == 1 ? MemoryKind::device : MemoryKind::pageable, count, rank());
  // Mapping memory may unmap what lay there before, and the driver may wait for queued work then.
  if (rank() == 1) MPI_Ssend(message.data(), count, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (rank() == 0) MPI_Recv(message.data(), count, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank() == 1) {
    MPI_Ssend(message.data(), count, MPI_INT, 0, 0, MPI_COMM_WORLD);
    is_sent.word() = 1;
  } else if (rank() == 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(message.data(), count, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    cudaLaunchHostFunc(
        nullptr,
        [](void* word) {
          while (static_cast<std::atomic<int>*>(word)->load() == 0) ::sched_yield();
        },
        &is_sent.word());
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window.get());
    EXPECT_EQ(MPI_Put(origin.data(), 10, MPI_INT, 0, 0, 10, MPI_INT, window.get()), MPI_SUCCESS);
    MPI_Win_unlock(0, window.get());
    EXPECT_EQ(is_sent.word().load(), 1);
    EXPECT_EQ(window.elements()[9], 7);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(message[count - 1], 1);
  }
}

/// The legacy stream is never idle while one lives: each piece of work ends only after the next is queued.
class EverBusyGpu {
 public:
  EverBusyGpu() {
    cudaGetDevice(&device_);
    queue_one();
    thread_ = std::thread([this] {
      cudaSetDevice(device_);
      while (!is_over_.load()) {
        queue_one();
        ends_[ends_.size() - 2] = true;
        ::sched_yield();
      }
      ends_.back() = true;
    });
  }
  ~EverBusyGpu() {
    is_over_ = true;
    thread_.join();
    cudaStreamSynchronize(nullptr);
  }
  EverBusyGpu(const EverBusyGpu&) = delete;
  EverBusyGpu& operator=(const EverBusyGpu&) = delete;

 private:
  void queue_one() {
    cudaLaunchHostFunc(
        nullptr,
        [](void* end) {
          while (!static_cast<std::atomic<bool>*>(end)->load()) ::sched_yield();
        },
        &ends_.emplace_back(false));
  }

  int device_ = 0;
  std::deque<std::atomic<bool>> ends_;  ///< of each piece of work
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

TEST(QueuedWork, without_end_does_not_keep_accumulates_from_their_turn) {
  WindowOf<int> window(MemoryKind::device, 10, 0);
  const Elements<int> one(MemoryKind::device, 10, 1);
  MPI_Win_fence(0, window.get());
  {
    const EverBusyGpu busy;
    EXPECT_EQ(MPI_Accumulate(one.data(), 10, MPI_INT, 0, 0, 10, MPI_INT, MPI_SUM, window.get()), MPI_SUCCESS);
  }
  MPI_Win_fence(0, window.get());
  if (rank() == 0) {
    EXPECT_EQ(window.elements()[9], ranks());
  }
}

}  // namespace
}  // namespace penstock::windows
