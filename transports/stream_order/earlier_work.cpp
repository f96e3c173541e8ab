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

/// Returns an event behind what is queued in the context, or none.
cuda::Event mark(const cuda::ContextRef& context) {
  cuda::Event event;
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

bool are_all_there(const std::vector<cuda::Event>& marks) noexcept {
  return std::ranges::all_of(marks, [](const cuda::Event& event) { return bool{event}; });
}

}  // namespace

bool EarlierWork::have_ended() const noexcept {
  return std::ranges::all_of(marks_, has_ended);
}

bool EarlierWork::is_done(const BufferView& view) noexcept {
  if (is_idle(view)) return true;
  if (!cuda::application_may_be_marked()) return false;
  try {
    if (marks_.empty()) {
      std::vector<cuda::Event> marks;
      for_each_on_device(
          view, [&](const BufferView& part) { marks.push_back(mark(cuda::Context::of(part.buffer))); });
      if (are_all_there(marks)) marks_ = std::move(marks);
      return false;
    }
    if (!have_ended()) return false;
    for_each_on_device(view, [](const BufferView& part) { note_done(part); });
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // it is tried again
  }
}

bool EarlierWork::is_done_everywhere(std::uint64_t since_ns) noexcept {
  try {
    if (marks_.empty()) {
      std::vector<cuda::Event> marks;
      for (const cuda::ContextRef& context : cuda::Context::met()) {
        if (cuda::application_is_idle(*context, since_ns)) continue;
        if (!cuda::application_may_be_marked()) return false;
        marks.push_back(mark(context));
      }
      if (marks.empty()) return true;
      if (are_all_there(marks)) marks_ = std::move(marks);
      return false;
    }
    if (!have_ended()) return false;
    for (const cuda::Event& event : marks_) event.context()->note_idle_since(since_ns);
    return true;
  } catch (const std::bad_alloc&) {
    return false;  // it is tried again
  }
}

}  // namespace penstock::transports
