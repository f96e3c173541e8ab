// One message in flight. MPI receives the GPU pointer itself, or a pinned staging buffer.
#pragma once

#include <mpi.h>

#include "examples/gmh/library/gpu_handles.hpp"
#include "examples/gmh/library/job.hpp"

namespace gmh {

/// A message's buffer and peer.
struct Transfer {
  bool is_send;
  char* buffer;
  std::size_t bytes;
  char* host;  ///< staging buffer, or null
  int peer;    ///< GMH rank
  int tag;     ///< as the program has it
  Route route;
};

/// Thread: its own.
class Message {
 public:
  Message(GpuEvents& events, const Transfer& transfer);

  /// Starts the message. The work on the stream must have completed; staging copies are queued there.
  void begin(cudaStream_t stream);
  /// Advances the message. Returns true once it is sent or received.
  [[nodiscard]] bool poll();
  /// Returns whether it was posted to MPI.
  [[nodiscard]] bool is_posted() const noexcept { return phase_ != Phase::copying_out; }
  /// Cancels or frees the MPI request. Returns whether MPI may still use the buffer.
  bool abandon() noexcept;
  [[nodiscard]] const Transfer& transfer() const noexcept { return transfer_; }
  [[nodiscard]] std::string description() const;

 private:
  enum class Phase { idle, copying_out, travelling, copying_in };

  void post();

  Transfer transfer_;
  Phase phase_ = Phase::idle;
  cudaStream_t stream_ = nullptr;
  GpuPoint copied_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace gmh
