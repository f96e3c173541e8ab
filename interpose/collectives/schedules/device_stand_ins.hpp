// The GPU also combines vectors in host memory if other ranks' vectors lie on one. Device memory stands in
// for them: the own vector is copied there first, and the result is copied back in the end. This header knows
// no algorithm, and no single collective.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "interpose/collectives/schedules/schedule.hpp"
#include "transports/cuda/context.hpp"
#include "transports/device_memory/relay_memory.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/stream_order/earlier_work.hpp"

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
  /// Returns whether the work is complete that the application had queued there at `begun_ns`.
  [[nodiscard]] bool may_upload(std::uint64_t begun_ns, transports::EarlierWork& earlier) const;
  /// Each blocks as long as its copy takes, behind that work. No effect if the vector is on the device
  /// itself.
  [[nodiscard]] Status upload(std::uint64_t begun_ns) const;
  [[nodiscard]] Status download(std::uint64_t begun_ns) const;

 private:
  void* own_ = nullptr;
  void* result_ = nullptr;
  std::optional<UserVector> uploaded_;    ///< in host memory
  std::optional<UserVector> downloaded_;  ///< in host memory
  transports::cuda::RelaySlice memory_;
};

/// A schedule on vectors on a device, with the copies before and after it if there are stand-ins.
class StandInSchedule final : public Schedule {
 public:
  StandInSchedule(std::unique_ptr<Schedule> schedule, std::optional<DeviceStandIns> stand_ins) noexcept
      : stand_ins_(std::move(stand_ins)), schedule_(std::move(schedule)) {}

  void outlive_the_call() override { schedule_->outlive_the_call(); }
  [[nodiscard]] bool may_begin() const override { return schedule_->may_begin(); }
  [[nodiscard]] std::unique_ptr<ScheduleRun> begin(const CallScope& scope, TagRange tags) const override;

 private:
  std::optional<DeviceStandIns> stand_ins_;
  std::unique_ptr<Schedule> schedule_;  ///< destroyed before the memory that it uses
};

}  // namespace penstock::interpose
