// The first pass over a job: collects what its ranks need to know of each other. Computes no figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/causes/step_finder.hpp"
#include "analysis/joining/messages.hpp"
#include "analysis/recording/job.hpp"
#include "analysis/recording/site_table.hpp"
#include "analysis/report/measure.hpp"
#include "analysis/sharing/progress.hpp"
#include "analysis/sharing/team.hpp"
#include "analysis/tables/string_pool.hpp"

namespace penstock::analysis {

/// A rank's contribution to the choice of the measure.
struct RankVote {
  std::int32_t rank = -1;
  bool used_gpu = false;
  bool has_kernels = false;
  bool lacks_records = false;
  std::string note;  ///< why a feature was off

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(rank, used_gpu, has_kernels, lacks_records, note);
  }
};

/// Chooses the measure: exposed communication requires that each rank that used a GPU has its kernels
/// recorded.
class MeasureVote {
 public:
  void add(const RankVote& rank);
  [[nodiscard]] MeasureChoice choice() const;

 private:
  bool any_gpu_ = false;
  bool any_is_missing_ = false;
  std::string why_not_;
};

struct JoinedJob {
  Job job;
  MessageIndex index;
  StringPool strings;
  SiteTable sites{strings};
  StepFinder steps;
  MeasureVote vote;
  std::vector<std::size_t> counted;  ///< positions in the index, and of files
};

/// Reads the files of `joined.job` with `threads` threads and the members of `team`, which may be null. All
/// members get the same result, except the index, which covers each member's own share of the ranks.
/// `only_rank`: the rank that is counted; none: all. Memory: of other members' ranks, some megabytes or one
/// rank at a time.
void join_ranks(const std::optional<std::int32_t>& only_rank, unsigned threads, Team* team, Meter& meter,
                JoinedJob& joined);

/// Replaces a member's index by one of all ranks.
void join_all_messages(unsigned threads, JoinedJob& joined);

}  // namespace penstock::analysis
