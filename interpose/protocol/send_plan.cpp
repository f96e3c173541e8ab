#include "interpose/protocol/send_plan.hpp"

#include <array>

#include "interpose/calls/communicators.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/network/chunk_channel.hpp"
#include "interpose/node/envelope.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/protocol/destination_forecast.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/device_memory/parts.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/readiness.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {
namespace {

using transports::BufferKind;
using transports::TransportKind;

/// Returns true if a host payload is large enough to be worth an envelope if it ends on a device.
bool may_be_uploaded(const SendCall& call, std::uint64_t bytes) noexcept {
  const bool is_forced = settings().transport == TransportKind::pushed;
  return bytes >= (is_forced ? envelope_bytes + 1 : transports::tuning().uploaded_from) &&
         call.mode != SendMode::buffered;
}

/// Determines the receiver. There is no neighbour if payloads cross the network or the receiver has no
/// Penstock.
void find_receiver(const SendCall& call, SendPlan& plan) {
  plan.receiver = world_rank_of(call.communicator, call.destination);
  if (settings().transport != TransportKind::network) plan.neighbour = node_directory().row_of(plan.receiver);
}

/// The same as may_travel_as_itself(), of the user's host memory. Not by MPI_Pack, as MPICH's refuses
/// MPI_BOTTOM.
bool user_memory_may_travel_as_itself(const SendCall& call, std::uint64_t payload_bytes) {
  if (payload_bytes != envelope_bytes) return true;
  std::byte bytes[envelope_bytes] = {};
  // what cannot be read is left to the MPI library
  if (call.mode != SendMode::synchronous &&
      !transports::download(bytes, view_of(call.buffer, call.count, call.datatype)).ok())
    return true;
  return may_travel_as_itself(call, payload_bytes, bytes);
}

/// Returns true if a payload in host memory goes by an envelope. Sets the plan's receiver if it had to be
/// determined.
bool needs_envelope(const SendCall& call, SendPlan& plan) {
  if (!NodeDirectory::gpu_seen()) return false;
  const std::uint64_t bytes = payload_bytes(call.count, call.datatype);
  const bool must_have_one = !user_memory_may_travel_as_itself(call, bytes);
  if (!must_have_one && !may_be_uploaded(call, bytes)) return false;
  find_receiver(call, plan);
  if (must_have_one) return true;
  if (plan.neighbour == nullptr) return false;
  return settings().transport == TransportKind::pushed ||
         expects(HostDeviceCopy::upload, *plan.neighbour, call.tag);
}

/// What the rows of the table look at.
struct Question {
  const SendCall& call;
  const SendPlan& plan;
  std::size_t bytes;
  bool blocking;
};

/// Returns true if CUDA IPC cannot export the memory. Managed memory is left to the copy engine all the same,
/// as the MPI library is no faster.
bool buffer_is_out_of_reach(const SendPlan& plan) noexcept {
  const BufferKind kind = plan.source->buffer.kind;
  return (kind == BufferKind::async_pool || kind == BufferKind::virtual_memory) &&
         plan.neighbour != node_directory().own_row();
}

/// Returns true if a payload smaller than an envelope goes by one nevertheless. In a row of such sends an
/// envelope occupies the sender for less time than a download. A blocking call would wait for the download in
/// any case, and a receiver with a host buffer would have to download the payload itself.
bool is_worth_an_envelope(const Question& question) noexcept {
  const SendPlan& plan = question.plan;
  return !question.blocking && plan.neighbour != nullptr && !buffer_is_out_of_reach(plan) &&
         plan.neighbour->accepts_small.load(std::memory_order_acquire) &&
         !expects(HostDeviceCopy::download, *plan.neighbour, question.call.tag);
}

const char* why_copied(const Question& question) {
  return question.plan.source->is_scattered() ? "the payload's bytes lie in several allocations" : nullptr;
}
const char* why_buffered(const Question& question) {
  return question.call.mode == SendMode::buffered ? "a buffered send (MPI_Bsend) is copied to host memory"
                                                  : nullptr;
}
const char* why_tiny(const Question& question) {
  const bool is_tiny = question.plan.on_device && question.bytes < envelope_bytes;
  return is_tiny && !is_worth_an_envelope(question) ? "eager: smaller than 64 bytes" : nullptr;
}
const char* why_not_to_another_node(const Question& question) {
  const TransportKind forced = settings().transport;
  if (question.plan.neighbour != nullptr) return nullptr;
  if (!channel().reaches(question.plan.receiver))
    return "the receiver is not on this node, or without Penstock (see penstock run --everywhere)";
  const bool may_cross = forced == TransportKind::none || forced == TransportKind::network;
  return may_cross ? nullptr : "the forced transport works within a node only";
}
const char* why_not_in_chunks(const Question& question) {
  const bool is_small =
      question.plan.neighbour == nullptr && question.bytes < transports::tuning().network_from;
  return is_small && settings().transport == TransportKind::none
             ? "to another node, and too small to be sent in chunks"
             : nullptr;
}
const char* why_unprepared(const Question& question) {
  const DirectoryRow* const receiver = question.plan.neighbour;
  return receiver == nullptr || receiver->accepts_envelopes.load(std::memory_order_acquire)
             ? nullptr
             : "first messages of a job: the receiver is not prepared for GPU buffers yet";
}
/// A device payload is faster through the MPI library in a blocking call if it is small and ends in host
/// memory, or has no shorter way. The download waits in place, so the application must have no work left on
/// the GPU.
const char* why_faster(const Question& question) {
  const SendPlan& plan = question.plan;
  const bool suits = plan.on_device && question.blocking && question.bytes <= policy::most_downloaded_bytes &&
                     plan.neighbour != nullptr && settings().transport == TransportKind::none;
  // a synchronous one of an envelope's size: see may_travel_as_itself()
  if (!suits || (question.bytes == envelope_bytes && question.call.mode == SendMode::synchronous))
    return nullptr;
  const char* why = buffer_is_out_of_reach(plan) ? "small, and CUDA IPC cannot export its memory" : nullptr;
  if (expects(HostDeviceCopy::download, *plan.neighbour, question.call.tag))
    why = "small, and expected to be received in host memory";
  return why != nullptr && transports::is_idle(*plan.source) ? why : nullptr;
}
const char* why_chunked(const Question& question) {
  return question.plan.neighbour == nullptr ? "" : nullptr;
}
const char* why_rendezvous(const Question& /*question*/) {
  return "";
}

struct Row {
  SendProtocol protocol;
  const char* (*why)(const Question& question);  ///< null: not this row
  bool is_for_speed = false;
  /// A payload of an envelope's size might look like one, so it goes by one rather than by this row.
  bool spares_envelopes_size = false;
};

/// The first row that says why is taken.
constexpr std::array table{
    Row{SendProtocol::copied, why_copied},
    Row{SendProtocol::eager, why_buffered},
    Row{SendProtocol::eager, why_tiny},
    Row{SendProtocol::eager, why_not_to_another_node},
    Row{.protocol = SendProtocol::eager, .why = why_not_in_chunks, .spares_envelopes_size = true},
    Row{.protocol = SendProtocol::eager, .why = why_unprepared, .spares_envelopes_size = true},
    Row{.protocol = SendProtocol::eager, .why = why_faster, .is_for_speed = true},
    Row{SendProtocol::chunked, why_chunked},
    Row{SendProtocol::rendezvous, why_rendezvous},
};

}  // namespace

SendPlan plan_send(const SendCall& call) {
  SendPlan plan;
  if (call.destination == MPI_PROC_NULL || call.count == 0 || is_refused(call.count, call.datatype))
    return plan;
  plan.on_device = touches_device(call.buffer, call.count, call.datatype);
  if (!settings().move) return plan;
  if (plan.on_device) {
    find_receiver(call, plan);
  } else if (!needs_envelope(call, plan)) {
    return plan;
  }
  plan.source = view_of(call.buffer, call.count, call.datatype);
  plan.source->handed_over_ns = transports::time_of_call_ns();
  const std::size_t bytes = plan.source->layout.bytes();
  const bool is_in_parts =
      !plan.on_device && call.buffer == MPI_BOTTOM && !transports::is_of_one_host_kind(*plan.source);
  // An empty message reads nothing, and its receive need not have room for an envelope. GPUs do not fetch
  // from partly pinned host memory.
  if (bytes == 0 || (is_in_parts && bytes != envelope_bytes)) {
    plan.source.reset();
    plan.receiver = -1;
    plan.neighbour = nullptr;
  }
  return plan;
}

bool is_always_plain(const SendCall& call) {
  // the payload is not written yet: one of an envelope's size may later look like an envelope
  const std::uint64_t bytes = payload_bytes(call.count, call.datatype);
  const bool may_change =
      bytes == envelope_bytes || (NodeDirectory::gpu_seen() && may_be_uploaded(call, bytes));
  return !may_change && plan_send(call).is_plain();
}

bool may_travel_as_itself(const SendCall& call, std::uint64_t payload_bytes, const void* bytes) {
  if (payload_bytes != envelope_bytes) return true;
  // a probe would receive a synchronous message of this size too early if envelopes were also on their way
  if (call.mode == SendMode::synchronous) return false;
  Envelope envelope;
  return !read_envelope(bytes, node_directory().nonce(), &envelope);
}

SendChoice choose_protocol(const SendCall& call, const SendPlan& plan, bool blocking) {
  const Question question{call, plan, plan.source->layout.bytes(), blocking};
  for (const Row& row : table) {
    if (row.spares_envelopes_size && question.bytes == envelope_bytes) continue;
    if (const char* const why = row.why(question)) return {row.protocol, why, row.is_for_speed};
  }
  return {SendProtocol::rendezvous, "", false};  // never: the last row takes all
}

}  // namespace penstock::interpose
