// The stand-in in host memory for the device buffer of a partitioned message. Its partitions are copied one
// by one: others may be written by kernels meanwhile, or may already be the application's again. Knows
// datatypes, neither requests nor MPI calls.
#pragma once

#include <mpi.h>

#include <optional>
#include <span>

#include "interpose/staging/staged_argument.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// The buffer of a call that initialises a partitioned message; `count` elements a partition.
struct PartitionedArgument {
  const void* buffer;
  int partitions;
  MPI_Count count;
  MPI_Datatype datatype;
};

/// Owns the stand-in. Thread: any, for different partitions.
class PartitionedBuffer {
 public:
  /// Takes memory if the buffer is on a device; else does nothing. Errors: as a Status; throws
  /// std::bad_alloc, UnreadableDatatype.
  [[nodiscard]] Status open(const PartitionedArgument& user);
  [[nodiscard]] bool is_staged() const noexcept { return is_staged_; }
  /// Returns the kind of the user's buffer.
  [[nodiscard]] transports::BufferKind kind() const noexcept { return buffer_.kind; }
  [[nodiscard]] const transports::Buffer& user() const noexcept { return buffer_; }
  /// Returns the whole message's bytes, or nothing if they do not lie in one piece of one allocation. Only if
  /// staged.
  [[nodiscard]] std::optional<transports::BufferView> in_one_piece() const;
  /// Returns the address that the MPI library gets instead of the user's; only if staged.
  [[nodiscard]] void* address() const noexcept { return stand_in_.address(); }

  /// Returns where the bytes of these partitions lie, in ascending order if the partitions do.
  [[nodiscard]] transports::Layout bytes_of(std::span<const int> partitions) const;
  /// Downloads these bytes, or uploads them. The gaps of the datatype are not touched. `why`: the reason for
  /// staging, for the record; a literal.
  [[nodiscard]] Status fetch(const transports::Layout& bytes, const char* why) const {
    return stand_in_.fetch(bytes, why);
  }
  [[nodiscard]] Status write_back(const transports::Layout& bytes, const char* why) const {
    return stand_in_.write_back(bytes, why);
  }
  /// Returns whether the application's earlier work on their GPU is complete.
  [[nodiscard]] bool is_idle(const transports::Layout& bytes) const { return stand_in_.is_idle(bytes); }

 private:
  StagedArgument stand_in_;
  transports::Buffer buffer_;     ///< the user's
  transports::Layout partition_;  ///< of the first one
  int partitions_ = 0;
  std::ptrdiff_t distance_ = 0;  ///< from one partition to the next
  bool is_staged_ = false;
};

}  // namespace penstock::interpose
