// Reads a Perfetto trace back for tests, as its viewer would: interned names are looked up, begins and ends
// are paired by track. Written from Perfetto's schema, shares nothing with what writes it. Test only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace penstock::analysis::testing {

struct TracedTrack {
  std::string name;
  std::uint64_t parent = 0;
  std::int32_t process = 0;  ///< of process and thread tracks
  std::int32_t thread = 0;   ///< of thread tracks
  std::string unit;          ///< of counters
};

/// A counter's value from a moment on.
struct TracedValue {
  std::uint64_t track = 0;
  std::uint64_t at_ns = 0;
  double value = 0;
};

/// A slice, or an instant (then it ends when it begins).
struct TracedSlice {
  std::uint64_t track = 0;
  std::string name;
  std::string category;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::size_t depth = 0;                         ///< slices of its track that it lies in
  std::map<std::string, std::string> arguments;  ///< values as text
  std::vector<std::uint64_t> flows_begun;
  std::vector<std::uint64_t> flows_ended;
  bool is_instant = false;
};

struct PerfettoTrace {
  std::map<std::uint64_t, TracedTrack> tracks;
  std::vector<TracedSlice> slices;  ///< in the order of their begins
  std::vector<TracedValue> values;  ///< of counters
  std::uint64_t monotonic_ns = 0;   ///< of the clock snapshot
  std::uint64_t realtime_ns = 0;

  [[nodiscard]] std::vector<TracedSlice> on(const std::string& track_name) const;
};

/// Throws std::runtime_error where a viewer would stumble: a number that nothing defines, an end without a
/// begin, a begin without an end, times that go back on a track, text that is no UTF-8.
[[nodiscard]] PerfettoTrace read_perfetto(const std::filesystem::path& file);

}  // namespace penstock::analysis::testing
