// Encodes the part of Perfetto's trace format that exports need: packets with tracks, slices, instants, flows
// and counters; names and arguments are written once ("interned"). Knows protobuf's field numbers; must not
// know recordings. Source: protos/perfetto/trace of https://github.com/google/perfetto, the fields documented
// as stable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "analysis/export/common/output.hpp"

namespace penstock::analysis::exports::perfetto {

enum class Category : std::uint8_t {
  mpi = 1,
  message,
  nvtx,
  transfer,
  kernel,
  copy,
  synchronisation,
  penstock
};

enum class Key : std::uint8_t {
  bytes = 1,
  peer,
  tag,
  communicator,
  buffer,
  peer_buffer,
  transport,
  reason,
  call_site,
  calls,
  domain,
  pack_ns,
  wait_ns,
  correlation,
};

struct Argument {
  Key key;
  std::variant<std::uint64_t, std::int64_t, std::string_view> value;
};

/// Unit: ns of the trace's clock. Track and flow numbers are unique in the trace, from 1.
struct Event {
  std::uint64_t at_ns = 0;
  std::uint64_t track = 0;
  Category category = Category::mpi;
  std::string_view name;
  std::span<const Argument> arguments;
  std::uint64_t flow_begins = 0;  ///< 0: none
  std::uint64_t flow_ends = 0;
};

struct TrackWords {
  std::uint64_t track = 0;
  std::uint64_t parent = 0;
  std::string_view name;
  std::int32_t order = 0;  ///< among the children of the parent
};

/// Writes the first packet of a file: its times are of CLOCK_MONOTONIC, which was `monotonic_ns` at
/// `realtime_ns`.
void write_clocks(OutputFile& file, std::uint64_t monotonic_ns, std::uint64_t realtime_ns);
/// Returns true if a file begins as written by write_clocks().
[[nodiscard]] bool is_trace(const std::filesystem::path& file);

/// Packets that share interned strings. Number: from 1, each once in a file.
class Sequence {
 public:
  Sequence(OutputFile& file, std::uint32_t number);

  /// Requests the order of processes and threads from their TrackWords. Call it once per file.
  void describe_root();
  /// Describes a process or thread. Their numbers are invented: a job's real ones are not unique, because it
  /// may span hosts.
  void describe_process(const TrackWords& words, std::int32_t process, std::string_view command_line);
  void describe_thread(const TrackWords& words, std::int32_t process, std::int32_t thread);
  void describe(const TrackWords& words);
  void describe_counter(const TrackWords& words, std::string_view unit);

  void begin(const Event& event);
  void end(std::uint64_t at_ns, std::uint64_t track);
  void instant(const Event& event);
  /// Gives a counter's value from a moment on.
  void value(std::uint64_t at_ns, std::uint64_t track, double value);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Table = std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>>;

  [[nodiscard]] std::uint64_t intern(Table& table, std::string_view text, std::uint32_t field);
  template <typename Add>
  void write_on_track(std::uint64_t at_ns, std::int32_t type, std::uint64_t track, const Add& add);
  void write_event(const Event& event, std::int32_t type);
  void write_packet();

  OutputFile& file_;
  std::uint32_t number_;
  Table event_names_;
  Table values_;
  std::string new_strings_;  ///< InternedData of the current packet
  std::string packet_;
};

}  // namespace penstock::analysis::exports::perfetto
