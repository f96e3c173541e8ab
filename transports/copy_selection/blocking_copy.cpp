// Pinned host memory is copied directly. Pageable memory is copied through a ring of pinned chunks: several
// cores empty or fill one chunk while the GPU copies others. The parts of a scattered view are copied
// separately.
#include "transports/copy_selection/blocking_copy.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "transports/copies/copy.hpp"
#include "transports/cuda/context.hpp"
#include "transports/device_memory/pinned_memory.hpp"
#include "transports/host/guarded.hpp"
#include "transports/host/host_copy.hpp"
#include "transports/small/resident.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

using cuda::Bounce;

/// One blocking copy between `view`, which lies on a device, and memory in one piece. The destructor waits
/// until the GPU has done everything that was queued, also after an error. Thread: one at a time.
class BlockingCopy {
 public:
  BlockingCopy(const BufferView& view, cuda::ContextRef context) noexcept
      : view_(view), cursor_(view.layout), context_(std::move(context)) {}
  ~BlockingCopy() {
    while (done_ < queued_) static_cast<void>(wait(done_));
  }
  BlockingCopy(const BlockingCopy&) = delete;
  BlockingCopy& operator=(const BlockingCopy&) = delete;

  [[nodiscard]] Status download(char* host) {
    if (Status begun = begin(cuda::StreamUse::blocking_download, host); !begun.ok()) return begun;
    if (bounce_ == nullptr) {
      if (Status queued = mark(copy_out(host, Side::host, view_, cursor_, bytes_, stream_)); !queued.ok())
        return queued;
      note_if_small();
      return wait(0);
    }
    for (std::size_t emptied = 0; emptied < steps();) {
      if (queued_ < steps() && queued_ - emptied < Bounce::depth) {
        char* const chunk = bounce_->chunk(queued_);
        Status copied = copy_out(chunk, Side::host, view_, cursor_, step_bytes(queued_), stream_);
        if (Status queued = mark(copied); !queued.ok()) return queued;
        note_if_small();
        continue;
      }
      if (Status arrived = wait(emptied); !arrived.ok()) return arrived;
      copy_host(host + emptied * step_bytes_, bounce_->chunk(emptied), step_bytes(emptied));
      ++emptied;
    }
    return {};
  }

  [[nodiscard]] Status upload(const char* host) {
    if (Status begun = begin(cuda::StreamUse::blocking_upload, host); !begun.ok()) return begun;
    if (bounce_ == nullptr) {
      if (Status queued = mark(copy_in(view_, cursor_, host, Side::host, bytes_, stream_)); !queued.ok())
        return queued;
      note_if_small();
      return wait(0);
    }
    for (std::size_t step = 0; step < steps(); ++step) {
      if (step >= Bounce::depth) {
        if (Status free = wait(step - Bounce::depth); !free.ok()) return free;
      }
      copy_host(bounce_->chunk(step), host + step * step_bytes_, step_bytes(step));
      Status copied = copy_in(view_, cursor_, bounce_->chunk(step), Side::host, step_bytes(step), stream_);
      if (Status queued = mark(copied); !queued.ok()) return queued;
      note_if_small();
    }
    return wait(steps() - 1);
  }

  /// `copy(cursor, stream)` queues all of it, between memory of the view's context.
  template <class Copy>
  [[nodiscard]] Status on_one_device(Copy copy) {
    if (Status begun = begin_in(cuda::StreamUse::blocking_download, 1); !begun.ok()) return begun;
    if (Status queued = mark(copy(cursor_, stream_)); !queued.ok()) return queued;
    return wait(0);
  }

 private:
  [[nodiscard]] Status begin(cuda::StreamUse use, const void* host) {
    if (inspect(host).kind != BufferKind::pinned) bounce_ = Bounce::take(context_);
    // the driver has a ring of its own for contiguous pieces, no worse than an unpinned ring of ours
    if (bounce_ != nullptr && !bounce_->is_pinned() && view_.layout.is_contiguous()) bounce_ = nullptr;
    return begin_in(use, bounce_ == nullptr ? 1 : std::min(steps(), Bounce::depth));
  }
  [[nodiscard]] Status begin_in(cuda::StreamUse use, std::size_t needed) {
    for (std::size_t each = 0; each < needed; ++each) {
      if (Status taken = cuda::Context::take_event(context_, marks_[each]); !taken.ok()) return taken;
    }
    return cuda::take_blocking_stream(context_, use, view_.handed_over_ns, stream_);
  }
  [[nodiscard]] std::size_t steps() const noexcept { return (bytes_ + step_bytes_ - 1) / step_bytes_; }
  [[nodiscard]] std::size_t step_bytes(std::size_t step) const noexcept {
    return std::min(step_bytes_, bytes_ - step * step_bytes_);
  }
  /// Records where a step's copies end, also when queueing them failed half way.
  [[nodiscard]] Status mark(const Status& copies) noexcept {
    Status marked = marks_[queued_++ % Bounce::depth].record(stream_);
    return copies.ok() ? marked : copies;
  }
  /// Waits for a step and thereby for all before it: they are in one stream.
  [[nodiscard]] Status wait(std::size_t step) noexcept {
    done_ = step + 1;
    return marks_[step % Bounce::depth].wait();
  }

  void note_if_small() const noexcept {
    if (bytes_ <= kernels::bounce_bytes && view_.buffer.kind != BufferKind::managed)
      note_small_copy(context_, view_.buffer.pointer);
  }

  const BufferView& view_;
  LayoutCursor cursor_;
  cuda::ContextRef context_;
  const std::size_t bytes_ = view_.layout.bytes();
  const std::size_t step_bytes_ = Bounce::step_bytes_for(bytes_);
  CUstream stream_ = nullptr;
  Bounce::Loan bounce_;
  std::array<cuda::Event, Bounce::depth> marks_;
  std::size_t queued_ = 0;  ///< steps
  std::size_t done_ = 0;
};

/// Runs `copy(BlockingCopy&)` in the context that the view's buffer belongs to, unless
/// `copy_by_resident_kernel(its context)` has already made the copy.
template <class CopyStandingBy, class Copy>
Status on_device(const BufferView& view, CopyStandingBy copy_by_resident_kernel, Copy copy) noexcept {
  return guarded([&]() -> Status {
    const cuda::ContextRef context = cuda::Context::of(view.buffer);
    if (context == nullptr) return cuda::no_driver();
    if (copy_by_resident_kernel(context)) return {};
    const cuda::ContextScope scope(*context);
    if (!scope.status().ok()) return scope.status();
    BlockingCopy blocking_copy(view, context);
    return copy(blocking_copy);
  });
}

/// `copy(cursor, stream)` queues the copy between the view and memory of the same context.
template <class Copy>
Status on_one_device(const BufferView& view, Copy copy) noexcept {
  if (view.layout.bytes() == 0) return {};
  return on_device(
      view, [](const cuda::ContextRef&) { return false; },
      [&](BlockingCopy& blocking_copy) { return blocking_copy.on_one_device(copy); });
}

/// Returns how many bytes of a part belong to the first `message_bytes`. `packed` holds their offsets in the
/// message, ascending.
std::size_t bytes_within(const Layout& packed, std::size_t message_bytes) noexcept {
  const auto end = static_cast<std::ptrdiff_t>(message_bytes);
  std::size_t bytes = 0;
  for (const Block& block : packed.blocks()) {
    for (std::size_t piece = 0; piece < block.count; ++piece) {
      const std::ptrdiff_t begin = block.offset + static_cast<std::ptrdiff_t>(piece) * block.stride;
      if (begin >= end) return bytes;
      bytes += std::min(block.bytes, static_cast<std::size_t>(end - begin));
    }
  }
  return bytes;
}

/// Calls `copy(part, where its bytes are in the message)` for each part of a scattered view, up to the end
/// of its layout, which may have been shortened. Stops at the first failure.
template <class Copy>
Status for_each_part(const BufferView& whole, Copy copy) {
  for (const auto& [view, packed] : *whole.parts) {
    const std::size_t bytes = bytes_within(packed, whole.layout.bytes());
    if (bytes == 0) continue;
    BufferView part = view;
    part.layout = view.layout.prefix(bytes);
    part.handed_over_ns = whole.handed_over_ns;
    part.is_free = whole.is_free;
    if (Status copied = copy(part, packed.prefix(bytes)); !copied.ok()) return copied;
  }
  return {};
}

/// Copies the bytes of the message at `packed` into one piece.
Status gather(char* to, const char* message, const Layout& packed) noexcept {
  LayoutCursor cursor(packed);
  return copy_out_host(to, {{.pointer = const_cast<char*>(message)}, packed}, cursor, packed.bytes());
}
Status scatter(char* message, const Layout& packed, const char* from) noexcept {
  LayoutCursor cursor(packed);
  return copy_in_host({{.pointer = message}, packed}, cursor, from, packed.bytes());
}

Status download_parts(char* message, const BufferView& source) {
  return for_each_part(source, [message](const BufferView& part, const Layout& packed) -> Status {
    if (packed.is_contiguous()) return download(message + packed.first_offset(), part);
    const auto beside = std::make_unique_for_overwrite<char[]>(packed.bytes());
    Status copied = download(beside.get(), part);
    return copied.ok() ? scatter(message, packed, beside.get()) : copied;
  });
}

Status upload_parts(const BufferView& destination, const char* message) {
  return for_each_part(destination, [message](const BufferView& part, const Layout& packed) -> Status {
    if (packed.is_contiguous()) return upload(part, message + packed.first_offset());
    const auto beside = std::make_unique_for_overwrite<char[]>(packed.bytes());
    Status gathered = gather(beside.get(), message, packed);
    return gathered.ok() ? upload(part, beside.get()) : gathered;
  });
}

}  // namespace

Status download(void* host, const BufferView& source) noexcept {
  const std::size_t bytes = source.layout.bytes();
  if (bytes == 0) return {};
  if (source.is_scattered()) return guarded([&] { return download_parts(static_cast<char*>(host), source); });
  if (source.buffer.kind == BufferKind::unknown) return {Code::bad_argument, "device memory that was freed"};
  if (!lives_on_device(source.buffer.kind)) {
    LayoutCursor cursor(source.layout);
    return copy_out_host(host, source, cursor, bytes);
  }
  return on_device(
      source,
      [&](const cuda::ContextRef& context) { return download_by_resident_kernel(host, source, context); },
      [&](BlockingCopy& copy) { return copy.download(static_cast<char*>(host)); });
}

Status upload(const BufferView& destination, const void* host) noexcept {
  const std::size_t bytes = destination.layout.bytes();
  if (bytes == 0) return {};
  if (destination.is_scattered())
    return guarded([&] { return upload_parts(destination, static_cast<const char*>(host)); });
  if (destination.buffer.kind == BufferKind::unknown)
    return {Code::bad_argument, "device memory that was freed"};
  if (!lives_on_device(destination.buffer.kind)) {
    LayoutCursor cursor(destination.layout);
    return copy_in_host(destination, cursor, host, bytes);
  }
  return on_device(
      destination,
      [&](const cuda::ContextRef& context) { return upload_by_resident_kernel(destination, host, context); },
      [&](BlockingCopy& copy) { return copy.upload(static_cast<const char*>(host)); });
}

Status pack(void* packed, const BufferView& source) noexcept {
  return on_one_device(source, [&](LayoutCursor& cursor, CUstream stream) {
    return copy_out(packed, Side::device, source, cursor, source.layout.bytes(), stream);
  });
}

Status unpack(const BufferView& destination, const void* packed) noexcept {
  return on_one_device(destination, [&](LayoutCursor& cursor, CUstream stream) {
    return copy_in(destination, cursor, packed, Side::device, destination.layout.bytes(), stream);
  });
}

}  // namespace penstock::transports
