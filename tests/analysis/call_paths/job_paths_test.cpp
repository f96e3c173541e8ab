// Call paths the whole way: a program whose calls of MPI all lie in a wrapper, and the report that names who
// called the wrapper:
//   job_paths_test MPI_LAUNCH FAMILY LAYERED PENSTOCK
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/analysis/job_test_main.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

constexpr int ranks = 2;
constexpr int steps = 10;

class JobPaths : public ::testing::Test {
 protected:
  /// Returns the report as JSON.
  nlohmann::json report(const std::string& setting, const std::string& options) {
    const std::string recording = (directory_.path() / "recording").string();
    const std::string log = (directory_.path() / "log").string();
    EXPECT_EQ(exit_code_of(fmt::format("{} {} {} {} -- {} run -o {} {} >{} 2>&1", mpi_launch, family, ranks,
                                       setting, penstock_command, recording, program, log)),
              0)
        << content_of(log);
    return read(options);
  }
  nlohmann::json read(const std::string& options) {
    const std::string recording = (directory_.path() / "recording").string();
    const std::string to = (directory_.path() / "report").string();
    EXPECT_EQ(exit_code_of(fmt::format("{} report {} --whole-run --json {} >{}", penstock_command, recording,
                                       options, to)),
              0);
    return nlohmann::json::parse(content_of(to));
  }
  /// Returns the number of calls of `mpi_function` by the function of the call site.
  static std::map<std::string, int> calls(const nlohmann::json& report, const std::string& mpi_function) {
    std::map<std::string, int> calls;
    for (const nlohmann::json& site : report.at("call_sites")) {
      if (site.at("mpi_function") == mpi_function)
        calls[site.at("function").get<std::string>()] += site.at("calls").get<int>();
    }
    return calls;
  }
  /// Returns the functions of each path to `mpi_function`, innermost first.
  static std::vector<std::vector<std::string>> paths(const nlohmann::json& report,
                                                     const std::string& mpi_function) {
    std::vector<std::vector<std::string>> paths;
    for (const nlohmann::json& path : report.at("call_paths")) {
      if (path.at("mpi_function") != mpi_function) continue;
      paths.emplace_back();
      for (const nlohmann::json& frame : path.at("frames")) {
        const auto text = frame.get<std::string>();
        paths.back().push_back(text.substr(0, text.find(' ')));
      }
    }
    return paths;
  }

 private:
  static std::string content_of(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  testing::TemporaryDirectory directory_;
};

using Calls = std::map<std::string, int>;
using Path = std::vector<std::string>;

TEST_F(JobPaths, name_those_who_call_a_wrapper_that_is_to_be_skipped) {
  const nlohmann::json by_list = report("", "");
  // without --skip the wrapper is the user's own: its one line, whoever calls it
  EXPECT_EQ(calls(by_list, "MPI_Allreduce"), (Calls{{"communicate", ranks * (2 * steps + 3)}}));
  // a wrapper in a header, which is on the list, shows the caller that it is inlined into
  EXPECT_EQ(calls(by_list, "MPI_Barrier"), (Calls{{"settle", ranks * steps}}));
  // the coroutine has a call site alone
  const Calls by_caller{{"update_temperature", ranks * (steps + 1)},
                        {"update_pressure", ranks * steps},
                        {"descend", ranks},
                        {"communicate", ranks}};
  for (const char* skip :
       {"--skip communicate", "--skip 'lib*communicate*.so'", "--skip '*/communicate.cpp'"}) {
    EXPECT_EQ(calls(read(skip), "MPI_Allreduce"), by_caller) << skip;
  }
  EXPECT_EQ(calls(read("--no-wrapper-list"), "MPI_Barrier"), (Calls{{"fence_ranks", ranks * steps}}));
}

TEST_F(JobPaths, are_whole_in_the_json_and_end_at_main) {
  const std::vector<Path> found = paths(report("", ""), "MPI_Allreduce");
  EXPECT_EQ(found.size(), 5u);
  const auto has = [&found](const Path& path) {
    return std::find(found.begin(), found.end(), path) != found.end();
  };
  EXPECT_TRUE(has({"communicate", "update_temperature", "step", "main"}));
  EXPECT_TRUE(has({"communicate", "update_pressure", "step", "main"}));
  // between this and the thread's beginning, compilers keep or inline functions of the standard library
  const bool from_thread = std::any_of(found.begin(), found.end(), [](const Path& path) {
    return path.size() >= 2 && path[0] == "communicate" && path[1] == "update_temperature" &&
           std::find(path.begin(), path.end(), "step") == path.end();
  });
  EXPECT_TRUE(from_thread);
  Path deep(12, "descend");
  deep[0] = "communicate";
  EXPECT_TRUE(has(deep)) << "of a deep recursion the nearest twelve";
  EXPECT_TRUE(has({"communicate"})) << "from the coroutine";
}

TEST_F(JobPaths, are_call_sites_alone_where_they_are_switched_off) {
  const nlohmann::json json = report("PENSTOCK_CALL_PATHS=0", "--skip communicate");
  EXPECT_EQ(calls(json, "MPI_Allreduce"), (Calls{{"communicate", ranks * (2 * steps + 3)}}));
  for (const Path& path : paths(json, "MPI_Allreduce")) EXPECT_EQ(path.size(), 1u);
}

}  // namespace
}  // namespace penstock::analysis
