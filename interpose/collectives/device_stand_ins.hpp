// The GPU also combines vectors in host memory if other ranks' vectors lie on one. Device memory stands in
// for them: the own vector is copied there first, and the result is copied back in the end. This header knows
// no algorithm, and no single collective.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "interpose/collectives/exchange.hpp"
#include "transports/cuda/context.hpp"
#include "transports/device_memory/relay_memory.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// A vector in the user's memory, without gaps.
struct UserVector {
  void* pointer = nullptr;
  std::size_t bytes = 0;
};

/// Owns the device memory; refers to the user's. Made before the ranks agree, as it may be refused. Thread:
/// one at a time.
class DeviceStandIns {
 public:
  /// Makes stand-ins for whichever vectors lie in host memory; both may begin at the same address. The own
  /// vector is uploaded into the result's memory if that is on a device and large enough. None: there is no
  /// context, or no memory. Errors: std::bad_alloc.
  [[nodiscard]] static std::optional<DeviceStandIns> make(const UserVector& own, const UserVector& result);

  /// On the device: what to combine, and where the result goes.
  [[nodiscard]] const void* own() const noexcept { return own_; }
  [[nodiscard]] void* result() const noexcept { return result_; }
  /// Returns whether the application's earlier work on that device is complete.
  [[nodiscard]] bool may_upload_now() const;
  /// Each blocks as long as its copy takes. No effect if the vector is on the device itself.
  [[nodiscard]] Status upload() const;
  [[nodiscard]] Status download() const;

 private:
  void* own_ = nullptr;
  void* result_ = nullptr;
  std::optional<UserVector> uploaded_;    ///< in host memory
  std::optional<UserVector> downloaded_;  ///< in host memory
  transports::cuda::RelaySlice memory_;
};

/// A plan on vectors on a device, with the copies before and after it if there are stand-ins.
class StandInPlan final : public ExchangePlan {
 public:
  StandInPlan(std::unique_ptr<ExchangePlan> plan, std::optional<DeviceStandIns> stand_ins) noexcept
      : stand_ins_(std::move(stand_ins)), plan_(std::move(plan)) {}

  void outlive_the_call() override { plan_->outlive_the_call(); }
  [[nodiscard]] bool may_begin() const override { return plan_->may_begin(); }
  [[nodiscard]] std::unique_ptr<Exchange> begin(const CallScope& scope, MessageLane lane) const override;

 private:
  std::optional<DeviceStandIns> stand_ins_;
  std::unique_ptr<ExchangePlan> plan_;  ///< destroyed before the memory that it uses
};

}  // namespace penstock::interpose
