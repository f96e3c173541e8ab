// The sender's side of one payload to another node: sends the envelope on the user's communicator, and
// completes the user's request with the payload's chunks. Knows no chunks.
#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/calls/errors.hpp"
#include "interpose/messages/message_record.hpp"
#include "interpose/messages/send_call.hpp"
#include "interpose/network/chunked_send.hpp"
#include "interpose/node/envelope.hpp"
#include "interpose/progress/requests.hpp"

namespace penstock::interpose {

/// Owns the chunked send and passes an unfinished one to the request table. Thread: one at a time.
class NetworkSend final : public Pending {
 public:
  /// `receiver` is a rank in MPI_COMM_WORLD. Returns null if too many transmissions are pending.
  [[nodiscard]] static std::unique_ptr<NetworkSend> open(const SendCall& call, transports::BufferView source,
                                                         int receiver);
  NetworkSend(const SendCall& call, std::unique_ptr<ChunkedSend> transmission, const Envelope& envelope);
  ~NetworkSend() override;
  NetworkSend(const NetworkSend&) = delete;
  NetworkSend& operator=(const NetworkSend&) = delete;

  /// `call` must be the one given to open().
  int send_envelope(const SendCall& call, MPI_Request* request);

  bool advance(bool arrived, const MPI_Status& status) override;
  int complete(MPI_Status& status, int code) override;
  [[nodiscard]] Progress progress() const override { return transmission_->progress(); }

  [[nodiscard]] std::uint64_t key() const noexcept { return envelope_.key; }

  MessageRecord record;

 private:
  // copies of the call's data, as the user may have freed its communicator:
  const SendMode mode_;
  const ErrorTarget errors_;

  std::unique_ptr<ChunkedSend> transmission_;
  Envelope envelope_;
  bool has_left_ = false;  ///< the envelope has been sent and was not cancelled
};

}  // namespace penstock::interpose
