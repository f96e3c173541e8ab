#include "interpose/network/network_delivery.hpp"

#include <utility>

#include "interpose/node/settings.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::interpose {

using transports::TransportKind;

NetworkDelivery::NetworkDelivery(const Envelope& envelope, transports::BufferView destination,
                                 std::size_t capacity)
    : Delivery(envelope, std::move(destination)) {
  source_kind_ = static_cast<transports::BufferKind>(envelope.source_kind);
  transport_ = TransportKind::network;
  reason_ =
      settings().transport == TransportKind::network ? "forced by PENSTOCK_TRANSPORT" : "on different nodes";
  truncated_ = envelope.payload_bytes > capacity;
  destination_.layout = destination_.layout.prefix(envelope.payload_bytes);
  reception_ = std::make_unique<ChunkedReceive>(envelope, destination_);
  if (truncated_) reception_->discard();
}

NetworkDelivery::~NetworkDelivery() {
  if (reception_->is_over()) return;
  reception_->discard();
  request_table().adopt(std::move(reception_));
}

bool NetworkDelivery::advance() {
  if (reception_->is_over()) return true;
  const bool is_over = reception_->advance(true, {});
  if (start_ns_ == 0 && begin_ns_ != 0 && reception_->has_begun()) start_ns_ = record::now_ns();
  if (is_over) {
    status_ = reception_->status();
    bitmap_bytes_ = reception_->bitmap_bytes();
    if (truncated_) transport_ = TransportKind::none;  // nothing was moved
    report();
  }
  return is_over;
}

}  // namespace penstock::interpose
