#include "examples/gmh/library/event.hpp"

namespace gmh {

Event::Event(GpuEvents& events, const TaskList& list, std::string name, cudaStream_t stream)
    : list_(&list), name_(std::move(name)), point_(events), stream_(stream) {}

Event::Event(GpuEvents& events, const Transfer& transfer, PinnedBytes staging, cudaStream_t stream,
             cudaStream_t copies)
    : list_(nullptr),
      point_(events),
      stream_(stream),
      copies_(copies),
      staging_(std::move(staging)),
      own_message_(std::in_place, events, transfer),
      message_(&*own_message_) {
  state_ = State::stream_is_busy;
  if (stream_ != nullptr && !gmh::is_done(cudaStreamQuery(stream_), "ask for a stream's work"))
    point_.record(stream_);
}

void Event::queued() {
  state_ = State::on_gpu;
  if (is_awaited_) point_.record(stream_);
}

void Event::begun(Message& message) {
  message_ = &message;
  copies_ = stream_;
  state_ = State::under_way;
}

void Event::reset() noexcept {
  state_ = State::idle;
  point_.forget();
}

bool Event::poll() {
  switch (state_) {
    case State::idle:
      return false;
    case State::stream_is_busy:
      if (point_.is_recorded() && !point_.is_reached()) return false;
      message_->begin(copies_);
      state_ = State::under_way;
      [[fallthrough]];
    case State::under_way:
      if (message_->poll()) state_ = State::done;
      break;
    case State::on_gpu:
      if (!point_.is_recorded()) point_.record(stream_);  // later than necessary, which is correct too
      if (point_.is_reached()) state_ = State::done;
      break;
    case State::done:
      break;
  }
  return state_ == State::done;
}

const std::string& Event::name() {
  if (name_.empty() && message_ != nullptr)
    name_ = message_->description();  // formatted on demand only, since it takes time
  return name_;
}

void Event::block(cudaStream_t stream) {
  if (stream == stream_) return;  // a stream is in order anyway
  if (!point_.is_recorded()) point_.record(stream_);
  point_.block(stream);
}

}  // namespace gmh
