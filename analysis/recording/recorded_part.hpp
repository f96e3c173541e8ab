// Determines from when until when the recordings of a job are complete. If records were dropped for lack of
// space, or the file was cut off, a rank's recording is complete up to some time; if the oldest were
// overwritten, or only a window was to be recorded, from some time on; and the job's from the latest to the
// earliest of these. Must not know the records' meaning.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/recording/trace_reader.hpp"

namespace penstock::analysis {

/// The time in which all that happened is recorded, in the clock of some host.
struct KnownTime {
  std::uint64_t from_ns = 0;  ///< 0: the rank's begin
  std::uint64_t until_ns = trace::nothing_missing;

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(from_ns, until_ns);
  }
  friend bool operator==(const KnownTime&, const KnownTime&) = default;
};

/// Returns the time of the rank's own records, not before its begin. It is empty if a window was to be
/// recorded and never began. Reads the whole file if it was cut off, or if an older recorder did not note
/// from when on records are missing.
[[nodiscard]] KnownTime known_time(TraceReader& reader);

/// Returns true if the recording lacks nothing but what was not asked for: it is of a window.
[[nodiscard]] bool is_of_window(const trace::FileHeader& header, const KnownTime& own);

/// The facts about a rank that known_times() needs.
struct RecordedRank {
  std::string_view host;
  std::uint64_t begin_ns;  ///< MPI_Init returned
  KnownTime own;
};

/// Returns the time in which all ranks are known, for each rank in its host's clock. Hosts' clocks are
/// compared by the begin of their first ranks, as messages are not joined yet. No rank's time is longer than
/// its own, so an error here affects causes only.
[[nodiscard]] std::vector<KnownTime> known_times(std::span<const RecordedRank> ranks);

}  // namespace penstock::analysis
