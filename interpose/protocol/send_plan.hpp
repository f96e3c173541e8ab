// What a send's payload and receiver are, and which protocol carries it. The whole choice is in one table, as
// that of the transports is (transports/chooser.cpp). Posts nothing.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "interpose/messages/send_call.hpp"
#include "interpose/node/node_directory.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// A send's buffer and receiver, and so whether Penstock takes part in it; determined once.
struct SendPlan {
  /// Returns true if the MPI library may get the call unchanged: a host buffer that does not look like an
  /// envelope and is not expected on a device.
  [[nodiscard]] bool is_plain() const noexcept { return !source; }

  std::optional<transports::BufferView> source;  ///< the payload; empty for a plain send
  int receiver = -1;                             ///< world rank; -1 for a plain send, or if it is unknown
  DirectoryRow* neighbour = nullptr;             ///< the receiver's row, if it sees this rank's shared memory
  bool on_device = false;
  bool others_follow = false;  ///< the rank's next calls probably send more; set by the caller
};

/// Errors: UnreadableDatatype, std::bad_alloc. Cost in programs without a GPU: some ns.
[[nodiscard]] SendPlan plan_send(const SendCall& call);

/// Returns true if all sends with these arguments are plain, whatever the buffer contains.
[[nodiscard]] bool is_always_plain(const SendCall& call);

/// How a send that is not plain travels.
enum class SendProtocol : std::uint8_t {
  copied,      ///< first to host memory, as no transport takes it; from there as a payload in host memory
  eager,       ///< a copy in host memory, by the MPI library
  chunked,     ///< an envelope by the MPI library; the payload follows in chunks, to another node
  rendezvous,  ///< an envelope by the MPI library; a transport carries the payload, on this node
};

struct SendChoice {
  SendProtocol protocol;
  const char* why;    ///< a literal, for copied and eager ones; what users read in the report
  bool is_for_speed;  ///< an envelope would do as well
};

/// Chooses the protocol of a send that is not plain. Cost: for a small blocking send of device memory, it may
/// query whether the application's work on the GPU is done.
[[nodiscard]] SendChoice choose_protocol(const SendCall& call, const SendPlan& plan, bool blocking);

/// Returns false if a payload in host memory must not be sent as it is, as its receiver would take it for an
/// envelope, or would receive it too early. `bytes` are its first ones.
[[nodiscard]] bool may_travel_as_itself(const SendCall& call, std::uint64_t payload_bytes, const void* bytes);

}  // namespace penstock::interpose
