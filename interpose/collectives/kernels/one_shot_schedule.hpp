// A persistent collective that a kernel on each rank carries out at each start. This header knows no single
// collective.
#pragma once

#include <memory>
#include <utility>

#include "interpose/collectives/kernels/one_shot_series.hpp"
#include "interpose/collectives/kernels/one_shot_work.hpp"
#include "interpose/collectives/schedules/schedule.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/readiness.hpp"

namespace penstock::interpose {

/// Starts without a message to the other ranks: their kernels wait for each other, for a limited time per
/// launch. Owns its own series, as ranks may start several persistent collectives in any order.
class OneShotSchedule final : public Schedule {
 public:
  OneShotSchedule(std::unique_ptr<OneShotSeries> series, OfferedKernel kernel)
      : series_(std::move(series)), kernel_(std::move(kernel)) {}

  void outlive_the_call() override {}
  [[nodiscard]] bool may_begin() const override {
    return transports::is_idle({kernel_.own, {}, transports::time_of_call_ns()});
  }
  [[nodiscard]] std::unique_ptr<ScheduleRun> begin(const CallScope&, TagRange) const override {
    return begin_uncounted(*series_, kernel_, transports::time_of_call_ns());
  }

 private:
  const std::unique_ptr<OneShotSeries> series_;
  const OfferedKernel kernel_;
};

}  // namespace penstock::interpose
