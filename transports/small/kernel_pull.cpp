#include "transports/small/kernel_pull.hpp"

#include <utility>

#include "transports/cuda/devices.hpp"
#include "transports/cuda/kernels.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/host/recycled.hpp"
#include "transports/small/batched_copy.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

class KernelPull final : public Pull, public Recycled<KernelPull> {
 public:
  explicit KernelPull(std::shared_ptr<const void> keeper) noexcept : keeper_(std::move(keeper)) {}

  [[nodiscard]] Status start(std::span<const CopyItem> items, std::uint64_t handed_over_ns,
                             const cuda::ContextRef& context) {
    const cuda::ContextScope scope(*context);
    if (!scope.status().ok()) return scope.status();
    CUstream stream = nullptr;
    if (Status made = context->next_pull_stream(stream); !made.ok()) return made;
    if (Status ordered = cuda::order_after_application(context, stream, handed_over_ns); !ordered.ok())
      return ordered;
    Status launched = copy_.launch(context, stream, items);
    return launched.code() == Code::out_of_memory ? Status{Code::declined, launched.where()} : launched;
  }

  [[nodiscard]] Status advance(bool& finished) noexcept override { return copy_.query(finished); }

 private:
  std::shared_ptr<const void> keeper_;
  BatchedCopy copy_;  ///< destroyed first: it waits for the kernel
};

bool runs_copy_kernels(cuda::Context& context) noexcept {
  return !is_on_shared_gpu(context) && cuda::Kernels::ready_in(context).ok();
}

}  // namespace

bool suits_copy_kernels(const CopySource& source, const BufferView& destination,
                        const cuda::ContextRef& context) {
  if (context == nullptr || source.context != nullptr || source.is_managed || source.bytes > UINT32_MAX)
    return false;
  if (source.side == Side::host && !source.is_pinned) return false;
  if (lives_on_device(destination.buffer.kind)) return can_copy_by_kernel(destination, context);
  return source.side == Side::device && source.loops.depth == 0 && destination.is_pinned_throughout() &&
         runs_copy_kernels(*context);
}

bool suits_kernels_for_managed(const CopySource& source, const BufferView& destination,
                               const cuda::ContextRef& context) {
  if (context == nullptr || source.context != nullptr || source.loops.depth != 0 ||
      !destination.layout.is_contiguous() || !cuda::has_concurrent_managed_access(context->device())) {
    return false;
  }
  const bool is_suited = source.side == Side::host
                             ? source.is_pinned && destination.buffer.kind == BufferKind::managed &&
                                   destination.buffer.holds(destination.layout.first_offset(), source.bytes)
                             : source.is_managed && destination.is_pinned_throughout();
  return is_suited && runs_copy_kernels(*context);
}

bool can_copy_by_kernel(const BufferView& destination, const cuda::ContextRef& context) noexcept {
  const Layout& layout = destination.layout;
  if (context == nullptr || !belongs_to_context(destination.buffer.kind) || !runs_copy_kernels(*context)) {
    return false;
  }
  if (layout.is_contiguous()) return true;
  // some absolute addresses may be in another allocation, even in host memory
  const auto loops = layout.loops();
  return loops && destination.buffer.holds(layout.first_offset(), loops->extent());
}

CopyItem item_of(const CopySource& source, const BufferView& destination) noexcept {
  CopyItem item{destination.first_byte(), source.pointer, static_cast<std::uint32_t>(source.bytes)};
  item.from_side.loops = source.loops;
  if (!destination.layout.is_contiguous()) item.to_side.loops = *destination.layout.loops();
  return item;
}

Status start_by_kernel(const CopySource& source, const BufferView& destination,
                       const cuda::ContextRef& context, std::unique_ptr<Pull>& pull) {
  auto made = std::make_unique<KernelPull>(source.keeper);
  const CopyItem item = item_of(source, destination);
  Status started = made->start({&item, 1}, destination.handed_over_ns, context);
  if (started.ok()) pull = std::move(made);
  return started;
}

Status start_together(std::span<const CopyItem> items, std::uint64_t handed_over_ns,
                      const cuda::ContextRef& context, std::shared_ptr<const void> keeper,
                      std::unique_ptr<Pull>& pull) {
  if (context == nullptr || !runs_copy_kernels(*context))
    return {Code::declined, "several copies, and no kernels for them"};
  auto made = std::make_unique<KernelPull>(std::move(keeper));
  Status started = made->start(items, handed_over_ns, context);
  if (started.ok()) pull = std::move(made);
  return started;
}

}  // namespace penstock::transports
