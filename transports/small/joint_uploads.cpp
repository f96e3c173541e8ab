#include "transports/small/joint_uploads.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "transports/cuda/kernels.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/device_memory/pinned_memory.hpp"
#include "transports/host/guarded.hpp"
#include "transports/small/batched_copy.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

using cuda::Bounce;

constexpr std::size_t most_launches = most_joint_uploads / CopyKernels::most_items;
static_assert(most_joint_uploads % CopyKernels::most_items == 0);

/// Each upload has room in pinned memory, and begins there at the destination's offset modulo this, so that
/// whole words can be copied.
constexpr std::size_t alignment = 16;
constexpr std::size_t room_bytes = largest_joint_upload + alignment;
static_assert(most_joint_uploads * room_bytes <= Bounce::chunk_bytes);

std::size_t offset_of(std::size_t index, const BufferView& view) noexcept {
  return index * room_bytes + reinterpret_cast<std::uintptr_t>(view.first_byte()) % alignment;
}

/// Returns when the last of them was handed over; 0: now.
std::uint64_t last_handed_over_ns(std::span<const Upload> uploads) noexcept {
  std::uint64_t last_ns = 0;
  for (const Upload& upload : uploads) {
    if (upload.view->handed_over_ns == 0) return 0;
    last_ns = std::max(last_ns, upload.view->handed_over_ns);
  }
  return last_ns;
}

/// The launches follow each other on the stream, so that the GPU begins with the first at once.
Status launch_and_wait(const cuda::ContextRef& context, CUstream stream, std::span<const CopyItem> items) {
  std::array<BatchedCopy, most_launches> batches;
  for (BatchedCopy& batch : batches) {
    if (items.empty()) break;
    const auto now = items.first(std::min(items.size(), CopyKernels::most_items));
    if (Status launched = batch.launch(context, stream, now); !launched.ok()) return launched;
    items = items.subspan(now.size());
  }
  for (BatchedCopy& batch : batches) {
    if (Status copied = batch.wait(); !copied.ok()) return copied;
  }
  return {};
}

/// Errors: `declined` or another; the uploads then have to be made one by one.
Status upload_jointly(std::span<const Upload> uploads) {
  const BufferView& first = *uploads.front().view;
  const auto suits = [&](const Upload& upload) {
    return suits_a_joint_upload(*upload.view) && upload.view->buffer.context == first.buffer.context;
  };
  if (uploads.size() > most_joint_uploads || !std::ranges::all_of(uploads, suits))
    return {Code::declined, "uploads that cannot be made together"};
  const cuda::Driver* driver = cuda::driver();
  const cuda::ContextRef context = cuda::Context::of(first.buffer);
  if (driver == nullptr || context == nullptr) return cuda::no_driver();
  if (is_on_shared_gpu(*context)) return {Code::declined, "a GPU that others use, too"};
  if (Status usable = cuda::Kernels::ready_in(*context); !usable.ok()) return usable;
  const cuda::ContextScope scope(*context);
  if (!scope.status().ok()) return scope.status();

  const Bounce::Loan bounce = Bounce::take(context);
  if (bounce == nullptr || !bounce->is_pinned()) return {Code::declined, "no pinned memory"};
  CUdeviceptr pinned = 0;
  if (Status mapped = cuda::check(driver->cuMemHostGetDevicePointer(&pinned, bounce->chunk(0), 0),
                                  "cuMemHostGetDevicePointer");
      !mapped.ok())
    return mapped;

  std::array<CopyItem, most_joint_uploads> items;
  for (std::size_t i = 0; i < uploads.size(); ++i) {
    const BufferView& view = *uploads[i].view;
    const std::size_t offset = offset_of(i, view);
    items[i].bytes = static_cast<std::uint32_t>(view.layout.bytes());
    items[i].to = view.first_byte();
    items[i].from = reinterpret_cast<const char*>(pinned + offset);
    std::memcpy(bounce->chunk(0) + offset, uploads[i].host, items[i].bytes);
  }
  CUstream stream = nullptr;
  if (Status taken = cuda::take_blocking_stream(context, cuda::StreamUse::blocking_upload,
                                                last_handed_over_ns(uploads), stream);
      !taken.ok())
    return taken;
  return launch_and_wait(context, stream, std::span(items.data(), uploads.size()));
}

}  // namespace

bool suits_a_joint_upload(const BufferView& view) noexcept {
  const std::size_t bytes = view.layout.bytes();
  return bytes != 0 && bytes <= largest_joint_upload && view.layout.is_contiguous() && !view.is_scattered() &&
         belongs_to_context(view.buffer.kind);
}

bool upload_together(std::span<const Upload> uploads) noexcept {
  return uploads.empty() || guarded([&] { return upload_jointly(uploads); }).ok();
}

}  // namespace penstock::transports
