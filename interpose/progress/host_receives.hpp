// The pending receives into host memory, and which of them share memory. An envelope lies at the front of its
// receive's buffer until it is read, and then the payload is fetched over it, so no other receive may have
// written there in between. MPI forbids receives that share memory, but benchmarks post a whole window of
// them into one buffer. So of those that overlap the MPI library writes for the first one only to the user's
// buffer; the others go to staging buffers. Knows no envelopes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace penstock::interpose {

/// One of them, from enter() until leave(). Thread: any, each receive by one at a time.
class HostReceive {
 public:
  HostReceive() = default;
  HostReceive(const HostReceive&) = delete;
  HostReceive& operator=(const HostReceive&) = delete;

  /// Where the MPI library is to write what comes.
  enum class Target : std::uint8_t { user_buffer, staging_buffer };

 protected:
  ~HostReceive() = default;

  /// From now on the `bytes` from `begin` on may be written to. `wanted`: a staging buffer is used in any
  /// case if that is asked for. Errors: std::bad_alloc. Cost: until the process may be sent envelopes some
  /// ns; from then on a search in a tree.
  [[nodiscard]] Target enter(const void* begin, std::size_t bytes, Target wanted = Target::user_buffer);
  /// The message has come: calls read_message(). What the MPI library wrote to the user's buffer may then be
  /// overwritten.
  void note_arrival(const MPI_Status& status) noexcept;
  /// Before anything is written to the buffer: no receive that shares it may have a message there that has
  /// not been looked at. False: the message of one of them has not come yet, and may come at any time while
  /// this process is in the MPI library.
  [[nodiscard]] bool may_write() noexcept;
  /// Nothing is written to the buffer any more. Before the receive goes.
  void leave() noexcept;

 private:
  friend class HostReceiveRegistry;
  /// Finds out what has come, of which the status tells, unless that was found out before. Null: if it has
  /// come; false if it has not. Under the registry's mutex, by a thread that may be another than the
  /// receive's.
  virtual bool read_message(const MPI_Status* status) noexcept = 0;
  /// Keeps what the user's buffer holds in the bytes that an envelope of a smaller payload may overwrite. The
  /// receive was posted before such envelopes could come. Under the registry's mutex.
  virtual void keep_first_bytes() noexcept = 0;

  enum class State : std::uint8_t {
    outside,
    untracked,  ///< from a time when no envelopes could come: only in the list
    tracked,    ///< in the tree
  };

  std::uintptr_t begin_ = 0;
  std::uintptr_t end_ = 0;           ///< 0: outside
  HostReceive* previous_ = nullptr;  ///< in the list of the untracked, or of a group's `in_place`
  HostReceive* next_ = nullptr;
  State state_ = State::outside;
  /// The MPI library writes to the user's buffer, and nobody has looked there since.
  bool is_in_place_ = false;
  /// It is in place with another one that overlaps: both were entered when no envelopes could come.
  bool shares_ = false;
  /// It was so, too, and in the user's buffer is no room for one.
  bool has_no_room_ = false;
};

/// Whether envelopes may come to this process at all: receives in which there is no room for one get a
/// staging buffer. Cost: a load.
[[nodiscard]] bool envelopes_may_come() noexcept;

/// Whether envelopes of payloads may come that are smaller than an envelope: receives in which there is room
/// for one keep what the envelope will overwrite. Not where several threads receive, which would not learn of
/// it in time. Cost: a load.
[[nodiscard]] bool small_payloads_may_come() noexcept;

/// As soon as envelopes may come to this process, its receives have to be kept apart. Tells the other ranks
/// of the node once they are, so that they send envelopes from then on. To be called in receives and whenever
/// the rank makes progress, with what is known of GPUs in the job. Cost: a load.
void expect_envelopes_if(bool gpu_is_used) noexcept;

}  // namespace penstock::interpose
