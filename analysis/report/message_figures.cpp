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
    case trace::TransportKind::mpi:
      return "mpi";
    case trace::TransportKind::local:
      return "local";
    case trace::TransportKind::peer:
      return "peer";
    case trace::TransportKind::staged:
      return "staged";
    case trace::TransportKind::relayed:
      return "relayed";
    case trace::TransportKind::striped:
      return "striped";
    case trace::TransportKind::pushed:
      return "pushed";
    case trace::TransportKind::network:
      return "network";
    case trace::TransportKind::fused:
      return "fused";
    case trace::TransportKind::none:
      break;
  }
  return "none";
}

}  // namespace penstock::analysis
