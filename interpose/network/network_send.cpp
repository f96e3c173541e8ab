#include "interpose/network/network_send.hpp"

#include <new>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/messages/packing_forecast.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/progress/request_table.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {
namespace {

ListLook look_at(const SendCall& call, const transports::BufferView& source) noexcept {
  const bool may_be_packed = transports::lives_on_device(source.buffer.kind) &&
                             source.layout.is_contiguous() &&
                             source.layout.bytes() >= transports::tuning().network_packed_from;
  if (!may_be_packed) return {};
  return list_worth_a_look(call);
}

}  // namespace

std::unique_ptr<NetworkSend> NetworkSend::open(const SendCall& call, transports::BufferView source,
                                               int receiver) {
  Envelope envelope{};
  envelope.nonce = node_directory().nonce();
  envelope.payload_bytes = source.layout.bytes();
  envelope.key = node_directory().next_key();
  envelope.row = row_of_other_nodes;
  envelope.source_kind = static_cast<std::uint8_t>(source.buffer.kind);
  const ListLook look = look_at(call, source);
  envelope.integers = static_cast<std::uint8_t>(look.integers);
  std::unique_ptr<ChunkedSend> transmission =
      ChunkedSend::open(std::move(source), look, receiver, call.mode != SendMode::synchronous);
  if (transmission == nullptr) return nullptr;
  envelope.slot = transmission->tag();
  return std::make_unique<NetworkSend>(call, std::move(transmission), envelope);
}

NetworkSend::NetworkSend(const SendCall& call, std::unique_ptr<ChunkedSend> transmission,
                         const Envelope& envelope)
    : mode_(call.mode),
      errors_(ErrorTarget::of(call.communicator).kept()),
      transmission_(std::move(transmission)),
      envelope_(envelope) {}

NetworkSend::~NetworkSend() {
  if (!transmission_->is_over()) request_table().adopt(std::move(transmission_));
}

int NetworkSend::send_envelope(const SendCall& call, MPI_Request* request) {
  const int code = pmpi_isend(call.mode, &envelope_, static_cast<MPI_Count>(envelope_bytes), MPI_BYTE,
                              call.destination, call.tag, call.communicator, request);
  if (code != MPI_SUCCESS) transmission_->withdraw();
  transmission_->start();
  return code;
}

bool NetworkSend::advance(bool arrived, const MPI_Status& status) {
  if (arrived && !std::exchange(has_left_, true) && was_cancelled(status)) {
    transmission_->withdraw();
    return true;
  }
  transmission_->advance(arrived, status);
  if (transmission_->receiver_has_come()) record.matched();
  // A buffered payload need not wait for its receiver. A synchronous send must: only a probe may have its
  // envelope.
  const bool may_leave =
      mode_ != SendMode::synchronous || transmission_->receiver_has_come() || !transmission_->status().ok();
  return arrived && transmission_->has_left() && may_leave;
}

int NetworkSend::complete(MPI_Status& status, int code) {
  record.complete(status);
  const Status& sent = transmission_->status();
  return code != MPI_SUCCESS || sent.ok() ? code : errors_.raise_status("MPI_Send", sent);
}

}  // namespace penstock::interpose
