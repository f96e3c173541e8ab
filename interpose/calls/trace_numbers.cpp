// Compares the numbers of transports and buffer kinds in the transports and in the trace format. Both define
// them, as the transports know no trace and the trace format includes nothing. The recording contains the
// numbers. The compiler compares every one, in both directions; nothing calls this.
#include "interpose/record/trace_format.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/transport.hpp"

namespace penstock::interpose {
namespace {

#define PENSTOCK_SAME(Kind, name)                                                                   \
  case Kind::name:                                                                                  \
    static_assert(static_cast<int>(transports::Kind::name) == static_cast<int>(trace::Kind::name)); \
    return;

#define PENSTOCK_TRANSPORTS             \
  PENSTOCK_SAME(TransportKind, none)    \
  PENSTOCK_SAME(TransportKind, mpi)     \
  PENSTOCK_SAME(TransportKind, local)   \
  PENSTOCK_SAME(TransportKind, peer)    \
  PENSTOCK_SAME(TransportKind, staged)  \
  PENSTOCK_SAME(TransportKind, relayed) \
  PENSTOCK_SAME(TransportKind, pushed)  \
  PENSTOCK_SAME(TransportKind, network)

#define PENSTOCK_BUFFER_KINDS               \
  PENSTOCK_SAME(BufferKind, unknown)        \
  PENSTOCK_SAME(BufferKind, pageable)       \
  PENSTOCK_SAME(BufferKind, pinned)         \
  PENSTOCK_SAME(BufferKind, device)         \
  PENSTOCK_SAME(BufferKind, async_pool)     \
  PENSTOCK_SAME(BufferKind, virtual_memory) \
  PENSTOCK_SAME(BufferKind, managed)

// A switch without default: a value that is missing above is a warning, and so an error.
namespace of_transports {
using transports::BufferKind;
using transports::TransportKind;
[[maybe_unused]] void compare(TransportKind transport) {
  switch (transport) { PENSTOCK_TRANSPORTS }
}
[[maybe_unused]] void compare(BufferKind kind) {
  switch (kind) { PENSTOCK_BUFFER_KINDS }
}
}  // namespace of_transports

namespace of_trace {
using trace::BufferKind;
using trace::TransportKind;
[[maybe_unused]] void compare(TransportKind transport) {
  switch (transport) {
    PENSTOCK_TRANSPORTS
    case TransportKind::striped:  // no version takes it any more
    case TransportKind::fused:    // carries no message
      return;
  }
}
[[maybe_unused]] void compare(BufferKind kind) {
  switch (kind) { PENSTOCK_BUFFER_KINDS }
}
}  // namespace of_trace

}  // namespace
}  // namespace penstock::interpose
