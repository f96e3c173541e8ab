#include "interpose/record/gpu/gpu_clock_bounds.hpp"

#include <algorithm>
#include <cstdlib>

#include "interpose/record/trace_format.hpp"

namespace penstock::record {

namespace {

std::int64_t difference_ns(std::uint64_t left, std::uint64_t right) noexcept {
  return static_cast<std::int64_t>(left - right);
}

}  // namespace

void GpuClockBounds::call_began(std::uint32_t correlation, std::uint64_t begin_ns) noexcept {
  Call& known = call(correlation);
  known.call_begin_ns = begin_ns;
  compare(known);
}

void GpuClockBounds::activity(std::uint32_t correlation, StreamOfContext stream, std::uint64_t begin_ns,
                              std::uint64_t end_ns) noexcept {
  Call& known = call(correlation);
  known.activity_begin_ns = begin_ns;
  compare(known);
  Activity& last = last_of(stream);
  if (last.stream != stream || last.correlation <= correlation) last = {stream, correlation, end_ns};
}

void GpuClockBounds::stream_was_synchronised(std::uint32_t correlation, StreamOfContext stream,
                                             std::uint64_t end_ns) noexcept {
  const Activity& last = last_of(stream);
  if (last.stream == stream) had_ended(last, correlation, end_ns);
}

void GpuClockBounds::context_was_synchronised(std::uint32_t correlation, std::uint32_t context,
                                              std::uint64_t end_ns) noexcept {
  for (const Activity& last : last_)
    if (last.stream.context == context) had_ended(last, correlation, end_ns);
}

std::uint64_t GpuClockBounds::error_ns() const noexcept {
  if (least_offset_ns_ == INT64_MIN || most_offset_ns_ == INT64_MAX) return trace::clock_error_unknown;
  return static_cast<std::uint64_t>(std::max(std::abs(least_offset_ns_), std::abs(most_offset_ns_)));
}

GpuClockBounds::Call& GpuClockBounds::call(std::uint32_t correlation) noexcept {
  Call& known = calls_[correlation % calls];
  if (known.correlation != correlation) known = {correlation, 0, 0};
  return known;
}

GpuClockBounds::Activity& GpuClockBounds::last_of(StreamOfContext stream) noexcept {
  return last_[(stream.context + stream.stream) % streams];
}

/// The synchronisation that the call `correlation` asked for returned at `end_ns`.
void GpuClockBounds::had_ended(const Activity& activity, std::uint32_t correlation,
                               std::uint64_t end_ns) noexcept {
  if (activity.end_ns == 0 || activity.correlation >= correlation) return;
  least_offset_ns_ = std::max(least_offset_ns_, difference_ns(activity.end_ns, end_ns));
}

void GpuClockBounds::compare(const Call& known) noexcept {
  if (known.call_begin_ns == 0 || known.activity_begin_ns == 0) return;
  most_offset_ns_ = std::min(most_offset_ns_, difference_ns(known.activity_begin_ns, known.call_begin_ns));
}

}  // namespace penstock::record
