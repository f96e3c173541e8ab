#include "transports/start_copy.hpp"

#include <utility>

#include "transports/copies/bounce_pull.hpp"
#include "transports/cuda/readiness.hpp"
#include "transports/small/batched_pull.hpp"
#include "transports/small/standby.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports {

Status start_copy(const CopySource& source, const Place& destination, const cuda::ContextRef& context,
                  std::unique_ptr<Pull>& pull) {
  if (source.bytes > destination.layout.bytes())
    return {Code::bad_argument, "a message longer than its receive"};
  if (context != nullptr && source.side == Side::device && source.bytes >= tuning().bounced_from &&
      destination.buffer.kind == BufferKind::pageable) {
    auto bounced = std::make_unique<BouncePull>(source, destination, context);
    Status started = bounced->start();
    if (started.ok()) pull = std::move(bounced);
    if (started.code() != Code::declined) return started;
  }
  if (suits_a_batch(source, destination, context)) return start_batched(source, destination, context, pull);
  // what the application has queued may still use memory of a device: the copy engine is told to wait for it
  const bool is_to_device = lives_on_device(destination.buffer.kind);
  const bool may_stand_by =
      context != nullptr && suits_standby(source, destination) && (!is_to_device || is_idle(destination));
  if (may_stand_by) pull = start_standing_by(source, destination, context);
  if (pull != nullptr) return {};
  auto made = std::make_unique<CopyPull>(source, destination, context);
  Status started = made->start();
  if (may_stand_by) {
    const void* known = is_to_device ? destination.buffer.pointer : source.pointer;
    note_small_copy(context, known, suits_sharing(source, destination));
  }
  if (started.ok()) pull = std::move(made);
  return started;
}

}  // namespace penstock::transports
