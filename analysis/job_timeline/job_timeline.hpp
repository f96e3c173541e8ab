// Makes the timeline of a report's page: the tracks of the ranks with their pieces, messages between them,
// and shares of time for what is too much to hold piece by piece. Visits the ranks twice while the report is
// made; its document is small for any size of job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/job_timeline/choice.hpp"
#include "analysis/job_timeline/detail.hpp"
#include "analysis/job_timeline/rank_tracks.hpp"
#include "analysis/job_timeline/shares.hpp"
#include "analysis/job_timeline/text_table.hpp"
#include "analysis/joining/job_axis.hpp"
#include "analysis/naming/frame_names.hpp"
#include "analysis/pipeline/rank_visitor.hpp"

namespace penstock::analysis::job_timeline {

/// Unit: characters of the document, unless named otherwise. Together some 10 MB.
struct Budget {
  std::size_t pieces = 5'500'000;
  std::size_t shares = 2'000'000;
  std::size_t other_ranks = 800'000;
  std::size_t texts = 400'000;    ///< in bytes; a page writes "<" with six characters
  std::size_t messages = 40'000;  ///< number of messages; some 20 characters each
};

/// Returns the budget for each of two timelines on one page.
[[nodiscard]] constexpr Budget half_of_budget() noexcept {
  const Budget whole;
  return {.pieces = whole.pieces / 2,
          .shares = whole.shares / 2,
          .other_ranks = whole.other_ranks / 2,
          .texts = whole.texts / 2,
          .messages = whole.messages / 2};
}

/// A track of the document.
struct TrackColumns {
  std::string kind;
  std::string name;
  std::vector<std::string> fields;  ///< of a piece
  std::vector<State> states;        ///< of the shares
  std::size_t bins = 0;
  std::string shares;
  std::size_t pieces = 0;
  std::string data;
};

/// Memory: the document, one rank's tracks and, for jobs of many ranks, 40 bytes a bin of the others.
class JobTimeline final : public RankVisitor {
 public:
  explicit JobTimeline(Budget budget = {}, const SkipPatterns& skip = {});
  void note(const RankTrace& rank, const MessageIndex& index,
            std::span<const std::uint64_t> step_bounds) override;
  void begin(const Report& report, const MessageIndex& index, KeptNames& kept) override;
  void visit(const RankTrace& rank, std::size_t position, const MessageIndex& index) override;
  /// Returns JSON of the schema "penstock-timeline-1"; call it after the last visit.
  [[nodiscard]] std::string json() const;

 private:
  struct RankColumns {
    std::int32_t rank;
    std::uint64_t begin_ns;
    std::uint64_t end_ns;
    Detail detail;
    std::size_t tracks_left_out = 0;
    std::vector<TrackColumns> tracks;
  };
  struct Message {
    std::int32_t sender;
    std::int32_t receiver;
    std::uint64_t post_ns;
    std::uint64_t complete_ns;
    std::uint64_t bytes;
    std::uint32_t track;  ///< of the receiver
  };
  /// The ranks without their own tracks, several to a row.
  struct Others {
    std::size_t ranks_per_row;
    std::vector<std::int32_t> ranks;
    std::vector<Shares> rows;
    std::map<std::int32_t, std::size_t> row_of;
  };
  void add_other(const RankTrace& rank, std::size_t position, const MessageIndex& index);
  void add_messages(const RankTrace& rank, std::size_t position, const MessageIndex& index,
                    const RankTracks& tracks, const Detail& detail);
  void add_shares(const RankTrace& rank, const RankTracks& tracks, RankColumns& columns) const;

  Budget budget_;
  std::vector<Interval> steps_;
  std::optional<JobAxis> axis_;
  std::uint64_t run_ns_ = 0;
  std::map<std::int32_t, std::string> chosen_;
  std::vector<Window> windows_;
  TextTable texts_;
  SkipPatterns skip_;
  std::optional<FrameNames> frame_names_;  ///< from begin() on
  std::vector<RankColumns> ranks_;
  std::vector<Message> messages_;
  std::uint64_t messages_left_out_ = 0;
  std::optional<Others> others_;
};

}  // namespace penstock::analysis::job_timeline
