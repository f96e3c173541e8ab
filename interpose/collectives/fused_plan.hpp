// A persistent collective that a kernel on each rank does at each start. Knows no single collective.
#pragma once

#include <memory>
#include <utility>

#include "interpose/collectives/exchange.hpp"
#include "interpose/collectives/fused_series.hpp"
#include "interpose/collectives/fused_work.hpp"
#include "interpose/node/arrival_places.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/readiness.hpp"

namespace penstock::interpose {

/// Starts without a word to the other ranks: their kernels wait for each other, for a while at a time. Owns
/// the series, which is its own, as ranks may start several in any order.
class FusedPlan final : public ExchangePlan {
 public:
  FusedPlan(std::unique_ptr<FusedSeries> series, const FusedWork& work, const transports::Buffer& own)
      : series_(std::move(series)), work_(work), own_(own) {}

  void outlive_the_call() override {}
  [[nodiscard]] bool may_begin() const override {
    return transports::is_idle({own_, {}, transports::time_of_call_ns()});
  }
  [[nodiscard]] std::unique_ptr<Exchange> begin(const CallScope&, MessageLane) const override {
    const std::uint64_t since_ns = may_begin() ? 0 : transports::time_of_call_ns();
    return std::make_unique<FusedExchange>(*series_, work_, any_collective, since_ns);
  }

 private:
  const std::unique_ptr<FusedSeries> series_;
  const FusedWork work_;
  const transports::Buffer own_;
};

}  // namespace penstock::interpose
