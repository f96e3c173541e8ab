// A device buffer's stand-in in host memory for the time of one MPI call: the same geometry, so that the MPI
// library sees the same counts, datatypes and displacements. Only the bytes that the call reads are copied
// from the device, only those that it writes are copied back; what lies between them is never touched. Knows
// datatypes, no MPI call.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "interpose/staging/host_memory.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// Bytes of a user's buffer, relative to the address that the user gave. Errors: std::bad_alloc.
class Region {
 public:
  Region() = default;
  Region(MPI_Count count, MPI_Datatype datatype) { add(count, datatype, 0); }
  [[nodiscard]] static Region of_bytes(std::ptrdiff_t bytes, std::ptrdiff_t offset = 0);

  /// Adds `count` elements that begin `displacement` bytes after the address.
  void add(MPI_Count count, MPI_Datatype datatype, std::ptrdiff_t displacement);

  /// The bytes, each at its place; not in the order of a message.
  [[nodiscard]] const transports::Layout& layout() const noexcept { return layout_; }
  /// What a program may touch of the elements, gaps and padding included (a user's operation may copy whole
  /// structs).
  [[nodiscard]] std::ptrdiff_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::ptrdiff_t end() const noexcept { return end_; }
  [[nodiscard]] bool empty() const noexcept { return layout_.bytes() == 0; }

 private:
  void widen(std::ptrdiff_t begin, std::ptrdiff_t end) noexcept;

  transports::Layout layout_;
  std::ptrdiff_t begin_ = 0;
  std::ptrdiff_t end_ = 0;  ///< begin = end = 0 until something was added
};

/// Where the bytes lie that a layout tells relative to MPI_BOTTOM; in parts, if in several allocations.
/// Errors: std::bad_alloc.
[[nodiscard]] transports::Place absolute_place(const transports::Layout& absolute);

/// Owns the host memory. Unit: bytes. Thread: one at a time.
class StagedArgument {
 public:
  /// Takes memory for both regions. Errors: as a Status; throws std::bad_alloc.
  [[nodiscard]] Status open(const void* user, const Region& read, const Region& written);
  /// Downloads what is read. `why`: the call is staged, for the record; a literal.
  [[nodiscard]] Status fetch(const char* why) const;
  /// What the MPI library gets in place of the user's address.
  [[nodiscard]] void* address() const noexcept { return reinterpret_cast<void*>(origin_); }
  /// Another region than was foreseen has been written; it must lie within the foreseen one.
  void set_written(const Region& written) { written_ = written.layout(); }
  /// Nothing of the application's earlier work is left on the GPUs that it is read from, or written for.
  [[nodiscard]] bool may_fetch_now() const;
  [[nodiscard]] bool may_write_back_now() const;
  /// Uploads what was written. `why`: as above.
  [[nodiscard]] Status write_back(const char* why) const;

 private:
  [[nodiscard]] bool is_idle(const transports::Layout& layout) const;

  std::uintptr_t user_ = 0;
  std::uintptr_t origin_ = 0;  ///< of the stand-in: byte n of the user's buffer is at origin_ + n
  HostMemory memory_;
  transports::Layout read_;
  transports::Layout written_;
};

}  // namespace penstock::interpose
