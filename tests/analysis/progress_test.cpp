// How far an analysis has come, as it tells it.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/job_timeline/job_timeline.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;

struct Told {
  std::vector<std::string> words;  ///< each once, in order
  std::size_t done = 0;
  std::size_t all = 0;
};

Told told_by(RankVisitor* visitor) {
  const TemporaryDirectory directory;
  for (const int rank : {0, 1}) {
    RecordingBuilder(rank, 2)
        .kernel(100, 200)
        .call({.function = "MPI_Barrier", .begin = 200, .end = 300})
        .write(directory.path());
  }
  Told told;
  AnalysisOptions options;
  options.progress = [&](std::size_t done, std::size_t all, const std::string& what) {
    EXPECT_GE(done, told.done) << "it never goes back";
    EXPECT_LE(done, all);
    told.done = done;
    told.all = all;
    if (told.words.empty() || told.words.back() != what) {
      told.words.push_back(what);
    }
  };
  EXPECT_EQ(analyse(directory.path(), options, visitor).ranks.size(), 2u);
  return told;
}

TEST(Progress, of_a_report_names_its_parts_and_never_goes_back) {
  const Told told = told_by(nullptr);
  EXPECT_EQ(told.words, (std::vector<std::string>{"reading", "counting", "replaying"}));
  EXPECT_EQ(2 * told.done, told.all) << "replaying is not told in parts";
}

TEST(Progress, of_a_page_ends_when_all_is_drawn) {
  job_timeline::JobTimeline timeline;
  const Told told = told_by(&timeline);
  EXPECT_EQ(told.words.back(), "drawing");
  EXPECT_EQ(told.done, told.all);
  EXPECT_GT(told.all, 0u);
}

}  // namespace
}  // namespace penstock::analysis
