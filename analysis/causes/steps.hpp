// Finds what a program repeats, its steps: by an NVTX range that comes again and again, else by a call of MPI
// that does so at regular places among the others. Start-up and shutdown are what lies before and behind.
// Goes by order and number alone, never by how long something took, so that the same program has the same
// steps on a busy machine. Knows no causes.
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

/// Which calls of a site mark steps. Calls that cannot wait and follow each other at one site count as one.
enum class CallsOfSite : std::uint8_t {
  all,
  like_the_first,  ///< those with its peer and tag: in a loop over neighbours, one of each time round
};

/// What a step begins with: a range by name, or a call site.
struct StepMark {
  std::string range;       ///< empty: the call site
  std::uint32_t site = 0;  ///< in the SiteTable
  CallsOfSite calls = CallsOfSite::all;
};

/// What may be a step's mark on one rank. Made of the rank alone.
struct RankSteps {
  struct Times {
    std::uint64_t times = 0;
    std::uint64_t begin_ns = 0;       ///< of the first one
    std::uint64_t covered_calls = 0;  ///< from the first one to the last one
    std::uint64_t irregular = 0;      ///< times that are not as far behind the last one as most are
    bool is_regular = false;
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
  std::uint64_t calls = 0;  ///< that communicate, of the thread that has most of them
  std::vector<AtSite> sites;
  std::vector<OfRange> ranges;

  /// See archive.hpp.
  template <typename Archive>
  void exchange(Archive& archive) {
    archive(used_gpu, calls, sites, ranges);
  }
};

[[nodiscard]] RankSteps possible_steps(const RankTrace& rank, SiteTable& sites);

/// Asked once all ranks were added. A mark is found if each rank has it equally often (of a job that was
/// killed, nearly so), three times at least, and half of the communicating calls lie between its first and
/// its last time. Among those that hold about as many calls, an outer range is taken before an inner one, any
/// range before a call site, and of call sites the most frequent. Of a site, the calls that are like its
/// first one are taken where they come more regularly than all. If some ranks used a GPU, the others are not
/// asked: a controller has no steps.
class StepFinder {
 public:
  /// `sites`: the number among all ranks of each site of the rank's table.
  void add(const RankSteps& rank, std::span<const std::uint32_t> sites);
  [[nodiscard]] std::optional<StepMark> found() const;
  /// The range that somebody asks for, if any rank has it.
  [[nodiscard]] std::optional<StepMark> range(std::string_view name) const;

 private:
  struct Candidate {
    std::uint64_t ranks = 0;
    std::uint64_t fewest_times = 0;  ///< on a rank
    std::uint64_t most_times = 0;
    std::uint64_t first_ns = 0;       ///< on the first rank
    std::uint64_t covered_calls = 0;  ///< sum over ranks
    std::uint64_t irregular = 0;      ///< the same, as `times`
    std::uint64_t times = 0;
    std::uint8_t depth = 0;  ///< of a range
    bool is_regular = true;
    [[nodiscard]] bool is_alike_on_ranks() const noexcept;
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
    std::map<std::string, Candidate, std::less<>> ranges;
    std::map<std::uint32_t, Site> sites;
  };
  Group with_gpu_;
  Group without_gpu_;
};

/// The moments, within the run, when the steps of `rank` begin and, at the end, when the last one ends; so
/// one more than steps. A call site marks the step before it and the step behind it: what follows its last
/// time is shutdown. Empty when the rank has no steps.
[[nodiscard]] std::vector<std::uint64_t> step_bounds(const RankTrace& rank, const StepMark& mark,
                                                     const SiteTable& sites);

}  // namespace penstock::analysis
