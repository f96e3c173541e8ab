#include "analysis/report/message_figures.hpp"

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

}  // namespace penstock::analysis
