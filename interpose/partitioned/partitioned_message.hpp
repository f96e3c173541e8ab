// One side of a partitioned message: who moves it, and its operation in flight. The receiver copies it out of
// the sender's buffer (direct_send, direct_receive), or the MPI library's own operation carries it, on a
// stand-in if the buffer is on a device. Knows requests; the wrappers decide when a partition is ready or has
// arrived.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/partitioned/direct_receive.hpp"
#include "interpose/partitioned/direct_send.hpp"
#include "interpose/partitioned/partition_notes.hpp"
#include "interpose/partitioned/partitioned_buffer.hpp"
#include "interpose/progress/stream_order_wait.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::interpose {

/// Where a partitioned message goes or comes from.
struct PartitionedPeer {
  trace::Direction direction;
  int rank;
  int tag;
  MPI_Comm communicator;
};

/// Shared by the request and the operation in flight. Its knowledge of the operation is under
/// RequestTable::Lock while the request is active.
class PartitionedMessage {
 public:
  PartitionedMessage(const PartitionedArgument& argument, const PartitionedPeer& peer);

  /// Takes memory for a stand-in if one is needed. Errors: as PartitionedBuffer's.
  [[nodiscard]] Status open() { return buffer_.open(argument_); }
  /// Shows the other side what this one has. Called for each message in the order of their initialisation,
  /// with the MPI library's own request. Errors: std::bad_alloc.
  void meet(std::uint64_t ordinal, MPI_Request request);
  [[nodiscard]] const PartitionedBuffer& buffer() const noexcept { return buffer_; }
  [[nodiscard]] const PartitionedPeer& peer() const noexcept { return peer_; }
  [[nodiscard]] const std::shared_ptr<CommunicatorInfo>& communicator() const noexcept { return info_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const char* name() const noexcept;
  [[nodiscard]] bool sends() const noexcept { return peer_.direction == trace::Direction::send; }
  [[nodiscard]] bool has(int partition) const noexcept {
    return partition >= 0 && partition < argument_.partitions;
  }

  /// Begins another operation, of which nothing is ready and nothing has arrived. Errors: std::bad_alloc.
  void begin();
  /// Returns true if the MPI library carries the operation from its start on: its request is the operation's.
  /// Otherwise step() moves it. Fixed at begin().
  [[nodiscard]] bool is_librarys() const noexcept { return is_librarys_; }
  /// Marks partitions ready, which the application has written by the work that it queued before this call.
  /// Only if it is not the library's. Thread: any, for different partitions.
  void signal(std::span<const int> partitions) noexcept;

  /// The outcome of a step.
  struct Step {
    bool is_over = false;
    bool is_direct = false;  ///< the receiver copies it
    int code = MPI_SUCCESS;  ///< the MPI library's
    MPI_Status arrival{};    ///< of a receive that is over
  };
  /// Takes one step of an operation that is not the library's. Never blocks.
  [[nodiscard]] Step step(Status& status);
  /// Returns true if only the other side's steps can end the operation.
  [[nodiscard]] bool needs_steps() const noexcept { return !(sends() && mover_ == Mover::receiver); }
  /// Returns whether a partition has arrived, and is the program's, in an operation that is not the
  /// library's.
  [[nodiscard]] bool has_arrived(int partition, Status& status);

  /// Downloads partitions, which the application has written by the work that it queued before this call.
  /// Thread: any, for different partitions. Errors: also std::bad_alloc.
  [[nodiscard]] Status fetch(std::span<const int> partitions) const;
  /// Uploads a partition that has arrived in the stand-in, once. Returns true if it is on the device; false
  /// also on failure. Never waits for the application's work on the GPU.
  [[nodiscard]] bool deliver(int partition, Status& status);
  /// The same for all partitions that are not there yet; true on failure, too.
  [[nodiscard]] bool deliver_rest(Status& status);

  /// Returns the address, as kernels see it, of the words that they may set to mark partitions ready; null if
  /// they cannot. From the next operation on, the words count. Errors: std::bad_alloc.
  [[nodiscard]] void* words_for_kernels();
  [[nodiscard]] int partitions() const noexcept { return argument_.partitions; }
  /// Records what the receiver has copied. Only for a receive that was direct.
  void record_copies(const Status& status) const;
  /// Returns the operation's key for records, the same on both sides if it was direct.
  [[nodiscard]] std::uint64_t key() const noexcept { return key_; }

  int raise(const char* mpi_call, const Status& status) const {
    return errors_.raise_status(mpi_call, status);
  }
  int raise(int code) const { return errors_.raise(code); }

 private:
  [[nodiscard]] bool deliver(std::span<const int> partitions, Status& status);
  [[nodiscard]] const char* why_not_direct(const std::optional<transports::BufferView>& view) const noexcept;
  [[nodiscard]] Mover find_mover();
  [[nodiscard]] Step step_direct(Status& status);
  [[nodiscard]] Step step_library(Status& status);
  [[nodiscard]] int pass_on_ready_ones(Status& status);

  PartitionedArgument argument_;  ///< its datatype is valid in the call that initialises only
  PartitionedPeer peer_;          ///< as is its communicator
  std::shared_ptr<CommunicatorInfo> info_;
  ErrorTarget errors_;
  std::uint64_t bytes_;
  PartitionedBuffer buffer_;
  MPI_Request request_ = MPI_REQUEST_NULL;  ///< the MPI library's
  Mover mover_ = Mover::library;
  const char* why_library_ = "the other side is on another node, or runs without Penstock";  ///< a literal
  ReadyWords words_;  ///< of a sender: which of its partitions may be read
  std::unique_ptr<DirectSend> direct_send_;
  std::unique_ptr<DirectReceive> direct_receive_;
  bool kernels_mark_ = false;

  // of the operation in flight
  bool is_librarys_ = true;
  /// In the MPI library, if that was decided later.
  enum class InLibrary : std::uint8_t { not_started, active, complete };
  InLibrary in_library_ = InLibrary::not_started;
  MPI_Status arrival_{};        ///< of that, once it is complete
  std::uint64_t since_ns_ = 0;  ///< when the operation began
  std::uint64_t key_ = 0;
  StreamOrderWait stream_order_wait_;
  std::vector<int> not_delivered_;  ///< ascending
  std::vector<int> not_passed_on_;  ///< partitions that the MPI library does not know to be ready, ascending
};

}  // namespace penstock::interpose
