// A collective as messages in rounds: a rank may send in a round what it received in an earlier one. This
// header knows no single collective.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "interpose/collectives/schedules/message_schedule.hpp"
#include "interpose/progress/stream_order_wait.hpp"

namespace penstock::interpose {

/// The messages of each round. If a round has nothing for this rank, the next follows at once.
class RoundsSchedule final : public Schedule {
 public:
  /// Returns the schedule for the messages of the next round; valid until the next call.
  [[nodiscard]] MessageSchedule& next_round() { return rounds_.emplace_back(); }

  void outlive_the_call() override;
  [[nodiscard]] bool may_begin() const override { return rounds_.empty() || rounds_.front().may_begin(); }
  [[nodiscard]] std::unique_ptr<ScheduleRun> begin(const CallScope& scope, TagRange tags) const override;

 private:
  friend class RoundsRun;
  std::vector<MessageSchedule> rounds_;
};

/// Exchanges the rounds one after the other.
class RoundsRun final : public ScheduleRun {
 public:
  RoundsRun(const RoundsSchedule& schedule, const CallScope& scope, TagRange tags);
  [[nodiscard]] bool step(const CallScope& scope) override;
  /// Includes the next round, once it may be posted.
  [[nodiscard]] bool is_owed() const override {
    return messages_ != nullptr && (has_come_ || messages_->is_owed());
  }

 private:
  void post(const CallScope& scope);

  const RoundsSchedule& schedule_;
  TagRange tags_;
  std::size_t posted_ = 0;  ///< rounds
  std::unique_ptr<ScheduleRun> messages_;
  bool has_come_ = false;  ///< all messages of this round have arrived
  StreamOrderWait wait_;
};

}  // namespace penstock::interpose
