// The steps of one rank: which marks may begin them, and when they begin by a mark that was found. Start-up
// and shutdown are the time before and after them. Call sites are judged by order and number, never by
// durations, so that the same program has the same steps on a busy machine; of ranges it counts, too, how
// much of the time they hold. Must not know causes, nor other ranks (step_finder.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/recording/rank_trace.hpp"
#include "analysis/recording/site_table.hpp"

namespace penstock::analysis {

/// Selects which calls of a site mark steps. Calls that cannot wait and follow each other at one site count
/// as one.
enum class CallsOfSite : std::uint8_t {
  all,
  like_the_first,  ///< calls with the first one's peer and tag: one per iteration of a loop over neighbours
};

/// The mark that begins a step: a range by name, or a call site.
struct StepMark {
  std::string range;       ///< empty: the call site
  std::uint32_t site = 0;  ///< in the SiteTable
  CallsOfSite calls = CallsOfSite::all;
  bool is_path = true;  ///< the site is a call path; else the innermost frame of any
  /// Where ranks are known from some time on: the first step that all of them have, by its number
  /// (trace::Range::entry; of a site, the collective's ordinal). 0: there are no numbers.
  std::uint64_t first_number = 0;
};

/// The possible step marks of one rank, computed from that rank alone.
struct RankSteps {
  struct Times {
    std::uint64_t times = 0;
    std::uint64_t begin_ns = 0;       ///< of the first one
    std::uint64_t covered_calls = 0;  ///< from the first one to the last one
    std::uint64_t irregular = 0;      ///< times whose distance to the previous one is not the usual one
    bool is_regular = false;
    std::uint64_t first_number = 0;  ///< of the first whole one; 0: they have none
  };
  struct AtSite {
    std::uint32_t site;  ///< in the rank's table
    Times all;
    Times like_the_first;
  };
  struct OfRange {
    std::string name;
    std::uint8_t depth;
    Times times;
    std::uint64_t held_ns;  ///< within communication_ns; what several threads are in counts once
    template <typename Archive>
    void exchange(Archive& archive) {
      archive(name, depth, times, held_ns);
    }
  };
  bool used_gpu = false;
  bool begins_late = false;            ///< its first steps may not be known
  std::uint64_t calls = 0;             ///< communicating calls of the thread that has most of them
  std::uint64_t communication_ns = 0;  ///< from the first of these calls to the end of the last
  std::vector<AtSite> paths;
  std::vector<AtSite> innermost;  ///< by the innermost frame alone
  std::vector<OfRange> ranges;

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(used_gpu, begins_late, calls, communication_ns, paths, innermost, ranges);
  }
};

[[nodiscard]] RankSteps possible_steps(const RankTrace& rank, SiteTable& sites);

/// Returns the moments, within the known part of the run, when the steps of `rank` begin, and when the last
/// one ends; so one more than steps. A call site ends one step and begins the next: what follows its last
/// time is shutdown. Empty if the rank has no steps. A step that has begun before the part is none: where the
/// mark has numbers, all ranks begin with the same one, else each with its own first.
[[nodiscard]] std::vector<std::uint64_t> step_bounds(const RankTrace& rank, const StepMark& mark,
                                                     const SiteTable& sites);

}  // namespace penstock::analysis
