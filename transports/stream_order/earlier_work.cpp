#include "transports/stream_order/earlier_work.hpp"

#include <new>

#include "transports/stream_order/readiness.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {

bool EarlierWork::is_done(const BufferView& view) noexcept {
  if (is_idle(view)) return true;
  if (!is_marked_) {
    mark(view);
    return false;
  }
  bool has_ended = false;
  // an error of the application's own work is left to the copy, which meets it too
  if (mark_.query(has_ended).ok() && !has_ended) return false;
  note_done(view);
  return true;
}

void EarlierWork::mark(const BufferView& view) noexcept {
  if (!cuda::application_may_be_marked()) return;
  try {
    const cuda::ContextRef& context = cuda::Context::of(view.buffer);
    if (context == nullptr) return;
    const cuda::ContextScope scope(*context);
    is_marked_ = scope.status().ok() && cuda::mark_application(context, mark_).ok();
  } catch (const std::bad_alloc&) {
    // it is marked the next time
  }
}

}  // namespace penstock::transports
