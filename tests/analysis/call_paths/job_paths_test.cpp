// Call paths the whole way: a program whose calls of MPI all lie in a wrapper, and the report that names who
// called the wrapper:
//   job_paths_test MPI_LAUNCH FAMILY LAYERED PENSTOCK
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
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
  nlohmann::json report(const std::string& setting, const std::string& options,
                        const std::string& what = program) {
    const std::string recording = (directory_.path() / "recording").string();
    const std::string log = (directory_.path() / "log").string();
    EXPECT_EQ(exit_code_of(fmt::format("{} {} {} {} -- {} run -o {} {} >{} 2>&1", mpi_launch, family, ranks,
                                       setting, penstock_command, recording, what, log)),
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

  /// Returns what a command of penstock on the recording prints.
  std::string output_of(const std::string& command, const std::string& options) {
    const std::string to = (directory_.path() / "output").string();
    EXPECT_EQ(exit_code_of(fmt::format("{} {} {} {} >{} 2>&1", penstock_command, command,
                                       (directory_.path() / "recording").string(), options, to)),
              0);
    return content_of(to);
  }
  [[nodiscard]] std::filesystem::path in_directory(const char* name) const {
    return directory_.path() / name;
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

/// Returns how often a report or another output says that a file is another build now.
std::size_t times_said(const std::filesystem::path& file, const std::string& output) {
  const std::string words = file.string() + ": has been rebuilt or replaced since the recording";
  std::size_t times = 0;
  for (std::size_t at = output.find(words); at != std::string::npos; at = output.find(words, at + 1)) ++times;
  return times;
}

/// Returns the setting with which a copy of the program finds its library, which lies in the build's folder.
/// What the machine needs besides stays there.
std::string with_library_of_program() {
  const char* const known = std::getenv("LD_LIBRARY_PATH");
  const std::string others = known != nullptr ? ":" + std::string(known) : "";
  const std::string library = "lib" + std::filesystem::path(program).filename().string() + "_communicate.so";
  std::filesystem::path folder = std::filesystem::path(program).parent_path();
  for (; folder != folder.root_path(); folder = folder.parent_path()) {
    for (const std::filesystem::path& place : {folder, folder / "lib"})
      if (std::filesystem::exists(place / library)) return "LD_LIBRARY_PATH=" + place.string() + others;
  }
  ADD_FAILURE() << library << " was not built";
  return "";
}

void replace(const std::filesystem::path& app, const std::filesystem::path& other) {
  std::filesystem::remove(app);
  std::filesystem::copy_file(other, app);
}

TEST_F(JobPaths, of_a_program_that_was_rebuilt_since_have_no_names_of_the_new_one) {
  const std::filesystem::path app = in_directory("app");
  const auto replace_by = [&app](const std::filesystem::path& other) { replace(app, other); };
  replace_by(program);
  const nlohmann::json recorded = report(with_library_of_program(), "--skip communicate", app.string());
  const Calls by_caller = calls(recorded, "MPI_Allreduce");
  EXPECT_TRUE(by_caller.contains("update_pressure"));
  EXPECT_TRUE(recorded.at("flaws").empty()) << recorded.at("flaws");

  // as if nobody had looked at it before
  EXPECT_TRUE(std::filesystem::remove(in_directory("recording") / "names.json"));
  replace_by(std::filesystem::read_symlink("/proc/self/exe"));
  const nlohmann::json rebuilt = read("--skip communicate");
  // the wrapper's library is the same, so it is skipped still
  std::size_t of_app = 0;
  for (const nlohmann::json& site : rebuilt.at("call_sites")) {
    if (site.at("module") != app.string()) continue;
    ++of_app;
    EXPECT_EQ(site.at("function"), "") << site;
    EXPECT_EQ(site.at("file"), "") << site;
    EXPECT_NE(site.at("module_offset"), 0) << site;
  }
  EXPECT_GE(of_app, by_caller.size());
  ASSERT_EQ(rebuilt.at("flaws").size(), 1u) << rebuilt.at("flaws");
  EXPECT_EQ(rebuilt.at("flaws")[0].at("file"), app.string());
  EXPECT_EQ(times_said(app, output_of("report", "--all")), 1u) << output_of("report", "--all");
  EXPECT_EQ(times_said(app, output_of("export", "--csv " + in_directory("tables").string())), 1u);

  replace_by(program);  // as if it were installed again
  const nlohmann::json again = read("--skip communicate");
  EXPECT_EQ(calls(again, "MPI_Allreduce"), by_caller);
  EXPECT_TRUE(again.at("flaws").empty()) << again.at("flaws");
}

TEST_F(JobPaths, of_a_program_that_was_rebuilt_behind_its_report_keep_their_names) {
  const std::filesystem::path app = in_directory("app");
  replace(app, program);
  const nlohmann::json before = report(with_library_of_program(), "--skip communicate", app.string());
  replace(app, std::filesystem::read_symlink("/proc/self/exe"));
  const nlohmann::json after = read("--skip communicate");
  EXPECT_EQ(after.at("call_sites"), before.at("call_sites"));
  EXPECT_EQ(after.at("call_paths"), before.at("call_paths"));
  EXPECT_TRUE(after.at("flaws").empty()) << after.at("flaws");
  EXPECT_EQ(times_said(app, output_of("export", "--csv " + in_directory("tables").string())), 0u);

  // another job's recording in the same folder takes the names aside with the recording
  replace(app, program);
  static_cast<void>(report(with_library_of_program(), "", app.string()));
  EXPECT_TRUE(std::filesystem::exists(in_directory("recording") / "earlier-1" / "names.json"));
}

}  // namespace
}  // namespace penstock::analysis
