#include "analysis/export/common/exporter.hpp"

#include <utility>

namespace penstock::analysis::exports {
namespace {

bool is_on_host(trace::BufferKind kind) {
  return kind == trace::BufferKind::unknown || kind == trace::BufferKind::pageable ||
         kind == trace::BufferKind::pinned;
}

}  // namespace

ExportedRank::ExportedRank(const RankTrace& trace, std::size_t position, const MessageIndex& messages,
                           RankClock clock, RankNames& names, std::function<void(std::size_t)> count)
    : trace_(trace),
      position_(position),
      messages_(messages),
      clock_(clock),
      names_(names),
      count_(std::move(count)) {
  for (std::size_t i = 0; i < trace.transfers.size(); ++i) {
    if (const std::uint64_t key = trace.transfers[i].record.key; key != 0) {
      transfers_by_key_.try_emplace(key, static_cast<std::uint32_t>(i));
    }
  }
}

MessageFacts ExportedRank::message(std::size_t half) const {
  const trace::MessageHalf& record = trace_.halves[half].record;
  MessageFacts facts;
  facts.number = messages_.number_of(trace_, position_, half);
  facts.partner = messages_.partner_of(trace_, position_, half);
  const std::span<const TransferFacts> transfers = messages_.transfers_of(trace_, position_, half);
  if (!transfers.empty()) {
    facts.transfer = &transfers.front();
    facts.transport = transfers.front().transport;
    if (const auto own = transfers_by_key_.find(record.key); own != transfers_by_key_.end()) {
      facts.reason = trace_.transfers[own->second].record.reason;
    }
  } else if (const MessageClass& which =
                 messages_.classes().all()[messages_.class_of_message(trace_, position_, half)];
             which.transport == trace::TransportKind::staged) {
    facts.transport = which.transport;
  } else if (is_on_host(record.buffer) && (!facts.partner || is_on_host(facts.partner->buffer))) {
    facts.transport = trace::TransportKind::mpi;
  }
  return facts;
}

}  // namespace penstock::analysis::exports
