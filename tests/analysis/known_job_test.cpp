// Reports of generated jobs against what is known of them in closed form.
#include <gtest/gtest.h>

#include "analysis/pipeline/analyse.hpp"
#include "tests/analysis/known_job_check.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::KnownJob;
using testing::TemporaryDirectory;

void write_all(const KnownJob& job, const TemporaryDirectory& directory) {
  for (std::int32_t rank = 0; rank < job.ranks(); ++rank) {
    job.write(rank, directory.path());
  }
}

class KnownJobs : public ::testing::TestWithParam<std::int32_t> {};
INSTANTIATE_TEST_SUITE_P(RankCounts, KnownJobs, ::testing::Values(2, 16, 64),
                         ::testing::PrintToStringParamName());

TEST_P(KnownJobs, are_reported_as_they_are_known_to_be) {
  const TemporaryDirectory directory;
  const KnownJob job(GetParam(), 5'000);  // 285 steps: the last cycle of most figures is not a whole one
  write_all(job, directory);
  const Report report = analyse(directory.path());
  for (const std::string& difference : testing::differences(report, job)) {
    ADD_FAILURE() << difference;
  }
  EXPECT_TRUE(report.flaws.empty());
}

TEST(KnownJob, with_one_number_changed_is_told_from_another) {
  const TemporaryDirectory directory;
  const KnownJob job(4, 100);
  write_all(job, directory);
  Report report = analyse(directory.path());
  report.ranks[2].by_cause[static_cast<std::size_t>(Cause::collective_wait)] += 1;
  const std::vector<std::string> found = testing::differences(report, job);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found.front().starts_with("rank 2, wait at collective: reported")) << found.front();
}

}  // namespace
}  // namespace penstock::analysis
