#include "transports/tune/receiving.hpp"

#include "transports/host/in_call.hpp"
#include "transports/stream_order/readiness.hpp"

namespace penstock::transports::tune {

void Receiving::begin() noexcept {
  transport_ = TransportKind::none;
  destination_.handed_over_ns = steady_now_ns();
  slot_.state.store(State::wanted, std::memory_order_release);
}

Status Receiving::step(bool& finished) noexcept {
  finished = false;
  const State state = slot_.state.load(std::memory_order_acquire);
  if (state == State::pushed) {
    finished = true;
  } else if (pull_ != nullptr) {
    if (Status advanced = pull_->advance(finished); !advanced.ok()) return advanced;
  } else if (state == State::offered) {
    return take({});
  } else if (state == State::staged) {
    return take(TransportSet::all_but({TransportKind::staged, TransportKind::relayed}));
  }
  if (!finished) return {};
  pull_.reset();
  slot_.state.store(State::taken, std::memory_order_release);
  return {};
}

Status Receiving::take(TransportSet excluded) noexcept {
  const Payload payload(slot_.offer, destination_);
  const Choice choice = choose(payload, excluded);
  if (excluded.is_empty()) reason_ = choice.reason;
  if (choice.transport != nullptr) {
    transport_ = choice.transport->kind();
    return choice.transport->start(payload, pull_);
  }
  if (choice.wanted == TransportKind::none || !excluded.is_empty()) return {Code::declined, "no transport"};
  ask(choice.wanted);
  return {};
}

void Receiving::ask(TransportKind transport) noexcept {
  transport_ = transport;
  State state = State::wants_staging;
  if (transport == TransportKind::relayed) state = State::wants_relaying;
  if (transport == TransportKind::pushed) {
    const char* why_not = "";
    slot_.target = make_offer(destination_, &why_not);
    state = State::wants_pushing;
  }
  slot_.state.store(state, std::memory_order_release);
}

}  // namespace penstock::transports::tune
