#include "transports/tune/sending.hpp"

namespace penstock::transports::tune {

Status Sending::step() noexcept {
  switch (slot_.turn.load(std::memory_order_acquire)) {
    case Turn::wanted: {
      const char* why_not = "";
      slot_.offer = describe(source_, &why_not);
      TailSend::start(source_, slot_.offer, tail_);
      slot_.turn.store(Turn::offered, std::memory_order_release);
      return {};
    }
    case Turn::wants_relaying:
      return stage(Staging::device_ring);
    case Turn::wants_staging:
      return stage(Staging::host_ring);
    case Turn::wants_pushing:
      return push();
    case Turn::taken:
      end();
      return {};
    case Turn::idle:
    case Turn::offered:
    case Turn::staged:
    case Turn::pushed:
      break;
  }
  if (tail_ != nullptr) tail_->advance();
  bool produced = false;
  return staged_ == nullptr ? Status{} : staged_->advance(produced);
}

Status Sending::stage(Staging staging) noexcept {
  Status started = StagedSend::start(source_, staging, slot_.offer, staged_);
  if (started.ok()) slot_.turn.store(Turn::staged, std::memory_order_release);
  return started;
}

Status Sending::push() noexcept {
  if (push_ == nullptr) return PushSend::start(source_, slot_.target, push_);
  bool arrived = false;
  Status pushed = push_->advance(arrived);
  if (arrived) slot_.turn.store(Turn::pushed, std::memory_order_release);
  return pushed;
}

void Sending::end() noexcept {
  staged_.reset();
  tail_.reset();
  push_.reset();
  slot_.turn.store(Turn::idle, std::memory_order_release);
}

}  // namespace penstock::transports::tune
