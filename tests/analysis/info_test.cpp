// `penstock info` shows every figure of the tuning table. Where there is no GPU it shows none of them.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include "transports/tuning/tuning.hpp"

namespace penstock {
namespace {

std::string info_with(const std::string& tuning) {
  const std::string command = "PENSTOCK_TUNING=" + tuning + " " PENSTOCK_COMMAND " info 2>&1";
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), count);
  }
  ::pclose(pipe);
  return output;
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
