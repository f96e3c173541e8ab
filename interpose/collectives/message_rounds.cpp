#include "interpose/collectives/message_rounds.hpp"

namespace penstock::interpose {

void RoundsPlan::outlive_the_call() {
  for (MessagePlan& round : rounds_) round.outlive_the_call();
}

std::unique_ptr<Exchange> RoundsPlan::begin(const CallScope& scope, MessageLane lane) const {
  return std::make_unique<RoundsExchange>(*this, scope, lane);
}

RoundsExchange::RoundsExchange(const RoundsPlan& plan, const CallScope& scope, MessageLane lane)
    : plan_(plan), lane_(lane) {
  post(scope);
}

void RoundsExchange::post(const CallScope& scope) {
  if (posted_ == plan_.rounds_.size()) {
    messages_ = nullptr;
  } else {
    messages_ = plan_.rounds_[posted_].begin(scope, lane_);
    ++posted_;
  }
}

bool RoundsExchange::step(const CallScope& scope) {
  while (messages_ != nullptr) {
    if (!messages_->step(scope)) return false;
    has_come_ = true;
    const bool goes_on = posted_ < plan_.rounds_.size();
    if (goes_on && !wait_.is_over([&] { return plan_.rounds_[posted_].may_begin(); })) return false;
    wait_ = {};
    note(*messages_);
    post(scope);
    has_come_ = false;
  }
  return true;
}

}  // namespace penstock::interpose
