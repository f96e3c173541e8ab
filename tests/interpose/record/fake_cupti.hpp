// A libcupti that does what a test tells it: hands over the records it is given, refuses, counts the calls.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

namespace penstock::test {

enum class FakeCuptiBehaviour : int {
  normal,
  already_subscribed,
  unknown_version,
  traces_no_calls,
  knows_no_threads
};

/// What was asked of it, in order.
enum class FakeCuptiCall : int {
  register_timestamp_callback,
  register_callbacks,
  enable_kind,
  enable_driver_call,
  flush,
  forced_flush,
  push,
  pop,
};

/// Reached by the name `fake_cupti_control` in the library.
struct FakeCuptiControl {
  FakeCuptiBehaviour behaviour = FakeCuptiBehaviour::normal;
  std::vector<FakeCuptiCall> (*calls)() = nullptr;  ///< so far
  std::vector<int> enabled_kinds;
  std::set<std::uint32_t> disabled_driver_calls;  ///< of those that CUPTI_ACTIVITY_KIND_DRIVER enables
  std::set<std::uint32_t> disabled_runtime_calls;
  std::size_t dropped = 0;  ///< given once as the number of dropped records
  CUpti_TimestampCallbackFunc timestamp = nullptr;
  /// Hands one buffer with these bytes to the client, as CUPTI does from a thread of its own. False: the
  /// client gave no buffer.
  bool (*deliver)(const void* records, std::size_t bytes) = nullptr;
};

}  // namespace penstock::test
