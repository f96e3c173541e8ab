// Finds the steps that a program repeats, from the possible marks of all its ranks: by an NVTX range that
// recurs, else by an MPI call that recurs at regular places among the others. Must not know recordings.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/causes/steps.hpp"

namespace penstock::analysis {

/// Finds the mark after all ranks were added. Each rank must have it equally often (nearly so if the job was
/// killed), three times at least. A range that holds half of the time in which ranks communicate comes first,
/// an outer one before an inner one, since the program itself says so, and set-up may make more calls than
/// the steps do. Otherwise half of the communicating calls must lie between the mark's first and last time.
/// Among marks that cover about as many calls, an outer range precedes an inner one, any range precedes a
/// call site, and of call sites the most frequent one wins. An outer range that comes half as often as the
/// inner one precedes it, too, if it covers half of the calls: inner ones may stand alone in set-up. Among
/// the calls of a site, those like its first one are used if they are more regular than all. Call paths come
/// first, which tell apart what calls one wrapper; where none will do, as ranks come to the same call on
/// different paths, the innermost frames alone do. If some ranks used a GPU, the others are ignored: a
/// controller has no steps.
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
    std::uint64_t held_ns = 0;        ///< sum over ranks
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
    std::uint64_t communication_ns = 0;  ///< sum over ranks
    bool begins_late = false;            ///< on some rank
    std::map<std::string, Candidate, std::less<>> ranges;
    std::map<std::uint32_t, Site> paths;
    std::map<std::uint32_t, Site> innermost;
    /// Returns true if all ranks have it equally often and regularly.
    [[nodiscard]] bool all_have(const Candidate& each) const noexcept;
  };
  /// Returns the range, of those that suit and are no library's, that is not within another.
  template <typename Suits>
  [[nodiscard]] static std::optional<StepMark> outermost_range(const Group& group, const Suits& suits);
  [[nodiscard]] static std::optional<StepMark> found_among(const Group& group,
                                                           const std::map<std::uint32_t, Site>& group_sites);
  Group with_gpu_;
  Group without_gpu_;
};

}  // namespace penstock::analysis
