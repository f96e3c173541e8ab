// The part of a report about waits: by call site, peer, communicator, function and phase, and the longest
// ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/causes/cause.hpp"
#include "analysis/report/phase_efficiency.hpp"

namespace penstock::analysis {

/// A place in the source that calls MPI. Empty parts are unknown.
struct CallSiteFigures {
  std::string function;
  std::string file;
  int line = 0;
  std::string module;  ///< path of the executable or library
  std::uint64_t module_offset = 0;
  std::string mpi_function;
  std::uint64_t calls = 0;
  std::uint64_t counted_ns = 0;
  TimeByCause by_cause{};
  TimeByCause within_error{};
  std::uint64_t gpu_wait_ns = 0;       ///< waits for a GPU to be ready, hidden or not
  std::int32_t main_counterpart = -1;  ///< rank at the other end of most of its time; -1: none stands out
};

/// A path through the program to calls of MPI.
struct CallPathFigures {
  std::string mpi_function;
  std::vector<std::string> frames;  ///< "exchange (halo.cpp:120)", innermost first; at least one
  std::size_t shown = 0;            ///< the frame that is the call site
  std::size_t call_site = 0;        ///< its row in Report::call_sites
  std::uint64_t calls = 0;
  std::uint64_t counted_ns = 0;
  TimeByCause by_cause{};
};

struct PeerFigures {
  std::int32_t rank = -1;  ///< -1: no particular rank
  std::uint64_t counted_ns = 0;
  TimeByCause by_cause{};
  TimeByCause within_error{};
};

struct CommunicatorFigures {
  std::uint64_t global_id = 0;  ///< 0: calls whose communicator is unknown
  std::string name;
  std::int32_t size = 0;
  std::uint64_t counted_ns = 0;
  TimeByCause by_cause{};
  TimeByCause within_error{};
};

struct FunctionFigures {
  std::string mpi_function;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t counted_ns = 0;
  TimeByCause by_cause{};
  TimeByCause within_error{};
};

/// What a phase loses as POP counts it, from its own times alone: without a replay, so that waiting and
/// moving are not told apart.

/// An NVTX range by name. Nested phases each count the time within them.
struct PhaseFigures {
  std::string name;
  std::uint64_t total_ns = 0;  ///< sum over ranks of the time in it
  std::uint64_t counted_ns = 0;
  std::optional<PhaseEfficiency> efficiency = {};  ///< none: nothing computes in it
  std::vector<std::uint64_t> batches_ns = {};      ///< of total_ns, by batch of steps; empty: no steps
};

/// The reasons for unattributed time.
struct GapFigures {
  Gap gap = Gap::none;
  std::string mpi_function;
  std::uint64_t counted_ns = 0;
};

/// One long wait, and its place in the run.
struct LongWaitFigures {
  std::int32_t rank = -1;
  std::uint64_t begin_ns = 0;   ///< since the first rank returned from MPI_Init
  std::uint64_t length_ns = 0;  ///< including hidden time
  std::uint64_t counted_ns = 0;
  Cause cause = Cause::unattributed;
  std::int32_t counterpart = -1;      ///< -1: no particular rank
  std::string at;                     ///< its call and place, for people
  std::uint64_t other_ranks = 0;      ///< that waited at that moment, too, and no longer
  std::uint64_t within_error_ns = 0;  ///< of counted_ns
};

}  // namespace penstock::analysis
