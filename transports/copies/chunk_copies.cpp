#include "transports/copies/chunk_copies.hpp"

#include <utility>

#include "transports/host/guarded.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {

Status ChunkCopies::start(const BufferView& view, Way way, std::unique_ptr<ChunkCopies>& copies) noexcept {
  return guarded([&]() -> Status {
    cuda::ContextRef context;
    if (lives_on_device(view.buffer.kind)) {
      context = cuda::Context::of(view.buffer);
      if (context == nullptr) return cuda::no_driver();
    }
    copies = std::make_unique<ChunkCopies>(view, way, std::move(context));
    Status begun = copies->begin();
    if (!begun.ok()) copies.reset();
    return begun;
  });
}

ChunkCopies::ChunkCopies(const BufferView& view, Way way, cuda::ContextRef context)
    : view_(view), cursor_(view_.layout), context_(std::move(context)), way_(way) {}

ChunkCopies::~ChunkCopies() {
  for (const cuda::Event& copied : in_flight_) static_cast<void>(copied.wait());
}

Status ChunkCopies::begin() noexcept {
  if (context_ == nullptr) return {};
  const cuda::ContextScope scope(*context_);
  if (!scope.status().ok()) return scope.status();
  const cuda::StreamUse use = way_ == Way::out ? cuda::StreamUse::download : cuda::StreamUse::upload;
  Status made = context_->stream(use, stream_);
  if (!made.ok() || way_ == Way::out) return made;
  return cuda::order_after_application(context_, stream_, view_.handed_over_ns);
}

Status ChunkCopies::copy(char* chunk, std::size_t bytes) noexcept {
  if (context_ != nullptr) return guarded([&] { return queue(chunk, bytes); });
  ++ended_;
  return way_ == Way::out ? copy_out_host(chunk, view_, cursor_, bytes)
                          : copy_in_host(view_, cursor_, chunk, bytes);
}

Status ChunkCopies::queue(char* chunk, std::size_t bytes) {
  const cuda::ContextScope scope(*context_);
  if (!scope.status().ok()) return scope.status();
  cuda::Event copied;
  if (Status taken = cuda::Context::take_event(context_, copied); !taken.ok()) return taken;
  in_flight_.push_back(std::move(copied));
  Status copies = way_ == Way::out ? copy_out(chunk, Side::host, view_, cursor_, bytes, stream_)
                                   : copy_in(view_, cursor_, chunk, Side::host, bytes, stream_);
  Status recorded = in_flight_.back().record(stream_);  // also behind copies that failed half way
  return copies.ok() ? recorded : copies;
}

Status ChunkCopies::advance(std::size_t& ended) noexcept {
  ended = std::exchange(ended_, 0);
  while (!in_flight_.empty()) {
    bool done = false;
    if (Status state = in_flight_.front().query(done); !state.ok()) return state;
    if (!done) break;
    in_flight_.pop_front();
    ++ended;
  }
  return {};
}

}  // namespace penstock::transports
