#include "transports/small/batched_copy.hpp"

namespace penstock::transports {

Status BatchedCopy::launch(const cuda::ContextRef& context, CUstream stream,
                           std::span<const CopyItem> items) noexcept {
  if (Status usable = CopyKernels::available(); !usable.ok()) return usable;
  if (Status ready = launch_.prepare(context, stream); !ready.ok()) return ready;
  bool is_launched = false;
  Status state =
      CopyKernels::launch(stream, items, {launch_.flag().device_word(), launch_.flag().slot()}, is_launched);
  if (is_launched && state.ok()) launch_.launched();
  return state;
}

}  // namespace penstock::transports
