// What the report says of a job that did not end, or that still runs: what each rank is in, and who waits for
// whom. Must not know how it is found. Times are of the job: ns since its first rank returned from MPI_Init.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/recording/flaw.hpp"

namespace penstock::analysis {

/// The numbers are in the order of their weight for the reader.
enum class RankEnd : std::uint8_t {
  killed,    ///< its process ended without MPI_Finalize and without exit()
  aborted,   ///< it called MPI_Abort
  exited,    ///< exit() without MPI_Finalize
  running,   ///< its process is there
  finished,  ///< it reached MPI_Finalize
  missing,   ///< it has no recording
};

/// An MPI call that a thread was in when the rank ended, or when it was looked at.
struct OpenCallFigures {
  std::string call;  ///< "MPI_Recv at exchange (halo.cpp:31)"
  std::string what;  ///< what it is about: "from rank 2, tag 7"; may be empty
  std::uint64_t since_ns = 0;
  std::vector<std::int32_t> waits_for;  ///< ranks
  bool waits_for_any = false;           ///< one of them is enough
};

struct UnfinishedRankFigures {
  std::int32_t rank = 0;
  std::string host;
  std::int64_t process_id = 0;
  RankEnd state = RankEnd::missing;
  std::int32_t abort_code = 0;                 ///< if aborted
  std::optional<std::uint64_t> last_alive_ns;  ///< its last sign of life; none: missing
  std::vector<OpenCallFigures> calls;          ///< of its threads, by time; empty: it is in none
  bool calls_known = false;                    ///< false: an older recording, which does not have them
  std::uint32_t threads_unnoticed = 0;         ///< further threads, whose calls are not known
  bool moves = false;                          ///< its calls changed while the job was looked at
  std::string last_call;                       ///< that it completed; empty: none
  std::uint64_t last_call_end_ns = 0;          ///< if there is one
};

/// What explains that ranks wait, in the order of weight.
struct StandstillFigures {
  enum class Kind : std::uint8_t {
    mismatched_collectives,  ///< ranks are in different collectives of one communicator
    cycle,                   ///< ranks wait for each other
    chain,                   ///< ranks wait, each for the next, for one that waits for nobody
  };
  Kind kind = Kind::chain;
  std::vector<std::int32_t> ranks;  ///< a cycle or a chain in its order; of collectives one of each kind
  std::uint64_t waiting_ranks = 0;  ///< that wait for these, directly or not
  std::string words;
};

struct UnfinishedFigures {
  bool is_running = false;                             ///< some rank's process is there
  std::optional<std::uint64_t> looked_at_realtime_ns;  ///< of a job that runs
  bool is_whole = true;  ///< false: not all records were read, so messages under way are not known
  std::string words;     ///< the headline
  std::vector<StandstillFigures> standstills;
  std::string next;                          ///< what to do about it; may be empty
  std::vector<UnfinishedRankFigures> ranks;  ///< all ranks of the job, by rank
  std::vector<Flaw> flaws;                   ///< of files by which nothing is named
};

}  // namespace penstock::analysis
