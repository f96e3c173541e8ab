// Users assume legacy default stream order: a send waits for all that was queued before it, however little
// time it took to queue that.
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/programs/test_messages.hpp"
#include "tests/support/busy_gpu.hpp"
#include "tests/support/memory.hpp"

namespace penstock::programs {
namespace {

using test_support::BusyGpu;

constexpr int rounds = 20;

/// Fills a buffer, on a stream that the legacy stream does not wait for, after a pause that is far longer
/// than a message takes. An event stands for the end of it.
class LateFill {
 public:
  LateFill() {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&filled_, cudaEventDisableTiming);
  }
  ~LateFill() {
    cudaStreamSynchronize(stream_);
    cudaEventDestroy(filled_);
    cudaStreamDestroy(stream_);
  }
  LateFill(const LateFill&) = delete;
  LateFill& operator=(const LateFill&) = delete;

  void start(const Buffer& buffer, int value) {
    cudaLaunchHostFunc(
        stream_, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }, nullptr);
    cudaMemsetAsync(buffer.data(), value, static_cast<std::size_t>(buffer.count()), stream_);
    cudaEventRecord(filled_, stream_);
  }
  [[nodiscard]] cudaEvent_t filled() const { return filled_; }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t filled_ = nullptr;
};

void receive_all_of(const Buffer& buffer, int value, int round) {
  MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const Bytes content = buffer.read();
  ASSERT_TRUE(std::all_of(content.begin(), content.end(),
                          [&](std::byte byte) { return byte == static_cast<std::byte>(value); }))
      << "round " << round << ", " << content.size() << " bytes";
}

/// Rank 0 sends something else at once before `send_late`, which sends the late buffer.
void send_behind_an_event(MemoryKind destination,
                          const std::function<void(const Buffer& late, cudaEvent_t filled)>& send_late) {
  if (rank() > 1) return;
  for (const std::size_t bytes : {48u, 1000u, 4096u, 65536u, 1u << 20}) {
    const Buffer early(MemoryKind::device, 4096, 1);
    const Buffer late(rank() == 0 ? MemoryKind::device : destination, bytes, 2);
    LateFill fill;
    for (int round = 0; round < rounds; ++round) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank() == 0) {
        fill.start(late, round);
        MPI_Send(early.data(), early.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        send_late(late, fill.filled());
      } else {
        MPI_Recv(early.data(), early.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        receive_all_of(late, round, round);
      }
    }
  }
}

void wait_and_send(const Buffer& late, cudaEvent_t filled) {
  cudaStreamWaitEvent(nullptr, filled, 0);
  MPI_Send(late.data(), late.count(), MPI_BYTE, 1, 2, MPI_COMM_WORLD);
}

TEST(StreamOrder, a_send_waits_for_an_event_that_the_legacy_stream_was_told_to_wait_for) {
  send_behind_an_event(MemoryKind::device, wait_and_send);
}

TEST(StreamOrder, so_does_one_into_host_memory) {
  send_behind_an_event(MemoryKind::pageable, wait_and_send);
}

TEST(StreamOrder, so_does_one_that_is_posted) {
  send_behind_an_event(MemoryKind::device, [](const Buffer& late, cudaEvent_t filled) {
    MPI_Request request = MPI_REQUEST_NULL;
    cudaStreamWaitEvent(nullptr, filled, 0);
    MPI_Isend(late.data(), late.count(), MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
}

void expect_all(const Buffer& buffer, int value) {
  const Bytes content = buffer.read();
  EXPECT_TRUE(
      std::ranges::all_of(content, [&](std::byte byte) { return byte == static_cast<std::byte>(value); }))
      << "not all " << value << " of " << content.size() << " bytes";
}

/// As many sends of rank 0 follow each other in each step, so that Penstock expects them.
class Row {
 public:
  static constexpr int sends = 40;

  explicit Row(std::size_t bytes) {
    for (int i = 0; i < sends; ++i) buffers_.emplace_back(MemoryKind::device, bytes, 1);
  }
  void send(int first, int last) {
    for (int i = first; i < last; ++i)
      MPI_Isend(at(i).data(), at(i).count(), MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests_[index(i)]);
  }
  void wait(int last) { MPI_Waitall(last, requests_.data(), MPI_STATUSES_IGNORE); }
  void receive(int first, int last) {
    for (int i = first; i < last; ++i)
      MPI_Recv(at(i).data(), at(i).count(), MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void fill(int value) {
    for (const Buffer& buffer : buffers_) cudaMemset(buffer.data(), value, index(buffer.count()));
    cudaStreamSynchronize(nullptr);
  }
  void expect(int first, int last, int value) {
    for (int i = first; i < last; ++i) expect_all(at(i), value);
  }
  /// Some steps with nothing in between.
  void get_used_to() {
    for (int round = 0; round < 3; ++round) {
      if (rank() == 0) {
        send(0, sends);
        wait(sends);
      } else {
        receive(0, sends);
      }
    }
  }
  [[nodiscard]] const Buffer& at(int i) const { return buffers_[index(i)]; }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  std::vector<Buffer> buffers_;
  std::array<MPI_Request, sends> requests_{};
};

/// What is smaller than an envelope may be copied to host memory in the call.
constexpr std::array row_sizes = {std::size_t{64}, std::size_t{4096}, std::size_t{65536}};

TEST(StreamOrder, each_send_of_a_row_waits_for_what_was_queued_before_it) {
  if (rank() > 1) return;
  for (const std::size_t bytes : row_sizes) {
    Row row(bytes);
    row.get_used_to();
    LateFill fill;
    for (int late = 1; late < Row::sends; late += 6) {
      row.fill(late);
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank() == 0) {
        row.send(0, late);
        fill.start(row.at(late), 100);
        cudaStreamWaitEvent(nullptr, fill.filled(), 0);
        row.send(late, Row::sends);
        row.wait(Row::sends);
      } else {
        row.receive(0, Row::sends);
        row.expect(0, late, late);
        row.expect(late, late + 1, 100);
        row.expect(late + 1, Row::sends, late);
      }
    }
  }
}

/// The receiver ends the sender's work when it has what was sent before that.
TEST(StreamOrder, no_send_of_a_row_waits_for_what_is_queued_after_it) {
  if (rank() > 1) return;
  constexpr int tag = 1000;
  for (const std::size_t bytes : row_sizes) {
    Row row(bytes);
    row.get_used_to();
    for (int before = 1; before < Row::sends; before += 6) {
      row.fill(before);
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank() == 0) {
        row.send(0, before);
        BusyGpu work;
        row.send(before, Row::sends);
        MPI_Recv(nullptr, 0, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work.end();
        row.wait(Row::sends);
      } else {
        row.receive(0, before);
        MPI_Send(nullptr, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
        row.receive(before, Row::sends);
        row.expect(0, Row::sends, before);
      }
    }
  }
}

/// Nor if its receiver comes so late that the payload has been copied aside.
TEST(StreamOrder, no_send_to_a_late_receiver_waits_for_what_is_queued_after_it) {
  if (rank() > 1) return;
  constexpr int tag = 1000;
  for (const std::size_t bytes : row_sizes) {
    const Buffer buffer(MemoryKind::device, bytes, 1);
    LateFill fill;
    for (int round = 1; round < 4; ++round) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank() == 0) {
        MPI_Request request = MPI_REQUEST_NULL;
        fill.start(buffer, round);
        cudaStreamWaitEvent(nullptr, fill.filled(), 0);
        MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request);
        BusyGpu work;
        MPI_Recv(nullptr, 0, MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        work.end();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        receive_all_of(buffer, round, round);
        MPI_Send(nullptr, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
      }
    }
  }
}

/// A counter in memory that both ranks have mapped.
class SharedCounter {
 public:
  SharedCounter() {
    void* own = nullptr;
    MPI_Win_allocate_shared(sizeof(Counter), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window_);
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &counter_);
    if (rank() == 0) new (counter_) Counter{0};
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~SharedCounter() { MPI_Win_free(&window_); }
  SharedCounter(const SharedCounter&) = delete;
  SharedCounter& operator=(const SharedCounter&) = delete;

  void add_one() { counter_->fetch_add(1); }
  /// Calls nothing of MPI.
  void wait_for(int value) const {
    while (counter_->load() < value) std::this_thread::yield();
  }

 private:
  using Counter = std::atomic<int>;
  MPI_Win window_ = MPI_WIN_NULL;
  Counter* counter_ = nullptr;
};

/// And its sender may be away from MPI until all has been received.
TEST(StreamOrder, a_row_may_be_shorter_than_before) {
  if (rank() > 1) return;
  if (test_support::gpu_count() < 2) GTEST_SKIP() << "on a GPU that both use, the sender takes part";
  SharedCounter rows;
  int row_count = 0;
  for (const std::size_t bytes : row_sizes) {
    Row row(bytes);
    // from 40 on, MPICH itself may keep some back until the sender is in MPI again
    for (int sends = 13; sends > 0; sends -= 4) {
      row.get_used_to();
      row.fill(sends);
      ++row_count;
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank() == 0) {
        row.send(0, sends);
        rows.wait_for(row_count);
        row.wait(sends);
      } else {
        row.receive(0, sends);
        row.expect(0, sends, sends);
        rows.add_one();
      }
    }
  }
}

/// A fill that a stream, which the legacy stream would wait for, captures.
class CapturedFill {
 public:
  CapturedFill(const Buffer& buffer, int value, cudaStreamCaptureMode mode) {
    cudaStreamCreate(&stream_);
    EXPECT_EQ(cudaStreamBeginCapture(stream_, mode), cudaSuccess);
    EXPECT_EQ(cudaMemsetAsync(buffer.data(), value, static_cast<std::size_t>(buffer.count()), stream_),
              cudaSuccess);
  }
  ~CapturedFill() { cudaStreamDestroy(stream_); }
  CapturedFill(const CapturedFill&) = delete;
  CapturedFill& operator=(const CapturedFill&) = delete;

  /// Ends the capture and does twice what was captured.
  void finish_and_launch() {
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess) << "messages have spoilt the capture";
    cudaGraphExec_t executable = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
    EXPECT_EQ(cudaGraphLaunch(executable, stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
  }

 private:
  cudaStream_t stream_ = nullptr;
};

/// One message to rank 1, which must hold what a fill writes that ends long after the send begins.
void send_late_fill(const Buffer& late) {
  if (rank() == 0) {
    MPI_Send(late.data(), late.count(), MPI_BYTE, 1, 2, MPI_COMM_WORLD);
  } else {
    MPI_Recv(late.data(), late.count(), MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

void send_during_a_capture(MemoryKind destination) {
  if (rank() > 1) return;
  for (const std::size_t bytes : {48u, 1000u, 65536u, 1u << 20}) {
    const Buffer filled_by_graph(MemoryKind::device, 4096, 1);
    const Buffer late(rank() == 0 ? MemoryKind::device : destination, bytes, 2);
    LateFill fill;
    int value = 0;
    for (const cudaStreamCaptureMode mode :
         {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
      MPI_Barrier(MPI_COMM_WORLD);
      ++value;
      if (rank() == 0) {
        fill.start(late, value);
        cudaStreamWaitEvent(nullptr, fill.filled(), 0);
      }
      CapturedFill graph(filled_by_graph, 100 + value, mode);
      send_late_fill(late);
      graph.finish_and_launch();
      expect_all(filled_by_graph, 100 + value);
      if (rank() == 1) expect_all(late, value);
    }
  }
}

TEST(StreamOrder, a_send_during_a_capture_waits_for_the_legacy_stream_and_leaves_the_graph_as_it_is) {
  send_during_a_capture(MemoryKind::device);
}

TEST(StreamOrder, so_does_one_into_host_memory_during_a_capture) {
  send_during_a_capture(MemoryKind::pageable);
}

/// What keeps the GPU busy may wait for what the program does next. Of payloads that no GPU fetches from a
/// GPU: for those the driver may have to unmap freed memory, which waits.
}  // namespace
}  // namespace penstock::programs
