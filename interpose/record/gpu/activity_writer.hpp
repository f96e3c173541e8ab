// Converts CUPTI's activity records to those of the recording: kernels, copies, memsets, synchronisations,
// with the thread that issued them and a mark on Penstock's own work. Knows the layouts of records, not how
// they are collected.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>

#include "interpose/record/file/lane.hpp"
#include "interpose/record/gpu/gpu_clock_bounds.hpp"
#include "interpose/record/gpu/issuing_calls.hpp"

namespace penstock::record {

/// The kind of CUPTI's external ids that Penstock uses. Their values have no meaning: any id means "own".
inline constexpr CUpti_ExternalCorrelationKind own_work_kind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;

/// Thread: one; its records go to that thread's lane.
class ActivityWriter {
 public:
  /// CUPTI's thread ids are those of gettid(). Call this before the first write().
  void threads_are_known() noexcept { knows_threads_ = true; }
  void write(const CUpti_Activity& record) noexcept;

  /// Returns the number of records that a forced flush returned before they were complete.
  [[nodiscard]] std::uint64_t incomplete() const noexcept { return incomplete_; }
  /// Returns the number of CUDA calls that CUPTI has traced. Thread: any.
  [[nodiscard]] std::uint64_t traced_calls() const noexcept {
    return traced_calls_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t clock_error_ns() const noexcept { return clock_.error_ns(); }

 private:
  template <typename Source>
  void write_activity(const Source& source, trace::RecordKind kind, trace::DeviceActivity record) noexcept;
  void write_synchronisation(const CUpti_Activity& record) noexcept;
  template <typename Record>
  void put(Record& record) noexcept;

  IssuingCalls calls_;
  bool knows_threads_ = false;
  GpuClockBounds clock_;
  std::uint64_t incomplete_ = 0;
  std::atomic<std::uint64_t> traced_calls_{0};
};

}  // namespace penstock::record
