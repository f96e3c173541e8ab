#include "interpose/windows/memory/queued_work.hpp"

#include "interpose/progress/progress.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::interpose {

void wait_for_queued(const transports::Buffer& buffer, std::uint64_t since_ns) {
  namespace cuda = transports::cuda;
  if (!transports::lives_on_device(buffer.kind) || !cuda::application_is_waited_for()) return;
  const cuda::ContextRef context = cuda::Context::of(buffer);
  if (context == nullptr || cuda::application_is_idle(*context, since_ns)) return;
  cuda::Event queued;
  {
    const cuda::ContextScope scope(*context);
    if (!scope.status().ok()) return;  // nothing runs in a context that is gone
    if (!cuda::application_may_be_marked() || !cuda::mark_application(context, queued).ok())
      return cuda::wait_for_application(*context);
  }
  wait_with_progress([&] {
    bool is_over = false;
    return !queued.query(is_over).ok() || is_over;
  });
}

}  // namespace penstock::interpose
