#include "analysis/report/message_figures.hpp"

#include "analysis/joining/message_class.hpp"

namespace penstock::analysis {

const char* name_of(trace::BufferKind kind) noexcept {
  switch (kind) {
    case trace::BufferKind::pageable:
      return "pageable";
    case trace::BufferKind::pinned:
      return "pinned";
    case trace::BufferKind::device:
      return "device";
    case trace::BufferKind::async_pool:
      return "async pool";
    case trace::BufferKind::virtual_memory:
      return "virtual memory";
    case trace::BufferKind::managed:
      return "managed";
    case trace::BufferKind::unknown:
      break;
  }
  return "unknown";
}

const char* name_of(trace::TransportKind transport) noexcept {
  switch (transport) {
#define PENSTOCK_NO_TRANSPORT(name, ...) \
  case trace::TransportKind::name:       \
    return #name;
#define PENSTOCK_TRANSPORT(name, ...) PENSTOCK_NO_TRANSPORT(name)
#define PENSTOCK_TRACED_TRANSPORT(name, ...) PENSTOCK_NO_TRANSPORT(name)
#include "transports/kinds/transports.def"
  }
  return "none";  // a recording may hold any number
}

const TransportFigures* fastest_alike(const std::vector<TransportFigures>& transports,
                                      const TransportFigures& slow) {
  const TransportFigures* best = nullptr;
  for (const TransportFigures& each : transports) {
    if (is_direct(each.transport) && may_go_by(slow.transport, each.transport) &&
        each.source == slow.source && each.destination == slow.destination &&
        each.size_limit_bytes == slow.size_limit_bytes && each.median_gbps && slow.median_gbps &&
        *each.median_gbps > *slow.median_gbps &&
        (best == nullptr || *each.median_gbps > *best->median_gbps)) {
      best = &each;
    }
  }
  return best;
}

}  // namespace penstock::analysis
