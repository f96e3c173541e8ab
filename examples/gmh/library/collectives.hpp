// Collectives. The threads of a process synchronise, and the first one, the leader, calls MPI for all of
// them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "examples/gmh/library/gpu_handles.hpp"
#include "examples/gmh/library/job.hpp"
#include "examples/gmh/library/thread.hpp"

namespace gmh {

class Collectives {
 public:
  /// Collective.
  explicit Collectives(Job& job);

  /// Synchronises the threads of this process.
  void thread_barrier(Thread& thread);
  /// Synchronises all ranks.
  void barrier(Thread& thread);
  /// Copies the root's buffer to all other ranks.
  void bcast(Thread& thread, void* buffer, std::size_t bytes, int root);
  /// Concatenates the bytes of all ranks, in rank order, in `receive`, unless that is null.
  void gather(Thread& thread, const void* send, void* receive, std::size_t bytes);
  /// Reduces element by element in rank order, on which alone the bits depend. Stores the result in
  /// `receive`, unless that is null.
  void reduce(Thread& thread, const void* send, void* receive, std::int64_t count, gmh_datatype_t type,
              gmh_op_t op);

 private:
  /// A thread's state. Other threads read `buffer` between two thread barriers.
  struct Seat {
    char* buffer = nullptr;
    GpuBytes scratch;
  };

  /// Gathers some bytes of each rank; those of rank r are stored at r times `stride`.
  void gather_some(Thread& thread, const char* send, char* receive, std::size_t bytes, std::size_t stride);
  /// Shows the other threads where this thread's bytes are, and waits for theirs.
  void publish(Thread& thread, char* buffer);
  void copy(Thread& thread, void* to, const void* from, std::size_t bytes) const;
  /// Polls until a request of the leader is complete.
  void complete(Thread& thread, MPI_Request& request, const char* what) const;
  [[nodiscard]] bool is_leader(const Thread& thread) const noexcept { return thread.vgpu() == 0; }
  /// Grows the buffer that is passed to MPI, on the leader's GPU or in pinned memory.
  void reserve_transit(std::size_t bytes);
  [[nodiscard]] char* transit() const noexcept { return job_.stages() ? on_host_.get() : on_gpu_.get(); }

  Job& job_;
  Communicator processes_;
  int threads_;
  std::atomic<int> arrived_{0};
  std::atomic<unsigned> round_{0};
  std::vector<Seat> seats_;
  GpuBytes on_gpu_;
  PinnedBytes on_host_;
};

}  // namespace gmh
