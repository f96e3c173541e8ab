// Compares the numbers of buffer kinds in the transports and in the trace format. Both define them, as the
// transports know no trace and the trace format no CUDA. The recording contains the numbers. The compiler
// compares every one, in both directions; nothing calls this.
#include "interpose/record/trace_format.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {
namespace {

#define PENSTOCK_SAME(Kind, name)                                                                   \
  case Kind::name:                                                                                  \
    static_assert(static_cast<int>(transports::Kind::name) == static_cast<int>(trace::Kind::name)); \
    return;

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
[[maybe_unused]] void compare(BufferKind kind) {
  switch (kind) { PENSTOCK_BUFFER_KINDS }
}
}  // namespace of_transports

namespace of_trace {
using trace::BufferKind;
[[maybe_unused]] void compare(BufferKind kind) {
  switch (kind) { PENSTOCK_BUFFER_KINDS }
}
}  // namespace of_trace

}  // namespace
}  // namespace penstock::interpose
