// The file of the fastest policies: what is kept, and what is not used.
#include "examples/dslash/tuning_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace dslash {
namespace {

const Machine here{"GPU of here", "1.0", "MPI of here"};
const std::vector<Measured> measured{{Policy::none, MpiRequests::each_time, 3e-3},
                                     {Policy::streams_two, MpiRequests::persistent, 1e-3},
                                     {Policy::streams, MpiRequests::each_time, 2e-3}};

class DslashTuningFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override { std::filesystem::remove(path_); }

  void write(const std::string& text) const { std::ofstream(path_) << text; }
  [[nodiscard]] std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }

  std::string path_ = testing::TempDir() + "dslash-tuning-test.json";
};

TEST_F(DslashTuningFile, keeps_the_fastest_policy_of_each_case) {
  TuningFile first(path_, here);
  EXPECT_EQ(first.complaint(), "");
  TuningKey single;
  single.of_rank = {8, 8, 8, 4};
  single.ranks = 4;
  TuningKey half = single;
  half.numbers = Numbers::in_half;
  EXPECT_FALSE(first.fastest(single));
  EXPECT_EQ(first.keep(single, measured), "");
  EXPECT_EQ(first.keep(half, {measured.front()}), "");

  const TuningFile later(path_, here);
  ASSERT_TRUE(later.fastest(single));
  EXPECT_EQ(later.fastest(single)->policy, Policy::streams_two);
  EXPECT_EQ(later.fastest(single)->requests, MpiRequests::persistent);
  ASSERT_TRUE(later.fastest(half));
  EXPECT_EQ(later.fastest(half)->policy, Policy::none);
}

TEST_F(DslashTuningFile, tells_cases_apart_by_all_that_matters) {
  TuningFile file(path_, here);
  ASSERT_EQ(file.keep({}, measured), "");
  EXPECT_TRUE(file.fastest({}));
  TuningKey other;
  other.of_rank.t = 8;
  EXPECT_FALSE(file.fastest(other));
  other = {};
  other.numbers = Numbers::in_double;
  EXPECT_FALSE(file.fastest(other));
  other = {};
  other.sides = 6;
  EXPECT_FALSE(file.fastest(other));
  other = {};
  other.ranks = 8;
  EXPECT_FALSE(file.fastest(other));
  other = {};
  other.ranks_along_z = 2;
  EXPECT_FALSE(file.fastest(other));
  other = {};
  other.exchange = example::Exchange::staged_by_hand;
  EXPECT_FALSE(file.fastest(other));
}

TEST_F(DslashTuningFile, of_another_machine_is_not_used_and_one_line_says_so) {
  ASSERT_EQ(TuningFile(path_, here).keep({}, measured), "");
  for (const Machine& there :
       {Machine{"another GPU", "1.0", "MPI of here"}, Machine{"GPU of here", "2.0", "MPI of here"},
        Machine{"GPU of here", "1.0", "another MPI"}}) {
    const TuningFile file(path_, there);
    EXPECT_NE(file.complaint().find("is of another machine (GPU of here, driver 1.0, MPI of here)"),
              std::string::npos)
        << file.complaint();
    EXPECT_EQ(file.complaint().find('\n'), std::string::npos);
    EXPECT_FALSE(file.fastest({}));
  }
}

TEST_F(DslashTuningFile, that_is_none_is_not_used) {
  for (const char* text :
       {"", "{", "[]", "7", R"({"machine": 3})", R"({"machine": {"gpu": "GPU of here"}})",
        R"({"machine": {"gpu": "GPU of here", "driver": "1.0", "mpi": "MPI of here"}})",
        R"({"machine": {"gpu": "GPU of here", "driver": "1.0", "mpi": "MPI of here"}, "tuned": [{}]})",
        R"({"machine": {"gpu": "GPU of here", "driver": "1.0", "mpi": "MPI of here"}, "tuned":
            [{"of": {}, "fastest": {"policy": "by-post", "requests": "persistent", "application_s": 1}}]})"}) {
    write(text);
    EXPECT_NE(TuningFile(path_, here).complaint().find("is no tuning file"), std::string::npos) << text;
  }
}

TEST_F(DslashTuningFile, that_cannot_be_written_is_told) {
  TuningFile file("/no/such/folder/tuning.json", here);
  EXPECT_NE(file.keep({}, measured).find("cannot be written"), std::string::npos);
}

TEST_F(DslashTuningFile, is_printed_with_its_machine) {
  EXPECT_EQ(table_of_tuning_file(path_), "");
  ASSERT_EQ(TuningFile(path_, here).keep({}, measured), "");
  const std::string table = table_of_tuning_file(path_);
  for (const char* words : {"GPU of here, driver 1.0, MPI of here", "streams-two persistent", "1000.0 us"}) {
    EXPECT_NE(table.find(words), std::string::npos) << table;
  }
  write("{");
  EXPECT_NE(table_of_tuning_file(path_).find("is no tuning file"), std::string::npos);
}

}  // namespace
}  // namespace dslash
