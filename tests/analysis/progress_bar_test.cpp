// How commands tell of their progress where nobody watches: not at all.
#include "analysis/cli/progress_bar.hpp"

#include <gtest/gtest.h>

#include <string>

namespace penstock::cli {
namespace {

TEST(ProgressBar, is_silent_without_a_terminal_and_says_what_is_to_stay) {
  ::testing::internal::CaptureStderr();  // a file
  {
    ProgressBar bar;
    bar.show(45, 100, "drawing");
    bar.say("rank 3 has no recording");
    bar.show(90, 100, "drawing");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "penstock: rank 3 has no recording\n");
}

}  // namespace
}  // namespace penstock::cli
