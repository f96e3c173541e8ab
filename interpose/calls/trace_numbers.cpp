// The transports know no trace and the trace format includes nothing, so both name transports and buffer
// kinds. They are recorded by number: here the compiler compares every one, in both directions. Nothing calls
// this.
#include "interpose/record/trace_format.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/transport.hpp"

namespace penstock::interpose {
namespace {

#define PENSTOCK_SAME(Kind, name)                                                                   \
  case Kind::name:                                                                                  \
    static_assert(static_cast<int>(transports::Kind::name) == static_cast<int>(trace::Kind::name)); \
    return;

#define PENSTOCK_ROADS         \
  PENSTOCK_SAME(Road, none)    \
  PENSTOCK_SAME(Road, mpi)     \
  PENSTOCK_SAME(Road, local)   \
  PENSTOCK_SAME(Road, peer)    \
  PENSTOCK_SAME(Road, staged)  \
  PENSTOCK_SAME(Road, relayed) \
  PENSTOCK_SAME(Road, striped) \
  PENSTOCK_SAME(Road, pushed)  \
  PENSTOCK_SAME(Road, network)

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
using transports::Road;
[[maybe_unused]] void compare(Road road) {
  switch (road) { PENSTOCK_ROADS }
}
[[maybe_unused]] void compare(BufferKind kind) {
  switch (kind) { PENSTOCK_BUFFER_KINDS }
}
}  // namespace of_transports

namespace of_trace {
using trace::BufferKind;
using trace::Road;
[[maybe_unused]] void compare(Road road) {
  switch (road) { PENSTOCK_ROADS }
}
[[maybe_unused]] void compare(BufferKind kind) {
  switch (kind) { PENSTOCK_BUFFER_KINDS }
}
}  // namespace of_trace

}  // namespace
}  // namespace penstock::interpose
