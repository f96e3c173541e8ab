#include "analysis/naming/kept_names.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>
#include <fstream>
#include <string>

#include "analysis/naming/call_sites.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::TemporaryDirectory;

CodeAddress code_of(const std::string& module, std::uint64_t address,
                    trace::BuildBy by = trace::BuildBy::build_id) {
  CodeAddress code{module, {}, address};
  code.build.by = by;
  code.build.bytes = 20;
  code.build.id[0] = 0xfe;
  code.build.id[24] = 1;
  return code;
}

const std::vector<SourcePlace> two_places = {{"inner", "a::inner(int)", "a.hpp", 3},
                                             {"outer", "outer", "/src/\"a\".cpp", 70}};

void expect_two_places(const std::vector<SourcePlace>* found) {
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found->at(i).function, two_places[i].function);
    EXPECT_EQ(found->at(i).qualified, two_places[i].qualified);
    EXPECT_EQ(found->at(i).file, two_places[i].file);
    EXPECT_EQ(found->at(i).line, two_places[i].line);
  }
}

TEST(KeptNames, are_found_by_the_next_command_under_the_same_module_build_and_address) {
  const TemporaryDirectory directory;
  {
    KeptNames kept(directory.path());
    EXPECT_EQ(kept.find(code_of("app", 5)), nullptr);
    kept.keep(code_of("app", 5), two_places);
    kept.keep(code_of("app", 6), {{"f", "", "", 0}});
    kept.keep(code_of("libx.so", 5, trace::BuildBy::layout), two_places);
    kept.save();
  }
  const KeptNames kept(directory.path());
  expect_two_places(kept.find(code_of("app", 5)));
  expect_two_places(kept.find(code_of("libx.so", 5, trace::BuildBy::layout)));
  ASSERT_NE(kept.find(code_of("app", 6)), nullptr);
  EXPECT_EQ(kept.find(code_of("app", 7)), nullptr);
  EXPECT_EQ(kept.find(code_of("libx.so", 5)), nullptr);
  CodeAddress other = code_of("app", 5);
  other.build.id[24] = 2;
  EXPECT_EQ(kept.find(other), nullptr);
}

TEST(KeptNames, grow_from_command_to_command) {
  const TemporaryDirectory directory;
  for (std::uint64_t address = 1; address <= 3; ++address) {
    KeptNames kept(directory.path());
    kept.keep(code_of("app", address), two_places);
    kept.save();
  }
  const KeptNames kept(directory.path());
  for (std::uint64_t address = 1; address <= 3; ++address)
    expect_two_places(kept.find(code_of("app", address)));
}

TEST(KeptNames, with_lines_take_the_place_of_those_without) {
  const std::vector<SourcePlace> without_lines = {{"outer", "outer", "", 0}};
  const TemporaryDirectory directory;
  for (const auto* const places : {&without_lines, &two_places, &without_lines}) {
    KeptNames kept(directory.path());
    kept.keep(code_of("app", 5), *places);
    kept.save();
  }
  const KeptNames kept(directory.path());
  expect_two_places(kept.find(code_of("app", 5)));
}

TEST(KeptNames, may_be_read_by_those_who_may_read_the_recordings) {
  using std::filesystem::perms;
  const perms own = perms::owner_read | perms::owner_write;
  for (const perms mode : {own, own | perms::group_read}) {
    const TemporaryDirectory directory;
    const std::filesystem::path recording = directory.path() / "rank-00000.penstock";
    std::ofstream(recording) << "x";
    std::filesystem::permissions(recording, mode);
    KeptNames kept(directory.path());
    kept.keep(code_of("app", 5), two_places);
    kept.save();
    EXPECT_EQ(std::filesystem::status(directory.path() / "names.json").permissions(), mode);
  }
}

TEST(KeptNames, of_a_build_that_is_not_known_are_left_out) {
  const TemporaryDirectory directory;
  KeptNames kept(directory.path());
  kept.keep(code_of("app", 5, trace::BuildBy::unknown), two_places);
  EXPECT_EQ(kept.find(code_of("app", 5, trace::BuildBy::unknown)), nullptr);
  kept.save();
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(KeptNames, need_no_folder_and_leave_nothing_where_they_cannot_be_written) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "rank-00000.penstock";
  std::ofstream(file) << "x";
  for (const std::filesystem::path& recording : {file, directory.path() / "nothing"}) {
    KeptNames kept(recording);
    kept.keep(code_of("app", 5), two_places);
    kept.save();
  }
  // a folder in the way
  std::filesystem::create_directories(directory.path() / "names.json" / "x");
  KeptNames kept(directory.path());
  kept.keep(code_of("app", 5), two_places);
  kept.save();
  EXPECT_TRUE(std::filesystem::is_directory(directory.path() / "names.json"));
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator(directory.path())) ++entries;
  EXPECT_EQ(entries, 2u);
}

TEST(KeptNames, are_forgotten_where_what_was_kept_is_damaged) {
  const TemporaryDirectory directory;
  {
    KeptNames kept(directory.path());
    kept.keep(code_of("app", 5), two_places);
    kept.save();
  }
  const std::filesystem::path file = directory.path() / "names.json";
  std::string whole;
  std::getline(std::ifstream(file), whole);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(file) << whole.substr(0, length);
    EXPECT_EQ(KeptNames(directory.path()).find(code_of("app", 5)), nullptr) << length;
  }
  for (const char* text :
       {"[]", "{}", "7", R"({"schema": "penstock-names-1", "modules": 3})",
        R"({"schema": "penstock-names-9", "modules": []})",
        R"({"schema": "penstock-names-1", "modules": [{"path": 1, "build": "", "code": []}]})",
        R"({"schema": "penstock-names-1", "modules": [{"path": "app", "build": "zz", "code": 5}]})"}) {
    std::ofstream(file) << text;
    EXPECT_EQ(KeptNames(directory.path()).find(code_of("app", 5)), nullptr) << text;
  }
  std::filesystem::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(KeptNames(directory.path()).find(code_of("app", 5)), nullptr) << "and nobody waits for a writer";
}

TEST(KeptNames, name_code_whose_file_is_gone) {
  const TemporaryDirectory directory;
  KeptNames kept(directory.path());
  kept.keep(code_of("/nowhere/app", 5), two_places);
  CallSites sites(&kept);
  const CodeAddress code = code_of("/nowhere/app", 5);
  const std::vector<SourcePlace> places = sites.places(code.module, code.build, code.address);
  expect_two_places(&places);
  EXPECT_TRUE(flaws_of_other_builds(sites.modules()).empty());
}

}  // namespace
}  // namespace penstock::analysis
