#include "transports/copies/bounce_pull.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace penstock::transports {
using cuda::Bounce;

namespace {

/// The most pulls at work: the number of rings that are kept.
constexpr unsigned most_at_work = Bounce::most_kept;
std::atomic<unsigned> at_work{0};

bool take_turn() noexcept {
  unsigned now = at_work.load(std::memory_order_relaxed);
  while (now < most_at_work) {
    if (at_work.compare_exchange_weak(now, now + 1, std::memory_order_relaxed)) return true;
  }
  return false;
}

}  // namespace

BouncePull::BouncePull(CopySource source, BufferView destination, cuda::ContextRef context)
    : source_(std::move(source)),
      destination_(std::move(destination)),
      cursor_(destination_.layout),
      context_(std::move(context)),
      step_bytes_(Bounce::step_bytes_for(source_.bytes)) {}

BouncePull::~BouncePull() {
  for (std::size_t step = emptied_; step < queued_; ++step) {
    static_cast<void>(copied_[step % Bounce::depth].wait());
  }
  end();
}

void BouncePull::end() noexcept {
  if (!std::exchange(is_at_work_, false)) return;
  bounce_.reset();
  at_work.fetch_sub(1, std::memory_order_relaxed);
}

Status BouncePull::start() noexcept {
  is_at_work_ = take_turn();
  return is_at_work_ ? begin() : Status{};
}

/// Begins when this pull's turn comes.
Status BouncePull::begin_late() noexcept {
  is_at_work_ = true;
  Status begun = begin();
  if (begun.code() != Code::declined) return begun;
  end();
  return by_driver_.emplace(source_, destination_, context_).start();
}

Status BouncePull::begin() noexcept {
  if (at_work.load(std::memory_order_relaxed) > 1)
    step_bytes_ = Bounce::step_bytes_among_others(source_.bytes);
  const cuda::ContextScope scope(*context_);
  if (!scope.status().ok()) return scope.status();
  bounce_ = Bounce::take(context_);
  if (bounce_ == nullptr || !bounce_->is_pinned()) return {Code::declined, "no pinned memory"};
  for (std::size_t each = 0; each < std::min(steps(), Bounce::depth); ++each) {
    if (Status taken = cuda::Context::take_event(context_, copied_[each]); !taken.ok()) return taken;
  }
  if (Status made = context_->next_pull_stream(stream_); !made.ok()) return made;
  return fill_free_chunks();
}

Status BouncePull::advance(bool& finished) noexcept {
  if (by_driver_) return by_driver_->advance(finished);
  finished = emptied_ == steps();
  if (finished) return {};
  if (!is_at_work_) return take_turn() ? begin_late() : Status{};
  bool copied = false;
  Status state = copied_[emptied_ % Bounce::depth].query(copied);
  if (!state.ok() || !copied) return state;
  const std::size_t bytes = step_bytes(emptied_);
  if (Status moved = copy_in_host(destination_, cursor_, bounce_->chunk(emptied_), bytes); !moved.ok())
    return moved;
  ++emptied_;
  finished = emptied_ == steps();
  if (finished) end();
  if (queued_ == steps()) return {};
  const cuda::ContextScope scope(*context_);
  return scope.status().ok() ? fill_free_chunks() : scope.status();
}

Status BouncePull::fill_free_chunks() noexcept {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr) return cuda::no_driver();
  while (queued_ < steps() && queued_ - emptied_ < Bounce::depth) {
    const char* from = static_cast<const char*>(source_.pointer) + queued_ * step_bytes_;
    Status copy =
        cuda::check(driver->cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(bounce_->chunk(queued_)),
                                          reinterpret_cast<CUdeviceptr>(from), step_bytes(queued_), stream_),
                    "cuMemcpyAsync");
    if (!copy.ok()) return copy;
    if (Status recorded = copied_[queued_++ % Bounce::depth].record(stream_); !recorded.ok()) return recorded;
  }
  return {};
}

std::size_t BouncePull::steps() const noexcept {
  return (source_.bytes + step_bytes_ - 1) / step_bytes_;
}

std::size_t BouncePull::step_bytes(std::size_t step) const noexcept {
  return std::min(step_bytes_, source_.bytes - step * step_bytes_);
}

}  // namespace penstock::transports
