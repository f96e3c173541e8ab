// Call paths in reports: whose call site is shown, and what is told of whole paths. Times are ns. The modules
// are nowhere, so that places are a module and an offset.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/report/text/report_text.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::report_on;
using testing::TemporaryDirectory;

constexpr std::uint64_t app = 0x10000;
constexpr std::uint64_t wrapper = 0x20000;
constexpr std::uint64_t petsc = 0x30000;

RecordingBuilder with_modules(std::int32_t rank, std::int32_t size = 1) {
  RecordingBuilder builder(rank, size);
  builder.module("/nowhere/app", app, app + 0x1000, 0, app)
      .module("/nowhere/libhalo.so", wrapper, wrapper + 0x1000, 0, wrapper)
      .module("/nowhere/libpetsc.so.3", petsc, petsc + 0x1000, 0, petsc);
  return builder;
}

/// Three calls of one wrapper, two of them from one place; the second place waits longest.
RecordingBuilder wrapped() {
  RecordingBuilder builder = with_modules(0);
  const std::uint64_t first = builder.path({wrapper + 0x10, app + 0x100, app + 0x900});
  const std::uint64_t second = builder.path({wrapper + 0x10, app + 0x200, app + 0x900});
  const std::uint64_t first_by_another_way = builder.path({wrapper + 0x10, app + 0x100, app + 0x910});
  builder.call({.function = "MPI_Recv", .begin = 100, .end = 200, .call_site = first})
      .call({.function = "MPI_Recv", .begin = 300, .end = 700, .call_site = second})
      .call({.function = "MPI_Recv", .begin = 800, .end = 810, .call_site = first_by_another_way});
  return builder;
}

AnalysisOptions skipping(const char* pattern) {
  AnalysisOptions options{.whole_run = true};
  if (pattern != nullptr) options.skip.more = {pattern};
  return options;
}

TEST(CallPathsReport, a_wrapper_that_is_skipped_leaves_a_row_for_each_place_that_calls_it) {
  const Report report = report_on({wrapped()}, skipping("libhalo.so"));
  ASSERT_EQ(report.call_sites.size(), 2u);
  EXPECT_EQ(report.call_sites[0].module, "/nowhere/app");
  EXPECT_EQ(report.call_sites[0].module_offset, 0x200u);
  EXPECT_EQ(report.call_sites[0].counted_ns, 400u);
  EXPECT_EQ(report.call_sites[1].module_offset, 0x100u);
  EXPECT_EQ(report.call_sites[1].counted_ns, 110u);
  EXPECT_EQ(report.call_sites[1].calls, 2u);
}

TEST(CallPathsReport, a_wrapper_that_is_not_skipped_is_one_row) {
  const Report report = report_on({wrapped()}, skipping(nullptr));
  ASSERT_EQ(report.call_sites.size(), 1u);
  EXPECT_EQ(report.call_sites[0].module, "/nowhere/libhalo.so");
  EXPECT_EQ(report.call_sites[0].calls, 3u);
  EXPECT_EQ(report.call_sites[0].counted_ns, 510u);
}

TEST(CallPathsReport, wrappers_of_the_list_are_skipped_unless_the_user_wants_to_see_them) {
  RecordingBuilder builder = with_modules(0);
  const std::uint64_t site = builder.path({petsc + 0x10, petsc + 0x20, app + 0x300});
  builder.call({.function = "MPI_Recv", .begin = 100, .end = 200, .call_site = site});
  EXPECT_EQ(report_on({builder}, skipping(nullptr)).call_sites.at(0).module_offset, 0x300u);
  AnalysisOptions options = skipping(nullptr);
  options.skip.with_list = false;
  EXPECT_EQ(report_on({builder}, options).call_sites.at(0).module, "/nowhere/libpetsc.so.3");
}

TEST(CallPathsReport, a_path_of_nothing_but_wrappers_shows_the_innermost) {
  RecordingBuilder builder = with_modules(0);
  const std::uint64_t site = builder.path({petsc + 0x10, petsc + 0x20});
  builder.call({.function = "MPI_Recv", .begin = 100, .end = 200, .call_site = site});
  EXPECT_EQ(report_on({builder}, skipping(nullptr)).call_sites.at(0).module_offset, 0x10u);
}

TEST(CallPathsReport, each_list_that_names_places_follows) {
  const Report report = report_on({wrapped()}, skipping("libhalo.so"));
  ASSERT_FALSE(report.longest_waits.empty());
  EXPECT_EQ(report.longest_waits[0].at, "MPI_Recv at app+0x200");
}

TEST(CallPathsReport, paths_are_whole_and_their_times_add_up) {
  const Report report = report_on({wrapped()}, skipping("libhalo.so"));
  ASSERT_EQ(report.call_paths.size(), 3u);
  EXPECT_EQ(report.call_paths[0].frames,
            (std::vector<std::string>{"libhalo.so+0x10", "app+0x200", "app+0x900"}));
  EXPECT_EQ(report.call_paths[0].shown, 1u);
  EXPECT_EQ(report.call_paths[0].call_site, 0u);
  EXPECT_EQ(report.call_paths[0].counted_ns, 400u);
  EXPECT_EQ(report.call_paths[1].frames[2], "app+0x900");
  EXPECT_EQ(report.call_paths[1].call_site, 1u);
  EXPECT_EQ(report.call_paths[1].calls, 1u);
  EXPECT_EQ(report.call_paths[2].frames[2], "app+0x910");
  std::uint64_t counted_ns = 0;
  for (const CallPathFigures& path : report.call_paths) counted_ns += path.counted_ns;
  EXPECT_EQ(counted_ns, report.counted_ns);

  const nlohmann::json json = nlohmann::json::parse(to_json(report)).at("call_paths");
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(json[0].at("frames"), (nlohmann::json{"libhalo.so+0x10", "app+0x200", "app+0x900"}));
  EXPECT_EQ(json[0].at("shown_frame"), 1);
}

TEST(CallPathsReport, all_sections_have_the_paths_of_the_largest_call_sites) {
  const Report report = report_on({wrapped()}, skipping(nullptr));
  const std::string path = "MPI_Recv ← libhalo.so+0x10 ← app+0x200 ← app+0x900";
  EXPECT_NE(to_text(report, {.all = true}).find(path), std::string::npos);
  EXPECT_EQ(to_text(report, {}).find(path), std::string::npos);
}

TEST(CallPathsReport, says_how_to_see_who_calls_a_wrapper_that_most_time_goes_through) {
  Report report = report_on({wrapped()}, skipping(nullptr));
  const std::string hint = "communicate is called from 2 places: --skip communicate shows these instead.";
  EXPECT_EQ(to_text(report, {}).find(hint), std::string::npos) << "what has no name cannot be skipped by it";
  report.call_sites[0].function = "communicate";
  EXPECT_NE(to_text(report, {}).find(hint), std::string::npos) << to_text(report, {});
  report.counted_ns *= 3;
  EXPECT_EQ(to_text(report, {}).find(hint), std::string::npos) << "not most";
}

TEST(CallPathsReport, ranks_whose_modules_lie_elsewhere_have_the_same_paths) {
  constexpr std::uint64_t moved = 0x500000;
  RecordingBuilder other(1, 2);
  other.module("/nowhere/app", moved, moved + 0x1000, 0, moved)
      .module("/nowhere/libhalo.so", moved + 0x2000, moved + 0x3000, 0, moved + 0x2000);
  const std::uint64_t there = other.path({moved + 0x2010, moved + 0x100, moved + 0x900});
  other.call({.function = "MPI_Recv", .begin = 100, .end = 200, .call_site = there});
  RecordingBuilder one = with_modules(0, 2);
  const std::uint64_t here = one.path({wrapper + 0x10, app + 0x100, app + 0x900});
  one.call({.function = "MPI_Recv", .begin = 100, .end = 200, .call_site = here});
  const Report report = report_on({one, other}, skipping("libhalo.so"));
  ASSERT_EQ(report.call_paths.size(), 1u);
  EXPECT_EQ(report.call_paths[0].calls, 2u);
  EXPECT_EQ(report.call_sites.size(), 1u);
}

TEST(CallPathsReport, a_long_path_is_read_from_its_parts_in_any_order) {
  RecordingBuilder builder = with_modules(0);
  std::vector<std::uint64_t> addresses;
  for (std::uint64_t i = 0; i < 12; ++i) addresses.push_back(app + 0x10 * (i + 1));
  const std::uint64_t site = builder.path(addresses);
  builder.call({.function = "MPI_Recv", .begin = 100, .end = 200, .call_site = site});
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    const Report report = report_on({builder.shuffle(seed)}, skipping(nullptr));
    ASSERT_EQ(report.call_paths.size(), 1u);
    ASSERT_EQ(report.call_paths[0].frames.size(), 12u);
    EXPECT_EQ(report.call_paths[0].frames[11], "app+0xc0");
  }
}

TEST(CallPathsReport, a_path_that_the_recording_lacks_is_an_unknown_place) {
  RecordingBuilder builder = with_modules(0);
  builder.call({.function = "MPI_Recv", .begin = 100, .end = 200, .call_site = trace::call_path_bit | 77})
      .call({.function = "MPI_Send", .begin = 300, .end = 400, .call_site = ~std::uint64_t{0}});
  const Report report = report_on({builder}, skipping(nullptr));
  ASSERT_EQ(report.call_sites.size(), 2u);
  EXPECT_EQ(report.call_paths.at(0).frames, std::vector<std::string>{"unknown source line"});
}

TEST(CallPathsReport, recordings_of_the_version_without_paths_have_their_call_sites) {
  RecordingBuilder builder = with_modules(0);
  builder.header().version = 1;
  builder.call({.function = "MPI_Recv", .begin = 100, .end = 200, .call_site = app + 0x40});
  const Report report = report_on({builder}, skipping(nullptr));
  EXPECT_TRUE(report.flaws.empty());
  EXPECT_EQ(report.call_sites.at(0).module_offset, 0x40u);
  EXPECT_EQ(report.call_paths.at(0).frames, std::vector<std::string>{"app+0x40"});
}

/// A function of Python as recordings have it.
std::uint64_t python(RecordingBuilder& builder, const char* text) {
  return trace::python_frame_bit | builder.text(text);
}

TEST(CallPathsReport, a_call_from_python_is_shown_at_the_first_function_that_is_the_programs) {
  RecordingBuilder builder = with_modules(0);
  builder.module("/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311.so", 0x40000, 0x41000, 0, 0x40000);
  const std::uint64_t site = builder.path(
      {0x40010, python(builder, "7\nsend_all\n/usr/lib/python3/dist-packages/halo/send.py"),
       python(builder, "21\nSolver.exchange\n/home/me/app.py"),
       python(builder, "44\n<module>\n/home/me/app.py"), python(builder, "88\n_run_code\n<frozen runpy>")});
  builder.call({.function = "MPI_Recv", .begin = 100, .end = 200, .call_site = site});
  const Report report = report_on({builder}, skipping(nullptr));
  ASSERT_EQ(report.call_sites.size(), 1u);
  EXPECT_EQ(report.call_sites[0].function, "Solver.exchange");
  EXPECT_EQ(report.call_sites[0].file, "/home/me/app.py");
  EXPECT_EQ(report.call_sites[0].line, 21);
  EXPECT_EQ(report.call_sites[0].module, "");
  ASSERT_EQ(report.call_paths.size(), 1u);
  EXPECT_EQ(report.call_paths[0].frames,
            (std::vector<std::string>{"MPI.cpython-311.so+0x10", "send_all (send.py:7)",
                                      "Solver.exchange (app.py:21)", "<module> (app.py:44)",
                                      "_run_code (<frozen runpy>:88)"}));
  EXPECT_EQ(report.call_paths[0].shown, 2u);
  EXPECT_EQ(report_on({builder}, skipping("Solver.exchange")).call_sites[0].function, "<module>");
  EXPECT_EQ(report_on({builder}, skipping("app.py")).call_sites[0].function, "send_all")
      << "where all are skipped, the innermost of Python";
}

TEST(CallPathsReport, a_function_of_python_called_main_is_not_the_end_of_the_path) {
  RecordingBuilder builder = with_modules(0);
  const std::uint64_t site = builder.path(
      {petsc + 0x10, python(builder, "3\nmain\napp.py"), python(builder, "9\n<module>\napp.py")});
  builder.call({.function = "MPI_Recv", .begin = 100, .end = 200, .call_site = site});
  EXPECT_EQ(report_on({builder}, skipping(nullptr)).call_paths.at(0).frames.size(), 3u);
}

TEST(CallPathsReport, functions_of_python_that_are_damaged_or_missing_are_told_as_far_as_they_are_known) {
  RecordingBuilder builder = with_modules(0);
  int begin = 100;
  for (const std::uint64_t frame :
       {python(builder, ""), python(builder, "\n"), python(builder, "x\ny"), python(builder, "-3\nf\n"),
        python(builder, "99999999999999\nf\ng"), trace::python_frame_bit | 0x12345,
        trace::python_frame_bit | 0x3fffffff00000000}) {
    builder.call({.function = "MPI_Recv",
                  .begin = static_cast<std::uint64_t>(begin),
                  .end = static_cast<std::uint64_t>(begin) + 50,
                  .call_site = builder.path({petsc + 0x10, frame})});
    begin += 100;
  }
  const Report report = report_on({builder}, skipping(nullptr));
  // three have no text at all, and are one
  EXPECT_EQ(report.call_paths.size(), 5u);
  EXPECT_FALSE(to_text(report, {.all = true}).empty());
}

}  // namespace
}  // namespace penstock::analysis
