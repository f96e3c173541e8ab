// One side of a partitioned message: the MPI library's own operation, on a stand-in if the buffer is on a
// device. Knows requests; the wrappers decide when a partition is ready or has arrived.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/partitioned/partitioned_buffer.hpp"
#include "interpose/progress/requests.hpp"
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

/// Shared by the request and the operation in flight. What it knows of arrived partitions is under
/// RequestTable::Lock while the request is active.
class PartitionedMessage {
 public:
  PartitionedMessage(const PartitionedArgument& argument, const PartitionedPeer& peer);

  /// Takes memory for a stand-in if one is needed. Errors: as PartitionedBuffer's.
  [[nodiscard]] Status open() { return buffer_.open(argument_); }
  [[nodiscard]] const PartitionedBuffer& buffer() const noexcept { return buffer_; }
  [[nodiscard]] const PartitionedPeer& peer() const noexcept { return peer_; }
  [[nodiscard]] const std::shared_ptr<CommunicatorInfo>& communicator() const noexcept { return info_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const char* name() const noexcept;
  [[nodiscard]] bool sends() const noexcept { return peer_.direction == trace::Direction::send; }
  [[nodiscard]] bool has(int partition) const noexcept {
    return partition >= 0 && partition < argument_.partitions;
  }

  /// Begins another operation, of which nothing has arrived.
  void begin();
  /// Downloads partitions, which the application has written by the work that it queued before this call.
  /// Thread: any, for different partitions. Errors: also std::bad_alloc.
  [[nodiscard]] Status fetch(std::span<const int> partitions) const;
  /// Uploads a partition that has arrived in the stand-in, once. Returns true if it is on the device; false
  /// also on failure. Never waits for the application's work on the GPU.
  [[nodiscard]] bool deliver(int partition, Status& status);
  /// The same for all partitions that are not there yet; true on failure, too.
  [[nodiscard]] bool deliver_rest(Status& status);

  int raise(const char* mpi_call, const Status& status) const {
    return errors_.raise_status(mpi_call, status);
  }

 private:
  [[nodiscard]] bool deliver(std::span<const int> partitions, Status& status);

  PartitionedArgument argument_;  ///< its datatype is valid in the call that initialises only
  PartitionedPeer peer_;          ///< as is its communicator
  std::shared_ptr<CommunicatorInfo> info_;
  ErrorTarget errors_;
  std::uint64_t bytes_;
  PartitionedBuffer buffer_;
  std::uint64_t since_ns_ = 0;  ///< when the operation began
  StreamOrderWait stream_order_wait_;
  std::vector<int> not_delivered_;  ///< of the operation in flight, ascending
};

/// Attaches a message to `request`, an inactive one of the MPI library's, partitioned or persistent.
void attach_message(MPI_Request request, std::shared_ptr<PartitionedMessage> message);

struct FoundMessage {
  std::shared_ptr<PartitionedMessage> message;  ///< null: the request is not ours
  bool is_active = false;
};
/// Takes RequestTable::Lock.
[[nodiscard]] FoundMessage find_message(MPI_Request request);

}  // namespace penstock::interpose
