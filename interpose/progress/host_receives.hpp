// The pending receives into host memory, and which of them share memory. An envelope lies at the front of its
// receive's buffer until it is read; then the payload is fetched over it. No other receive may write there in
// between. MPI forbids receives that share memory, but benchmarks post a whole window of them into one
// buffer. If receives overlap, the MPI library therefore writes only the first to the user's buffer; the
// others use staging buffers. Knows the size of an envelope, not its content.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace penstock::interpose {

/// One host receive, from enter() to leave(). Thread: any, each receive by one at a time.
class HostReceive {
 public:
  HostReceive() = default;
  HostReceive(const HostReceive&) = delete;
  HostReceive& operator=(const HostReceive&) = delete;

  /// The memory to which the MPI library writes the message.
  enum class Target : std::uint8_t { user_buffer, staging_buffer };

 protected:
  ~HostReceive() = default;

  /// Declares that the `bytes` from `begin` on may be written to from now on. `capacity_bytes`: how much of
  /// them the message may take; less than `bytes` if there are gaps. `wanted`: staging_buffer forces a
  /// staging buffer. Errors: std::bad_alloc. Cost: some ns until this process may be sent envelopes; after
  /// that a search in a tree.
  [[nodiscard]] Target enter(const void* begin, std::size_t bytes, std::size_t capacity_bytes, Target wanted);
  /// Called when the message has arrived: calls read_message(). After that, the message in the user's buffer
  /// may be overwritten.
  void note_arrival(const MPI_Status& status) noexcept;
  /// Called before anything is written to the buffer: no receive that shares it may have an unread message
  /// there. Returns false if the message of one of them has not arrived yet. It may arrive at any time while
  /// this process is in the MPI library.
  [[nodiscard]] bool may_write() noexcept;
  /// Declares that the buffer is not written to any more. Call it before the destructor.
  void leave() noexcept;

 private:
  friend class HostReceiveRegistry;
  /// Determines what has arrived, unless that is known already. `status` describes it; null: returns false if
  /// nothing has arrived. Called under the registry's mutex, by any thread.
  virtual bool read_message(const MPI_Status* status) noexcept = 0;
  /// Saves the first bytes of the user's buffer, which the envelope of a smaller payload may overwrite.
  /// Called for a receive that was posted before such envelopes could arrive. Under the registry's mutex.
  virtual void keep_first_bytes() noexcept = 0;

  enum class State : std::uint8_t {
    outside,
    untracked,  ///< posted before envelopes could arrive: only in the list
    tracked,    ///< in the tree
  };

  std::uintptr_t begin_ = 0;
  std::uintptr_t end_ = 0;           ///< 0: outside
  HostReceive* previous_ = nullptr;  ///< in the list of the untracked receives, or of a group's `in_place`
  HostReceive* next_ = nullptr;
  State state_ = State::outside;
  /// The MPI library writes to the user's buffer, and the message there has not been read yet.
  bool is_in_place_ = false;
  /// It overlaps another receive in place: both were entered before envelopes could arrive.
  bool shares_ = false;
  /// An envelope fits into the user's buffer.
  bool has_room_ = false;
  /// It was also entered before that, without has_room_.
  bool holds_up_small_ = false;
};

/// Returns true if envelopes may arrive at this process at all. Receives without room for one then get a
/// staging buffer. Cost: a load.
[[nodiscard]] bool envelopes_may_come() noexcept;

/// Returns true if envelopes may arrive for payloads smaller than an envelope. Receives with room for an
/// envelope then save the bytes that it would overwrite. False where several threads receive, as they could
/// not notice the change in time. Cost: a load.
[[nodiscard]] bool small_payloads_may_come() noexcept;

/// Keeps this process's receives apart once envelopes may arrive. Announces to the other ranks of the node
/// when they are, so that these start to send envelopes. Call it in receives and in every progress step, with
/// whether the job uses a GPU. Cost: a load.
void expect_envelopes_if(bool gpu_is_used) noexcept;

}  // namespace penstock::interpose
