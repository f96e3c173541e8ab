// A message's datatype and where its bytes lie in a buffer: contiguous, or a vector with gaps. Both forms of
// one size have the same type signature, so that any sender's form may meet any receiver's. Knows no memory
// kinds.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "tests/matrix/case.hpp"

namespace penstock::matrix {

/// Owns its datatype. Thread: one.
class MessageForm {
 public:
  /// For a message of `bytes`. `room` says by how much the call may transfer more than that (receivers).
  MessageForm(Form form, std::size_t bytes, Room room);
  ~MessageForm();
  MessageForm(const MessageForm&) = delete;
  MessageForm& operator=(const MessageForm&) = delete;

  /// From here on the form is one element of an absolute type, for a buffer at `data` and calls that take
  /// MPI_BOTTOM. Without elements it is an empty block.
  void make_absolute(const void* data);

  [[nodiscard]] MPI_Datatype datatype() const { return datatype_; }
  [[nodiscard]] int count() const { return count_; }
  /// Bytes from the first to the last that the call may touch.
  [[nodiscard]] std::size_t span_bytes() const { return span_bytes_; }

  /// Writes the message's bytes to where the form puts them.
  void scatter(const std::vector<std::byte>& payload, std::byte* span) const;

 private:
  MPI_Datatype datatype_ = MPI_BYTE;
  bool owns_datatype_ = false;
  int count_ = 0;
  std::size_t block_bytes_ = 0;
  std::size_t stride_bytes_ = 0;
  std::size_t span_bytes_ = 0;
};

}  // namespace penstock::matrix
