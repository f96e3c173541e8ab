// How far the recordings of a job can be believed: where records were dropped for want of space, each rank
// knows all of what it did up to some moment, and the job up to the earliest of these. Must not know what the
// records mean.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/recording/trace_reader.hpp"

namespace penstock::analysis {

/// Returns the moment from which on the rank's records are missing, in its host's clock and not before its
/// begin; trace::nothing_missing. Reads the whole file if the recorder that wrote it did not tell.
[[nodiscard]] std::uint64_t missing_from_ns(TraceReader& reader);

/// What is needed of a rank.
struct RecordedRank {
  std::string_view host;
  std::uint64_t begin_ns;         ///< MPI_Init returned
  std::uint64_t missing_from_ns;  ///< of its own records
};

/// Returns the moment up to which all ranks are known, for each rank in its host's clock. Hosts' clocks are
/// compared by when their first ranks began: their messages are not joined yet. No rank's moment is later
/// than its own, so that an error of this touches reasons only. trace::nothing_missing for all if nothing is.
[[nodiscard]] std::vector<std::uint64_t> known_until_ns(std::span<const RecordedRank> ranks);

}  // namespace penstock::analysis
