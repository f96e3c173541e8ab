#include "transports/tune/sending.hpp"

namespace penstock::transports::tune {

Status Sending::step() noexcept {
  switch (slot_.state.load(std::memory_order_acquire)) {
    case State::wanted: {
      const char* why_not = "";
      slot_.offer = make_offer(source_, &why_not);
      slot_.state.store(State::offered, std::memory_order_release);
      return {};
    }
    case State::wants_relaying:
      return stage(Staging::device_ring);
    case State::wants_staging:
      return stage(Staging::host_ring);
    case State::wants_pushing:
      return push();
    case State::taken:
      end();
      return {};
    case State::idle:
    case State::offered:
    case State::staged:
    case State::pushed:
      break;
  }
  bool produced = false;
  return staged_ == nullptr ? Status{} : staged_->advance(produced);
}

Status Sending::stage(Staging staging) noexcept {
  Status started = StagedSend::start(source_, staging, slot_.offer, staged_);
  if (started.ok()) slot_.state.store(State::staged, std::memory_order_release);
  return started;
}

Status Sending::push() noexcept {
  if (push_ == nullptr) return start_push(source_, slot_.target, push_);
  bool arrived = false;
  Status pushed = push_->advance(arrived);
  if (arrived) slot_.state.store(State::pushed, std::memory_order_release);
  return pushed;
}

void Sending::end() noexcept {
  staged_.reset();
  push_.reset();
  slot_.state.store(State::idle, std::memory_order_release);
}

}  // namespace penstock::transports::tune
