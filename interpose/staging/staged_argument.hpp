// The stand-in in host memory for a device buffer during one MPI call. It has the same geometry, so that the
// MPI library sees the same counts, datatypes and displacements. Only bytes that the call reads are copied
// from the device, and only bytes that it writes are copied back; the bytes between are never touched. Knows
// datatypes, no MPI call.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "interpose/staging/host_memory.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// A set of bytes of a user's buffer, relative to the address that the user passed. Errors: std::bad_alloc.
class ByteRange {
 public:
  ByteRange() = default;
  ByteRange(MPI_Count count, MPI_Datatype datatype) { add(count, datatype, 0); }
  [[nodiscard]] static ByteRange of_bytes(std::ptrdiff_t bytes, std::ptrdiff_t offset = 0);

  /// Adds `count` elements from `displacement` bytes after the address on.
  void add(MPI_Count count, MPI_Datatype datatype, std::ptrdiff_t displacement);

  /// Returns where the bytes lie, not in the order of a message.
  [[nodiscard]] const transports::Layout& layout() const noexcept { return layout_; }
  /// Return the range that a program may access, with gaps and padding (a user's operation may copy whole
  /// structs).
  [[nodiscard]] std::ptrdiff_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::ptrdiff_t end() const noexcept { return end_; }
  [[nodiscard]] bool empty() const noexcept { return layout_.bytes() == 0; }

 private:
  void widen(std::ptrdiff_t begin, std::ptrdiff_t end) noexcept;

  transports::Layout layout_;
  std::ptrdiff_t begin_ = 0;
  std::ptrdiff_t end_ = 0;  ///< begin = end = 0 until something is added
};

/// Returns where the bytes of a layout relative to MPI_BOTTOM lie; in parts, if in several allocations.
/// Errors: std::bad_alloc.
[[nodiscard]] transports::BufferView absolute_view(const transports::Layout& absolute);

/// Owns the host memory. Unit: bytes. Thread: one at a time; functions that are given bytes any, for
/// different ones.
class StagedArgument {
 public:
  /// Takes memory for both regions. Errors: as a Status; throws std::bad_alloc.
  [[nodiscard]] Status open(const void* user, const ByteRange& read, const ByteRange& written);
  /// Downloads the bytes that the call reads. `why`: the reason for staging, for the record; a literal.
  [[nodiscard]] Status fetch(const char* why) const { return fetch(read_, why); }
  /// Returns the address that the MPI library gets instead of the user's.
  [[nodiscard]] void* address() const noexcept { return reinterpret_cast<void*>(origin_); }
  [[nodiscard]] bool is_written() const noexcept { return written_.bytes() != 0; }
  /// Replaces the region that was written by a smaller one within it.
  void set_written(const ByteRange& written) { written_ = written.layout(); }
  /// Return whether the application's earlier work is complete on the GPUs of the bytes that are read, or
  /// written.
  [[nodiscard]] bool may_fetch_now() const { return is_idle(read_); }
  [[nodiscard]] bool may_write_back_now() const { return is_idle(written_); }
  /// Uploads the bytes that were written. `why`: as above.
  [[nodiscard]] Status write_back(const char* why) const { return write_back(written_, why); }

  /// The same for some of these bytes only.
  [[nodiscard]] Status fetch(const transports::Layout& some, const char* why) const;
  [[nodiscard]] Status write_back(const transports::Layout& some, const char* why) const;
  [[nodiscard]] bool is_idle(const transports::Layout& some) const;

 private:
  std::uintptr_t user_ = 0;
  std::uintptr_t origin_ = 0;  ///< in the stand-in, byte n of the user's buffer is at origin_ + n
  HostMemory memory_;
  transports::Layout read_;
  transports::Layout written_;
};

}  // namespace penstock::interpose
