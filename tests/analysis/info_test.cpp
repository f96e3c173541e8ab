// `penstock info` shows every figure of the tuning table. Where there is no GPU it shows none of them.
#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/ran_command.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock {
namespace {

std::string info_with(const std::string& tuning) {
  const analysis::testing::TemporaryDirectory folder;
  return analysis::testing::ran("PENSTOCK_TUNING=" + tuning + " " PENSTOCK_COMMAND " info", folder.path())
      .output;
}

TEST(Info, shows_every_figure_and_says_which_are_set_by_the_user) {
  if (info_with("").find("on one GPU:") == std::string::npos) GTEST_SKIP() << "no GPU";
  for (const transports::TuningParameter& each : transports::tuning_parameters()) {
    const std::string output = info_with(each.name + ("=" + std::to_string(each.least)));
    EXPECT_NE(output.find("(set by PENSTOCK_TUNING)"), std::string::npos) << each.name << "\n" << output;
  }
}

TEST(Info, has_its_columns_apart) {
  const std::string output = info_with("");
  if (output.find("on one GPU:") == std::string::npos) GTEST_SKIP() << "no GPU";
  for (const char* line : {"\n                   small copies at the same time one kernel",
                           "\n                   collectives on a shared GPU   by the MPI library"}) {
    EXPECT_NE(output.find(line), std::string::npos) << line << "\n" << output;
  }
}

}  // namespace
}  // namespace penstock
