#include "transports/small/small_copies.hpp"

#include "transports/small/batched_pull.hpp"
#include "transports/small/kernel_pull.hpp"
#include "transports/small/resident.hpp"
#include "transports/stream_order/readiness.hpp"

namespace penstock::transports {

Status start_strided_copy(const CopySource& source, const BufferView& destination,
                          const cuda::ContextRef& context, std::unique_ptr<Pull>& pull) {
  if (suits_a_batch(source, destination, context)) return start_batched(source, destination, context, pull);
  if (!suits_copy_kernels(source, destination, context)) return {};
  return start_by_kernel(source, destination, context, pull);
}

Status start_small_copy(const CopySource& source, const BufferView& destination,
                        const cuda::ContextRef& context, std::unique_ptr<Pull>& pull) {
  if (suits_a_batch(source, destination, context)) return start_batched(source, destination, context, pull);
  if (context == nullptr || !suits_resident_kernel(source, destination)) return {};
  // what the application has queued may still use device memory: the copy engine's stream waits for it
  if (lives_on_device(destination.buffer.kind) && !is_idle(destination)) return {};
  return start_alone(source, destination, context, pull);
}

std::unique_ptr<Pull> copy_by_resident_kernel(const CopySource& source, const BufferView& destination,
                                              const cuda::ContextRef& context) {
  if (context == nullptr || !suits_resident_kernel(source, destination) || !is_idle(destination))
    return nullptr;
  return start_on_resident_kernel(source, destination, context);
}

}  // namespace penstock::transports
