#include "transports/tune/receiving.hpp"

#include "transports/cuda/readiness.hpp"

namespace penstock::transports::tune {
namespace {

constexpr unsigned bit(Road road) noexcept {
  return 1u << static_cast<unsigned>(road);
}

}  // namespace

void Receiving::begin() noexcept {
  road_ = Road::none;
  destination_.handed_over_ns = steady_now_ns();
  slot_.turn.store(Turn::wanted, std::memory_order_release);
}

Status Receiving::step(bool& finished) noexcept {
  finished = false;
  const Turn turn = slot_.turn.load(std::memory_order_acquire);
  if (turn == Turn::pushed) {
    finished = true;
  } else if (pull_ != nullptr) {
    if (Status advanced = pull_->advance(finished); !advanced.ok()) return advanced;
  } else if (turn == Turn::offered) {
    return take(0);
  } else if (turn == Turn::staged) {
    return take(~(bit(Road::staged) | bit(Road::relayed)));
  }
  if (!finished) return {};
  pull_.reset();
  slot_.turn.store(Turn::taken, std::memory_order_release);
  return {};
}

Status Receiving::take(unsigned excluded) noexcept {
  const Choice choice = choose(slot_.offer, destination_, excluded);
  if (excluded == 0) reason_ = choice.reason;
  if (choice.transport != nullptr) {
    road_ = choice.transport->road();
    return choice.transport->start(slot_.offer, destination_, pull_);
  }
  if (choice.wanted == Road::none || excluded != 0) return {Code::declined, "no road"};
  ask(choice.wanted);
  return {};
}

void Receiving::ask(Road road) noexcept {
  road_ = road;
  Turn turn = Turn::wants_staging;
  if (road == Road::relayed) turn = Turn::wants_relaying;
  if (road == Road::pushed) {
    const char* why_not = "";
    slot_.target = describe(destination_, &why_not);
    turn = Turn::wants_pushing;
  }
  slot_.turn.store(turn, std::memory_order_release);
}

}  // namespace penstock::transports::tune
