#include "interpose/messages/delivery.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "interpose/calls/errors.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::interpose {

Delivery::Delivery(const Envelope& envelope, transports::BufferView destination)
    : envelope_(envelope), destination_(std::move(destination)) {
  if (record::is_on()) begin_ns_ = record::now_ns();
}

std::uint32_t Delivery::reason_id() const {
  if (bitmap_bytes_ == 0) return record::intern(reason_);
  char reason[160];
  std::snprintf(reason, sizeof reason, "%s; as a bitmap", reason_);
  return record::intern(reason);
}

void Delivery::report() const {
  if (!status_.ok()) {
    char what[160];
    // it may have failed before a transport was chosen
    const bool is_chosen = transport_ != transports::TransportKind::none;
    std::snprintf(what, sizeof what, "%s%s, %s to %s, %llu bytes",
                  is_chosen ? name_of(transport_) : "message", is_chosen ? " transport" : "",
                  name_of(source_kind_), name_of(destination_.buffer.kind),
                  static_cast<unsigned long long>(envelope_.payload_bytes));
    record::notice(format_error(what, status_).data());
  }
  if (!record::is_on() || begin_ns_ == 0 || transport_ == transports::TransportKind::none) return;
  trace::Transfer transfer{};
  transfer.begin_ns = begin_ns_;
  transfer.end_ns = record::now_ns();
  transfer.bytes = envelope_.payload_bytes;
  transfer.key = envelope_.key;
  transfer.reason = reason_id();
  const std::uint64_t wait_ns = start_ns_ > begin_ns_ ? start_ns_ - begin_ns_ : 0;
  transfer.wait_ns = static_cast<std::uint32_t>(std::min<std::uint64_t>(wait_ns, UINT32_MAX));
  transfer.peer = sender_of(envelope_);
  transfer.source = static_cast<trace::BufferKind>(source_kind_);
  transfer.destination = static_cast<trace::BufferKind>(destination_.buffer.kind);
  transfer.transport = static_cast<trace::TransportKind>(transport_);
  transfer.packed_words = static_cast<std::uint32_t>(bitmap_bytes_ / 4);
  transfer.kind = trace::RecordKind::transfer;
  record::write(transfer);
}

}  // namespace penstock::interpose
