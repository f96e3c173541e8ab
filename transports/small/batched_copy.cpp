#include "transports/small/batched_copy.hpp"

#include <algorithm>

#include "transports/cuda/kernels.hpp"
#include "transports/kernels/copy_batch.hpp"

namespace penstock::transports {
namespace {

static_assert(BatchedCopy::most_items == kernels::largest_capacity);

/// Enough for two loads of 16 bytes each in the longest piece.
std::uint32_t threads_for(std::uint32_t longest_bytes) noexcept {
  constexpr std::uint32_t warp = 32;
  const std::uint32_t piece = std::min(longest_bytes, kernels::piece_bytes);
  return std::clamp((piece / 32 + warp - 1) / warp * warp, warp, kernels::most_threads);
}

template <std::uint32_t capacity>
Status launch_kernel(cuda::Kernel kernel, kernels::CopyBatch<capacity>& batch, std::uint32_t blocks,
                     std::uint32_t threads, CUstream stream) noexcept {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr) return cuda::no_driver();
  void* parameters[] = {&batch};
  return cuda::check(driver->cuLaunchKernel(cuda::Kernels::of_process()[kernel], blocks, 1, 1, threads, 1, 1,
                                            0, stream, parameters, nullptr),
                     "cuLaunchKernel");
}

/// False in `launched` if there was nothing to copy.
template <std::uint32_t capacity>
Status launch_batch(cuda::Kernel kernel, const cuda::CompletionFlag& flag, CUstream stream,
                    std::span<const CopyItem> items, bool& launched) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the kernel reads `count` items only
  kernels::CopyBatch<capacity> batch;
  batch.flag = flag.device_word();
  batch.slot = flag.slot();
  batch.count = 0;
  std::uint32_t blocks = 0;
  std::uint32_t longest_bytes = 0;
  for (const CopyItem& item : items) {
    if (item.bytes == 0) continue;
    batch.first_block[batch.count] = blocks;
    batch.items[batch.count] = {item.to, item.from, item.bytes};
    ++batch.count;
    blocks += (item.bytes - 1) / kernels::piece_bytes + 1;
    longest_bytes = std::max(longest_bytes, item.bytes);
  }
  launched = false;
  if (blocks == 0) return {};
  Status state = launch_kernel(kernel, batch, blocks, threads_for(longest_bytes), stream);
  launched = state.ok();
  return state;
}

/// A launch that copies nothing and raises no flag.
template <std::uint32_t capacity>
Status launch_empty(cuda::Kernel kernel, CUstream stream) noexcept {
  kernels::CopyBatch<capacity> batch{};
  batch.count = 1;
  return launch_kernel(kernel, batch, 1, 32, stream);
}

/// By the smallest batch that the items fit in.
Status launch_smallest(const cuda::CompletionFlag& flag, CUstream stream, std::span<const CopyItem> items,
                       bool& launched) noexcept {
#define ROW(capacity)           \
  if (items.size() <= capacity) \
    return launch_batch<capacity>(cuda::Kernel::copy_##capacity, flag, stream, items, launched);
  PENSTOCK_COPY_CAPACITIES(ROW)
#undef ROW
  return {Code::bad_argument, "too many items for one batch"};
}

}  // namespace

Status BatchedCopy::available() noexcept {
  return cuda::Kernels::of_process().status();
}

Status BatchedCopy::prepare(const cuda::ContextRef& context, CUstream stream) noexcept {
  if (Status usable = available(); !usable.ok()) return usable;
  const cuda::FlagPage* page = nullptr;
  if (Status pinned = context->flags(page); !pinned.ok()) return pinned;
#define ROW(capacity) \
  if (Status ready = launch_empty<capacity>(cuda::Kernel::copy_##capacity, stream); !ready.ok()) return ready;
  PENSTOCK_COPY_CAPACITIES(ROW)
#undef ROW
  return {};
}

Status BatchedCopy::launch(const cuda::ContextRef& context, CUstream stream,
                           std::span<const CopyItem> items) noexcept {
  if (Status usable = available(); !usable.ok()) return usable;
  if (Status ready = launch_.prepare(context, stream); !ready.ok()) return ready;
  bool is_launched = false;
  Status state = launch_smallest(launch_.flag(), stream, items, is_launched);
  if (is_launched) launch_.launched();
  return state;
}

}  // namespace penstock::transports
