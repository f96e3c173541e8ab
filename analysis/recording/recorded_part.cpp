#include "analysis/recording/recorded_part.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace penstock::analysis {
namespace {

constexpr std::uint64_t records_per_block = trace::block_bytes / trace::record_bytes - 1;

/// Those that begin with the time of their begin and that of their end.
template <typename Record>
constexpr bool is_timed = requires(Record record) {
  record.begin_ns;
  record.end_ns;
}
|| requires(Record record) {
  record.post_ns;
  record.complete_ns;
};

/// Finds how far each lane came; one that filled its last block may have had more records.
struct LaneEnds {
  struct Lane {
    std::uint64_t block = 0;    ///< its ordinal
    std::uint64_t records = 0;  ///< in that block
    std::uint64_t last_ns = 0;  ///< end of the last record
    bool may_go_on = false;     ///< behind what the file has
  };
  const TraceReader& reader;
  std::unordered_map<std::uint64_t, Lane> lanes;
  bool has_gpu_records = false;
  std::pair<std::uint64_t, std::uint64_t> newest_block{};  ///< lane and ordinal, of the blocks with records
  std::uint64_t newest_began_ns = 0;                       ///< end of its first record

  template <typename Record>
  void operator()(const Record& record, const trace::BlockHeader& block) {
    Lane& lane = lanes[block.lane];
    lane.records = lane.block == block.ordinal ? lane.records + 1 : 1;
    lane.block = block.ordinal;
    lane.may_go_on = reader.is_block_full();
    if constexpr (is_timed<Record>) {
      std::uint64_t times_ns[2];
      std::memcpy(times_ns, &record, sizeof times_ns);
      lane.last_ns = std::max(lane.last_ns, times_ns[1]);
      if (const std::pair now{block.lane, block.ordinal + 1}; now != newest_block) {
        newest_block = now;
        newest_began_ns = times_ns[1];
      }
    }
    has_gpu_records = has_gpu_records || std::is_same_v<Record, trace::DeviceActivity>;
  }
};

/// Returns the time from which on records may be missing as the end of the file is. A writer's
/// records behind it come after its last one before it, or, if it had none yet, after the last block was
/// begun.
std::uint64_t cut_off_from_ns(TraceReader& reader) {
  LaneEnds ends{reader};
  static_cast<void>(reader.for_each(ends));
  std::uint64_t earliest_ns = ends.newest_began_ns;
  for (const auto& [number, lane] : ends.lanes) {
    if (lane.may_go_on && lane.last_ns != 0) {
      earliest_ns = std::min(earliest_ns, lane.last_ns);
    }
  }
  return std::max(earliest_ns, reader.header().begin_ns);
}

/// Returns the time from which on records are missing for want of space, or trace::nothing_missing.
std::uint64_t dropped_from_ns(TraceReader& reader) {
  const trace::FileHeader& header = reader.header();
  if (header.missing_from_ns != 0) {
    return std::max(header.missing_from_ns, header.begin_ns);
  }
  if (header.dropped_records == 0) {
    return trace::nothing_missing;
  }
  LaneEnds ends{reader};
  static_cast<void>(reader.for_each(ends));
  constexpr std::uint32_t with_kernels = trace::feature::kernels | trace::feature::gpu_used;
  if ((header.features & with_kernels) == with_kernels && !ends.has_gpu_records) {
    return header.begin_ns;  // the lane of GPU records may never have had a block
  }
  std::uint64_t earliest_ns = trace::nothing_missing;
  for (const auto& [number, lane] : ends.lanes) {
    if (lane.records == records_per_block && lane.last_ns != 0) {
      earliest_ns = std::min(earliest_ns, lane.last_ns);
    }
  }
  return earliest_ns == trace::nothing_missing ? header.begin_ns : std::max(earliest_ns, header.begin_ns);
}

/// Returns the time from which on the rank's records are missing, or trace::nothing_missing.
std::uint64_t missing_from_ns(TraceReader& reader) {
  const std::uint64_t dropped_ns = dropped_from_ns(reader);
  return reader.is_cut_off() ? std::min(dropped_ns, cut_off_from_ns(reader)) : dropped_ns;
}

std::uint64_t known_from_ns(const TraceReader& reader) {
  const trace::FileHeader& header = reader.header();
  std::uint64_t from_ns = reader.lost().known_from_ns;
  if ((header.features & trace::feature::window) != 0) {
    from_ns =
        std::max(from_ns, header.window_begin_ns == 0 ? trace::nothing_missing : header.window_begin_ns);
  }
  return from_ns <= header.begin_ns ? 0 : from_ns;
}

}  // namespace

KnownTime known_time(TraceReader& reader) {
  return {known_from_ns(reader), missing_from_ns(reader)};
}

bool is_of_window(const trace::FileHeader& header, const KnownTime& own) {
  return (header.features & trace::feature::window) != 0 && header.window_begin_ns != 0 &&
         own.from_ns <= std::max(header.window_begin_ns, header.begin_ns) &&
         (own.until_ns == trace::nothing_missing || own.until_ns == header.window_end_ns);
}

std::vector<KnownTime> known_times(std::span<const RecordedRank> ranks) {
  struct Host {
    std::uint64_t begin_ns = ~std::uint64_t{0};
    KnownTime known;
  };
  std::map<std::string_view, Host> hosts;
  for (const RecordedRank& rank : ranks) {
    Host& host = hosts[rank.host];
    host.begin_ns = std::min(host.begin_ns, rank.begin_ns);
    host.known.from_ns = std::max(host.known.from_ns, rank.own.from_ns);
    host.known.until_ns = std::min(host.known.until_ns, rank.own.until_ns);
  }
  // of the job, since the begin of a host's first rank
  constexpr std::uint64_t never = trace::nothing_missing;
  std::uint64_t from_ns = 0;
  std::uint64_t until_ns = never;
  for (const auto& [name, host] : hosts) {
    if (host.known.from_ns != 0) {
      from_ns = std::max(from_ns, host.known.from_ns == never ? never : host.known.from_ns - host.begin_ns);
    }
    if (host.known.until_ns != never) {
      until_ns = std::min(until_ns, host.known.until_ns - host.begin_ns);
    }
  }
  std::vector<KnownTime> of_ranks;
  for (const RecordedRank& rank : ranks) {
    const std::uint64_t begin_ns = hosts[rank.host].begin_ns;
    of_ranks.push_back({from_ns == 0 || from_ns == never ? from_ns : begin_ns + from_ns,
                        until_ns == never ? never : begin_ns + until_ns});
  }
  return of_ranks;
}

}  // namespace penstock::analysis
