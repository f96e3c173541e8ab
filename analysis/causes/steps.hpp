// Finds the steps that a program repeats: by an NVTX range that recurs, else by an MPI call that recurs at
// regular places among the others. Start-up and shutdown are the time before and after them. Uses order and
// number only, never durations, so that the same program has the same steps on a busy machine. Must not know
// causes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
    template <typename Archive>
    void exchange(Archive& archive) {
      archive(name, depth, times);
    }
  };
  bool used_gpu = false;
  bool begins_late = false;  ///< its first steps may not be known
  std::uint64_t calls = 0;   ///< communicating calls of the thread that has most of them
  std::vector<AtSite> paths;
  std::vector<AtSite> innermost;  ///< by the innermost frame alone
  std::vector<OfRange> ranges;

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(used_gpu, begins_late, calls, paths, innermost, ranges);
  }
};

[[nodiscard]] RankSteps possible_steps(const RankTrace& rank, SiteTable& sites);

/// Finds the mark after all ranks were added. Each rank must have it equally often (nearly so if the job was
/// killed), three times at least, and half of the communicating calls must lie between its first and last
/// time. Among marks that cover about as many calls, an outer range precedes an inner one, any range precedes
/// a call site, and of call sites the most frequent one wins. Of a site, the calls like its first one are
/// used if they are more regular than all. Call paths come first, which tell apart what calls one wrapper;
/// where none will do, as ranks come to the same call on different paths, the innermost frames alone do. If
/// some ranks used a GPU, the others are ignored: a controller has no steps.
class StepFinder {
 public:
  /// `sites`: the number among all ranks of each site of the rank's table.
  void add(const RankSteps& rank, std::span<const std::uint32_t> sites);
  [[nodiscard]] std::optional<StepMark> found() const;
  /// Returns the range that the user selected, if any rank has it.
  [[nodiscard]] std::optional<StepMark> range(std::string_view name) const;

 private:
  struct Candidate {
    std::uint64_t ranks = 0;
    std::uint64_t fewest_times = 0;  ///< on a rank
    std::uint64_t most_times = 0;
    std::uint64_t first_ns = 0;       ///< on the first rank
    std::uint64_t covered_calls = 0;  ///< sum over ranks
    std::uint64_t irregular = 0;      ///< sum over ranks, as `times`
    std::uint64_t times = 0;
    std::uint64_t first_number = 0;  ///< the largest of all ranks; 0: some has none
    std::uint8_t depth = 0;          ///< of a range
    bool is_regular = true;
    [[nodiscard]] bool is_alike_on_ranks(bool begins_late) const noexcept;
    [[nodiscard]] bool is_more_regular_than(const Candidate& other) const noexcept;
    void add(const RankSteps::Times& rank);
  };
  struct Site {
    Candidate all;
    Candidate like_the_first;
  };
  struct Group {
    std::uint64_t ranks = 0;
    std::uint64_t calls = 0;
    bool begins_late = false;  ///< on some rank
    std::map<std::string, Candidate, std::less<>> ranges;
    std::map<std::uint32_t, Site> paths;
    std::map<std::uint32_t, Site> innermost;
  };
  [[nodiscard]] static std::optional<StepMark> found_among(const Group& group,
                                                           const std::map<std::uint32_t, Site>& group_sites);
  Group with_gpu_;
  Group without_gpu_;
};

/// Returns the moments, within the known part of the run, when the steps of `rank` begin, and when the last
/// one ends; so one more than steps. A call site ends one step and begins the next: what follows its last
/// time is shutdown. Empty if the rank has no steps. A step that has begun before the part is none: where the
/// mark has numbers, all ranks begin with the same one, else each with its own first.
[[nodiscard]] std::vector<std::uint64_t> step_bounds(const RankTrace& rank, const StepMark& mark,
                                                     const SiteTable& sites);

}  // namespace penstock::analysis
