#include "transports/copies/copy_pull.hpp"

#include <algorithm>
#include <cstdint>

#include "transports/stream_order/ready_flags.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

/// Copies by the CPU, and the driver's to and from pageable memory, block the caller. It makes them a piece
/// at a time (some hundred microseconds) so that it can progress its other messages in between.
constexpr std::size_t waiting_step_bytes = 4u << 20;

bool copies_make_the_caller_wait(const CopySource& source, const BufferView& destination) noexcept {
  if (destination.buffer.kind == BufferKind::pageable) return true;
  return source.side == Side::host && !source.is_pinned &&
         inspect(source.pointer).kind == BufferKind::pageable;
}

}  // namespace

CopyPull::CopyPull(CopySource source, BufferView destination, cuda::ContextRef context)
    : source_(std::move(source)),
      destination_(std::move(destination)),
      cursor_(destination_.layout),
      context_(std::move(context)),
      copies_block_(context_ != nullptr && copies_make_the_caller_wait(source_, destination_)),
      step_bytes_(context_ == nullptr || copies_block_ ? waiting_step_bytes : SIZE_MAX) {}

CopyPull::~CopyPull() {
  if (in_flight_) static_cast<void>(copied_.wait());
}

Status CopyPull::start() noexcept {
  if (source_.bytes > destination_.layout.bytes())
    return {Code::bad_argument, "a message longer than its receive"};
  if (context_ == nullptr || source_.bytes == 0) return {};
  const cuda::ContextScope scope(*context_);
  if (!scope.status().ok()) return scope.status();
  if (Status taken = cuda::Context::take_event(context_, copied_); !taken.ok()) return taken;
  if (Status made = take_stream(); !made.ok()) return made;
  if (copies_block_ && !may_copy()) return {};
  if (lives_on_device(destination_.buffer.kind) && !destination_.is_free) {
    if (Status ordered = cuda::order_after_application(context_, stream_, destination_.handed_over_ns);
        !ordered.ok()) {
      return ordered;
    }
  }
  return issue();
}

Status CopyPull::take_stream() noexcept {
  if (!copies_block_) return context_->next_pull_stream(stream_);
  const bool goes_up = lives_on_device(destination_.buffer.kind);
  return context_->stream(goes_up ? cuda::StreamUse::blocking_upload : cuda::StreamUse::blocking_download,
                          stream_);
}

Status CopyPull::advance(bool& finished) noexcept {
  finished = false;
  if (in_flight_) {
    bool done = false;
    Status state = copied_.query(done);
    if (!state.ok()) in_flight_ = false;
    if (!state.ok() || !done) return state;
    in_flight_ = false;
  }
  if (issued_ == source_.bytes) {
    finished = true;
    return {};
  }
  if (context_ == nullptr) {
    const std::size_t bytes = std::min(step_bytes_, source_.bytes - issued_);
    Status copied =
        copy_in_host(destination_, cursor_, static_cast<const char*>(source_.pointer) + issued_, bytes);
    issued_ += bytes;
    finished = copied.ok() && issued_ == source_.bytes;
    return copied;
  }
  if (copies_block_ && !may_copy()) return {};
  const cuda::ContextScope scope(*context_);
  return scope.status().ok() ? issue() : scope.status();
}

/// Returns whether nothing is left that a copy would be ordered behind, as it would make the caller wait for
/// that, too.
bool CopyPull::may_copy() noexcept {
  return destination_.is_free || !lives_on_device(destination_.buffer.kind) || earlier_.is_done(destination_);
}

bool CopyPull::signal_at_end(std::atomic<std::uint32_t>* flag) noexcept {
  // what follows in pieces is issued by steps
  return in_flight_ && issued_ == source_.bytes && signal_behind(context_, stream_, flag).ok();
}

Status CopyPull::issue() noexcept {
  const std::size_t bytes = std::min(step_bytes_, source_.bytes - issued_);
  Status copies = issue_copies(bytes);
  // recorded after a failure too: what was queued before it still writes to the destination
  Status recorded = copied_.record(stream_);
  in_flight_ = recorded.ok();
  issued_ += bytes;
  return copies.ok() ? recorded : copies;
}

Status CopyPull::issue_copies(std::size_t bytes) noexcept {
  const char* from = static_cast<const char*>(source_.pointer) + issued_;
  if (source_.context == nullptr) return copy_in(destination_, cursor_, from, source_.side, bytes, stream_);
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr) return cuda::no_driver();
  const Block whole = cursor_.next(bytes);  // contiguous: a copy between contexts has one row
  const auto to =
      reinterpret_cast<CUdeviceptr>(static_cast<char*>(destination_.buffer.pointer) + whole.offset);
  return cuda::check(driver->cuMemcpyPeerAsync(to, context_->handle(), reinterpret_cast<CUdeviceptr>(from),
                                               source_.context, bytes, stream_),
                     "cuMemcpyPeerAsync");
}

}  // namespace penstock::transports
