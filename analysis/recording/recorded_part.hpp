// Determines up to which time the recordings of a job are complete. If records were dropped for lack of
// space, a rank's recording is complete up to some time, and the job's up to the earliest of these. Must not
// know the records' meaning.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/recording/trace_reader.hpp"

namespace penstock::analysis {

/// Returns the time from which on the rank's records are missing, in its host's clock and not before its
/// begin, or trace::nothing_missing. Reads the whole file if an older recorder did not note the time.
[[nodiscard]] std::uint64_t missing_from_ns(TraceReader& reader);

/// The facts about a rank that known_until_ns() needs.
struct RecordedRank {
  std::string_view host;
  std::uint64_t begin_ns;         ///< MPI_Init returned
  std::uint64_t missing_from_ns;  ///< of its own records
};

/// Returns the time up to which all ranks are known, for each rank in its host's clock;
/// trace::nothing_missing for all if nothing is missing. Hosts' clocks are compared by the begin of their
/// first ranks, as messages are not joined yet. No rank's time is later than its own, so an error here
/// affects causes only.
[[nodiscard]] std::vector<std::uint64_t> known_until_ns(std::span<const RecordedRank> ranks);

}  // namespace penstock::analysis
