#include "transports/stream_order/earlier_work.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "transports/stream_order/readiness.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

/// Calls `function(view)` for the view, or for each of its parts that lie on a device.
template <typename Function>
void for_each_on_device(const BufferView& view, Function function) {
  if (!view.is_scattered()) return function(view);
  for (const ViewPart& part : *view.parts) {
    if (lives_on_device(part.view.buffer.kind))
      function(BufferView{.buffer = part.view.buffer, .handed_over_ns = view.handed_over_ns});
  }
}

/// Returns an event behind what is queued on the view's device, or none.
cuda::Event mark(const BufferView& view) {
  cuda::Event event;
  const cuda::ContextRef& context = cuda::Context::of(view.buffer);
  if (context == nullptr) return event;
  const cuda::ContextScope scope(*context);
  if (!scope.status().ok() || !cuda::mark_application(context, event).ok()) return {};
  return event;
}

/// An error of the application's own work is left to the copy, which meets it too.
bool has_ended(const cuda::Event& event) noexcept {
  bool ended = false;
  return !event.query(ended).ok() || ended;
}

}  // namespace

bool EarlierWork::is_done(const BufferView& view) noexcept {
  if (is_idle(view)) return true;
  if (!cuda::application_may_be_marked()) return false;
  try {
    if (marks_.empty()) {
      std::vector<cuda::Event> marks;
      for_each_on_device(view, [&](const BufferView& part) { marks.push_back(mark(part)); });
      if (std::ranges::all_of(marks, [](const cuda::Event& event) { return bool{event}; }))
        marks_ = std::move(marks);
      return false;
    }
    if (!std::ranges::all_of(marks_, has_ended)) return false;
    for_each_on_device(view, [](const BufferView& part) { note_done(part); });
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // it is tried again
  }
}

}  // namespace penstock::transports
