// The memory of one receive: the user's buffer, which part of it an envelope may overwrite, and the staging
// memory that the MPI library writes to instead where it must not write there. Knows the size of an envelope,
// neither its content nor requests.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "interpose/messages/staging_buffers.hpp"
#include "interpose/node/envelope.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/stream_order/earlier_work.hpp"

namespace penstock::interpose {

/// Thread: one at a time; any thread may call keep_first_bytes(), first_bytes() and put_first_bytes_back()
/// while the receive is registered (host_receives.hpp).
class ReceiveBuffer {
 public:
  /// The arguments of the call; until the destructor `buffer` is the user's.
  ReceiveBuffer(void* buffer, MPI_Count count, MPI_Datatype datatype, bool on_device) noexcept
      : buffer_(buffer), count_(count), datatype_(datatype), on_device_(on_device) {}
  ReceiveBuffer(const ReceiveBuffer&) = delete;
  ReceiveBuffer& operator=(const ReceiveBuffer&) = delete;

  /// Determines where the bytes lie, as the user may free the datatype before the message arrives. Call it
  /// first. Returns false if it is device memory that has been freed. Errors: std::bad_alloc.
  [[nodiscard]] bool inspect();

  [[nodiscard]] bool is_on_device() const noexcept { return on_device_; }
  /// Returns true for host memory in one piece.
  [[nodiscard]] bool is_one_host_piece() const noexcept { return in_one_piece_; }
  /// Returns the bytes that a message may have.
  [[nodiscard]] std::size_t capacity_bytes() const noexcept { return capacity_bytes_; }
  /// Returns the kind as far as it is known without asking the driver: all host memory counts as pageable.
  [[nodiscard]] transports::BufferKind kind() const noexcept {
    return on_device_ ? view_.buffer.kind : transports::BufferKind::pageable;
  }
  /// Returns the buffer as the transports see it. Host memory in one piece is inspected now.
  [[nodiscard]] transports::BufferView view() const;
  /// Returns the same of device memory, without a copy.
  [[nodiscard]] const transports::BufferView& device_view() const noexcept { return view_; }
  /// Returns the first bytes of device memory, and forgets the rest.
  [[nodiscard]] const transports::BufferView& first_of_device(std::size_t bytes);
  /// Returns the same as view(), which must not be called afterwards.
  [[nodiscard]] transports::BufferView take_view() { return in_one_piece_ ? view() : std::move(view_); }
  /// Returns true if no transport fills it in one piece: several allocations, or partly pinned host memory.
  [[nodiscard]] bool is_in_parts() const;
  /// Returns true once the application's earlier work on the GPU is done. Cost: queries the driver until it
  /// was true once.
  [[nodiscard]] bool may_be_written_now();
  /// The same, but comes true also where more work is queued all the time: work queued after the first call
  /// does not count.
  [[nodiscard]] bool may_be_written();

  struct Range {
    const std::byte* begin;
    std::size_t bytes;
  };
  /// Returns the range from the first to the last byte of host memory that a message may be written to.
  [[nodiscard]] Range host_range() const noexcept;

  /// Returns true if the MPI library writes to staging memory: for device memory, if another receive is
  /// pending in the user's buffer, or if an envelope would not fit there.
  [[nodiscard]] bool is_staged() const noexcept { return staged_ != nullptr; }
  /// Takes staging memory, unless it has some. Returns false if there is none left.
  [[nodiscard]] bool stage() noexcept;
  [[nodiscard]] std::byte* staged() const noexcept { return staged_; }
  /// Declares that only the first `bytes` of staging memory were written.
  void note_staged(std::size_t bytes) noexcept { staging_.was_written(bytes); }
  /// Returns staging memory as the transports see it, all of which they may write to.
  [[nodiscard]] transports::BufferView staging_view() noexcept;

  /// The arguments with which the MPI library receives.
  struct Target {
    void* buffer;
    MPI_Count count;
    MPI_Datatype datatype;
  };
  [[nodiscard]] Target target_of_library() const noexcept;

  /// Saves the first envelope_bytes of the user's host memory, if it has as many, as the envelope of a
  /// shorter payload may overwrite them.
  void keep_first_bytes() noexcept;
  /// Adopts what they were before the receive.
  void keep_first_bytes(const std::array<std::byte, envelope_bytes>& before) noexcept { small_ = before; }
  void put_first_bytes_back() const noexcept;
  /// Returns where the first envelope_bytes that arrived are. Gathers them into `scratch` if they lie in
  /// pieces.
  [[nodiscard]] const void* first_bytes(std::byte* scratch) const noexcept;

  /// Copies up to envelope_bytes into host memory in one piece.
  void write_small(const void* bytes, std::size_t count) noexcept;

 private:
  template <typename Function>
  void for_first_bytes(Function function) const;

  void* buffer_;
  MPI_Count count_;
  MPI_Datatype datatype_;
  transports::BufferView view_;      ///< unused for host memory in one piece
  std::byte* first_byte_ = nullptr;  ///< of host memory in one piece
  std::byte* staged_ = nullptr;      ///< where the MPI library writes; null: the user's buffer
  StagingBuffer staging_;            ///< the memory behind `staged_`, if it is larger than an envelope
  /// The memory behind `staged_` otherwise. For a receive in the user's buffer: the previous content of its
  /// first bytes.
  alignas(16) std::array<std::byte, envelope_bytes> small_;
  std::size_t capacity_bytes_ = 0;
  transports::EarlierWork earlier_;  ///< of the application, on the GPU
  const bool on_device_;
  bool in_one_piece_ = false;
  bool is_idle_ = false;  ///< the application's GPU work on the buffer is done
};

/// Copies the first envelope_bytes of host memory, which an envelope would overwrite. Returns false if it has
/// fewer, or has them in pieces.
[[nodiscard]] bool copy_first_bytes(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                    std::array<std::byte, envelope_bytes>& bytes);

}  // namespace penstock::interpose
