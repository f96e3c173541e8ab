#include "transports/stream_order/earlier_work.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "transports/stream_order/readiness.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

/// Returns the context of the view, or of each of its parts that lie on a device; null: it is gone.
std::vector<cuda::ContextRef> contexts_of(const BufferView& view) {
  if (!view.is_scattered()) return {cuda::Context::of(view.buffer)};
  std::vector<cuda::ContextRef> contexts;
  for (const ViewPart& part : *view.parts) {
    if (lives_on_device(part.view.buffer.kind)) contexts.push_back(cuda::Context::of(part.view.buffer));
  }
  return contexts;
}

/// Returns an event behind what is queued in the context, or none.
cuda::Event mark(const cuda::ContextRef& context) {
  cuda::Event event;
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
  return is_idle(view) || has_ended_in([&] { return contexts_of(view); }, view.handed_over_ns);
}

bool EarlierWork::is_done_everywhere(std::uint64_t since_ns) noexcept {
  return has_ended_in(&cuda::Context::met, since_ns);
}

template <typename Contexts>
bool EarlierWork::has_ended_in(Contexts contexts, std::uint64_t since_ns) noexcept try {
  if (marks_.empty()) {
    std::vector<cuda::Event> marks;
    for (const cuda::ContextRef& context : contexts()) {
      if (context == nullptr || cuda::application_is_idle(*context, since_ns)) continue;
      if (!cuda::application_may_be_marked()) return false;
      marks.push_back(mark(context));
      if (!marks.back()) return false;
    }
    marks_ = std::move(marks);
    return marks_.empty();
  }
  if (!std::ranges::all_of(marks_, has_ended)) return false;
  for (const cuda::Event& event : marks_) event.context()->note_idle_since(since_ns);
  return true;
} catch (const std::bad_alloc&) {
  return false;  // it is tried again
}

}  // namespace penstock::transports
