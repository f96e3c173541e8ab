#include "interpose/calls/transfer_record.hpp"

namespace penstock::interpose {

void record_own_copy(trace::TransportKind transport, std::uint64_t begin_ns, std::size_t bytes,
                     transports::BufferKind source, transports::BufferKind destination,
                     const char* reason) noexcept {
  if (!record::is_on()) return;
  trace::Transfer transfer{};
  transfer.begin_ns = begin_ns;
  transfer.end_ns = record::now_ns();
  transfer.bytes = bytes;
  transfer.reason = record::intern(reason);
  transfer.peer = -1;
  transfer.source = static_cast<trace::BufferKind>(source);
  transfer.destination = static_cast<trace::BufferKind>(destination);
  transfer.transport = transport;
  transfer.kind = trace::RecordKind::transfer;
  record::write(transfer);
}

void record_one_shot_collective(std::uint64_t begin_ns, std::size_t bytes) noexcept {
  using transports::BufferKind;
  record_own_copy(trace::TransportKind::fused, begin_ns, bytes, BufferKind::device, BufferKind::device,
                  "small: one kernel on each rank carries it out");
}

void record_copy(const WindowCopy& copy) noexcept {
  if (copy.begin_ns != 0)
    record_own_copy(copy.transport, copy.begin_ns, copy.bytes, copy.source, copy.destination,
                    "one-sided: the target takes no part");
}

}  // namespace penstock::interpose
