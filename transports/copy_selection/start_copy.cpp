#include "transports/copy_selection/start_copy.hpp"

#include <utility>

#include "transports/copies/bounce_pull.hpp"
#include "transports/small/small_copies.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports {
Status start_copy(const CopySource& source, const BufferView& destination, const cuda::ContextRef& context,
                  std::unique_ptr<Pull>& pull) {
  if (source.bytes > destination.layout.bytes())
    return {Code::bad_argument, "a message longer than its receive"};
  if (source.loops.depth != 0 || is_in_short_pieces(destination.layout)) {
    Status strided = start_strided_copy(source, destination, context, pull);
    if (pull != nullptr || (!strided.ok() && source.loops.depth != 0)) return strided;
    if (source.loops.depth != 0) return {Code::declined, "a layout in pieces, and no kernels for it"};
  }
  if (context != nullptr && source.side == Side::device && source.bytes >= tuning().bounced_from &&
      destination.buffer.kind == BufferKind::pageable) {
    auto bounced = std::make_unique<BouncePull>(source, destination, context);
    Status started = bounced->start();
    if (started.ok()) pull = std::move(bounced);
    if (started.code() != Code::declined) return started;
  }
  if (destination.layout.is_contiguous()) {
    Status small = start_small_copy(source, destination, context, pull);
    if (!small.ok() || pull != nullptr) return small;
  }
  auto made = std::make_unique<CopyPull>(source, destination, context);
  Status started = made->start();
  if (started.ok()) pull = std::move(made);
  return started;
}

}  // namespace penstock::transports
