// Which file of figures holds in a process that uses GPUs: one of its own GPUs and driver, else none.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/transports/gpu_memory.hpp"
#include "transports/machine.hpp"
#include "transports/tuning/tuning_file.hpp"

namespace penstock::transports::test {
namespace {

class FoundTuningTest : public testing::Test {
 protected:
  FoundTuningTest() {
    use_device(0);
    const MachineInfo machine = survey();
    file_.measured = "today";
    file_.driver_version = machine.driver_version;
    for (const DeviceInfo& device : machine.devices) file_.gpus.push_back({device.uuid, device.name});
    for (const TuningParameter& each : tuning_parameters()) {
      if (std::string_view(each.name) == "pushed_from")
        file_.entries.push_back({&each, cuda::Link::none, 12345, ""});
    }
    char name[] = "/tmp/penstock-tuning-XXXXXX";
    folder_ = ::mkdtemp(name);
  }
  ~FoundTuningTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return folder_ / "table"; }
  [[nodiscard]] FoundTuning find(const std::string& text) const {
    std::ofstream(path()) << text;
    return find_tuning(path());
  }

  TuningFile file_;
  std::filesystem::path folder_;
};

void expect_shipped(const FoundTuning& found) {
  EXPECT_FALSE(found.file.has_value());
  EXPECT_EQ(found.table.pushed_from, shipped_tuning().pushed_from);
}

TEST_F(FoundTuningTest, is_the_file_that_was_measured_here) {
  const FoundTuning found = find(text_of(file_));
  EXPECT_EQ(found.problem, "");
  ASSERT_TRUE(found.file.has_value());
  EXPECT_EQ(found.file->measured, "today");
  EXPECT_EQ(found.table.pushed_from, 12345u);
}

TEST_F(FoundTuningTest, may_be_of_more_gpus_than_the_process_sees) {
  file_.gpus.push_back({"GPU-of-another-rank", "Other"});
  EXPECT_TRUE(find(text_of(file_)).file.has_value());
}

TEST_F(FoundTuningTest, is_not_one_of_other_gpus) {
  for (TuningFile::Gpu& gpu : file_.gpus) gpu.uuid = "GPU-elsewhere";
  const FoundTuning found = find(text_of(file_));
  expect_shipped(found);
  EXPECT_EQ(found.problem.find(path() + ": it was measured on other GPUs"), 0u) << found.problem;
}

TEST_F(FoundTuningTest, is_not_one_of_another_driver) {
  ++file_.driver_version;
  const FoundTuning found = find(text_of(file_));
  expect_shipped(found);
  EXPECT_EQ(found.problem.find(path() + ": it was measured with driver"), 0u) << found.problem;
}

TEST_F(FoundTuningTest, is_not_a_broken_one_and_says_where) {
  const FoundTuning found = find("format = 1\nnonsense\n");
  expect_shipped(found);
  EXPECT_EQ(found.problem.find(path() + ":2: "), 0u) << found.problem;
}

TEST_F(FoundTuningTest, says_that_a_file_that_was_asked_for_is_not_there) {
  const FoundTuning found = find_tuning("/nowhere/table");
  expect_shipped(found);
  EXPECT_EQ(found.problem, "/nowhere/table: No such file or directory");
}

TEST_F(FoundTuningTest, is_no_folder_and_no_endless_file) {
  for (const std::string& path : {folder_.string(), std::string("/dev/zero")}) {
    const FoundTuning found = find_tuning(path);
    expect_shipped(found);
    EXPECT_EQ(found.problem, path + ": it is not a file of penstock tune");
  }
}

TEST_F(FoundTuningTest, without_a_wish_is_the_users_or_the_shipped_one_silently) {
  ::setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
  const FoundTuning none = find_tuning("");
  expect_shipped(none);
  EXPECT_EQ(none.problem, "");
  std::filesystem::create_directory(folder_ / "penstock");
  std::ofstream(none.path) << text_of(file_);
  EXPECT_TRUE(find_tuning("").file.has_value());
  EXPECT_FALSE(find_tuning("shipped").file.has_value());
  ::unsetenv("XDG_CONFIG_HOME");
}

}  // namespace
}  // namespace penstock::transports::test
