// The memory that a job may use, by files as the kernel shows them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "transports/host/memory_limit.hpp"

namespace penstock::transports {
namespace {

class MemoryLimit : public testing::Test {
 protected:
  MemoryLimit()
      : root_(std::filesystem::temp_directory_path() / ("penstock-limits-" + std::to_string(getpid()))) {}
  ~MemoryLimit() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  [[nodiscard]] std::uint64_t limit() const { return memory_limit_bytes(root_.c_str()); }
  std::filesystem::path root_;
};

TEST_F(MemoryLimit, is_the_machines_without_control_groups) {
  EXPECT_GT(limit(), 64u << 20);
}

TEST_F(MemoryLimit, is_the_least_of_a_group_and_those_around_it) {
  write("proc/self/cgroup", "0::/system.slice/job_7/step_0\n");
  write("sys/fs/cgroup/system.slice/job_7/step_0/memory.max", "max\n");
  EXPECT_EQ(limit(), memory_limit_bytes("/nowhere"));
  write("sys/fs/cgroup/system.slice/job_7/memory.max", "5000000\n");
  EXPECT_EQ(limit(), 5000000u);
  write("sys/fs/cgroup/system.slice/job_7/step_0/memory.max", "4000000\n");
  EXPECT_EQ(limit(), 4000000u);
}

TEST_F(MemoryLimit, is_told_by_the_older_version_too) {
  write("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/slurm/job_7\n0::/\n");
  write("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "3000000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limit(), 3000000u);
}

TEST_F(MemoryLimit, is_the_containers_where_the_path_outside_is_told) {
  write("proc/self/cgroup", "0::/kubepods/pod_1/container_2\n");
  write("sys/fs/cgroup/memory.max", "6000000\n");
  EXPECT_EQ(limit(), 6000000u);
}

}  // namespace
}  // namespace penstock::transports
