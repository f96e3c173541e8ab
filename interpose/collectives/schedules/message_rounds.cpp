#include "interpose/collectives/schedules/message_rounds.hpp"

namespace penstock::interpose {

void RoundsSchedule::outlive_the_call() {
  for (MessageSchedule& round : rounds_) round.outlive_the_call();
}

std::unique_ptr<ScheduleRun> RoundsSchedule::begin(const CallScope& scope, TagRange tags) const {
  return std::make_unique<RoundsRun>(*this, scope, tags);
}

RoundsRun::RoundsRun(const RoundsSchedule& schedule, const CallScope& scope, TagRange tags)
    : schedule_(schedule), tags_(tags) {
  post(scope);
}

void RoundsRun::post(const CallScope& scope) {
  if (posted_ == schedule_.rounds_.size()) {
    messages_ = nullptr;
  } else {
    messages_ = schedule_.rounds_[posted_].begin(scope, tags_);
    ++posted_;
  }
}

bool RoundsRun::step(const CallScope& scope) {
  while (messages_ != nullptr) {
    if (!messages_->step(scope)) return false;
    has_come_ = true;
    const bool goes_on = posted_ < schedule_.rounds_.size();
    if (goes_on && !wait_.is_over([&] { return schedule_.rounds_[posted_].may_begin(); })) return false;
    wait_ = {};
    note(*messages_);
    post(scope);
    has_come_ = false;
  }
  return true;
}

}  // namespace penstock::interpose
