#include "analysis/analyse.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/job.hpp"
#include "analysis/messages.hpp"
#include "analysis/metrics.hpp"
#include "analysis/rank_trace.hpp"

namespace penstock::analysis {
namespace {

/// Exposed communication can be told only if each rank that used a GPU has its kernels recorded.
class MeasureVote {
 public:
  void add(const RankTrace& rank) {
    if (!used_gpu(rank)) {
      return;
    }
    any_gpu_ = true;
    if (!rank.has(trace::feature::kernels) && why_not_.empty()) {
      const std::string_view note = rank.header.features_note;
      why_not_ = fmt::format("GPU kernels of rank {} were not recorded{}{}", rank.header.world_rank,
                             note.empty() ? "" : ": ", note);
    }
  }
  [[nodiscard]] MeasureChoice choice() const {
    if (!any_gpu_) {
      return {Measure::communication_time, "the program used no GPU"};
    }
    return {why_not_.empty() ? Measure::exposed_communication : Measure::communication_time, why_not_};
  }

 private:
  bool any_gpu_ = false;
  std::string why_not_;
};

}  // namespace

Report analyse(const std::filesystem::path& path, std::optional<std::int32_t> only_rank) {
  Job job = find_job(path);
  MessageIndex index;
  MeasureVote vote;
  std::vector<std::size_t> counted;
  RankTrace rank;
  for (const std::filesystem::path& file : job.files) {
    load_rank(file, rank);
    index.add(rank);
    if (!only_rank || *only_rank == rank.header.world_rank) {
      counted.push_back(index.rank_count() - 1);
      vote.add(rank);
    }
  }
  if (counted.empty()) {
    throw TraceError({path, std::nullopt, fmt::format("no recording of rank {} in it", *only_rank)});
  }
  index.join();

  StringPool strings;
  SiteTable sites(strings);
  Metrics metrics(index, strings, sites, vote.choice());
  for (const std::size_t position : counted) {
    load_rank(job.files[position], rank);
    metrics.add(rank, position);
  }
  Report report = metrics.finish();
  report.flaws.insert(report.flaws.begin(), std::make_move_iterator(job.flaws.begin()),
                      std::make_move_iterator(job.flaws.end()));
  return report;
}

}  // namespace penstock::analysis
