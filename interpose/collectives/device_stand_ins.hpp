// Reductions of vectors that lie in host memory, by the GPU all the same, as other vectors lie on one: device
// memory stands in for them, into which the own vector is copied first, and from which the result is copied
// in the end. Knows no algorithm, and no single collective.
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

/// In the user's memory, without gaps.
struct UserVector {
  void* pointer = nullptr;
  std::size_t bytes = 0;
};

/// Owns the device memory; refers to the user's. Made before the ranks agree, as it may be refused. Thread:
/// one at a time.
class DeviceStandIns {
 public:
  /// For whichever of the two lies in host memory; they may begin at the same address. The own vector goes
  /// into the result's memory if that is on a device and large enough. None: there is no context, or no
  /// memory. Errors: std::bad_alloc.
  [[nodiscard]] static std::optional<DeviceStandIns> make(const UserVector& own, const UserVector& result);

  /// On the device: what to combine, and where the result is to come.
  [[nodiscard]] const void* own() const noexcept { return own_; }
  [[nodiscard]] void* result() const noexcept { return result_; }
  /// Nothing of the application's earlier work is left on that device.
  [[nodiscard]] bool may_upload_now() const;
  /// Blocking: each as long as its copy takes. Nothing if that vector is on the device itself.
  [[nodiscard]] Status upload() const;
  [[nodiscard]] Status download() const;

 private:
  void* own_ = nullptr;
  void* result_ = nullptr;
  std::optional<UserVector> uploaded_;    ///< in host memory
  std::optional<UserVector> downloaded_;  ///< the same
  transports::cuda::RelaySlice memory_;
};

/// A plan on what lies on a device, with the copies before and after it if there are stand-ins.
class StandInPlan final : public ExchangePlan {
 public:
  StandInPlan(std::unique_ptr<ExchangePlan> plan, std::optional<DeviceStandIns> stand_ins) noexcept
      : stand_ins_(std::move(stand_ins)), plan_(std::move(plan)) {}

  void outlive_the_call() override { plan_->outlive_the_call(); }
  [[nodiscard]] bool may_begin() const override { return plan_->may_begin(); }
  [[nodiscard]] std::unique_ptr<Exchange> begin(const CallScope& scope, MessageLane lane) const override;

 private:
  std::optional<DeviceStandIns> stand_ins_;
  std::unique_ptr<ExchangePlan> plan_;  ///< goes before the memory that it uses
};

}  // namespace penstock::interpose
