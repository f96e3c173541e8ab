// Which GPU `penstock run --gpu-by-rank` gives to a rank.
#include "analysis/cli/launch/gpu_by_rank.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/analysis/recording_builder.hpp"

namespace penstock::cli {
namespace {

using analysis::Cores;
using analysis::cores_in;

/// What the ranks of a host hold, as the sockets would.
class Claims {
 public:
  [[nodiscard]] ClaimGpu of_next_rank() {
    return [this](const std::string& identity, std::size_t times) {
      return held_.emplace(identity, times).second;
    };
  }

 private:
  std::set<std::pair<std::string, std::size_t>> held_;
};

const std::vector<HostGpu> of_two_sockets{{"a", "A", cores_in("0-3")},
                                          {"b", "B", cores_in("0-3")},
                                          {"c", "C", cores_in("4-7")},
                                          {"d", "D", cores_in("4-7")}};

std::string gpus_of(const std::vector<const char*>& cores_of_ranks) {
  Claims claims;
  std::string gpus;
  for (std::size_t rank = 0; rank < cores_of_ranks.size(); ++rank) {
    gpus += of_two_sockets[choose_gpu(of_two_sockets, rank, cores_in(cores_of_ranks[rank]),
                                      claims.of_next_rank())]
                .name;
  }
  return gpus;
}

TEST(GpuByRank, is_that_of_its_number_if_it_is_not_bound) {
  EXPECT_EQ(gpus_of({"0-7", "0-7", "0-7", "0-7"}), "abcd");
  EXPECT_EQ(gpus_of({"0-7", "0-7", "0-7", "0-7", "0-7", "0-7"}), "abcdab");
  EXPECT_EQ(gpus_of({"", ""}), "ab");
}

TEST(GpuByRank, is_near_its_cores_and_held_by_no_other) {
  EXPECT_EQ(gpus_of({"0-1", "2-3", "4-5", "6-7"}), "abcd");  // sockets one after the other
  EXPECT_EQ(gpus_of({"0", "4", "1", "5"}), "acbd");          // in turns
  EXPECT_EQ(gpus_of({"4", "5", "6"}), "cda");                // the last one has a way to go
}

TEST(GpuByRank, is_shared_evenly_if_ranks_are_more) {
  const std::string gpus = gpus_of({"0", "1", "2", "3", "4", "5", "6", "7"});
  std::map<char, int> ranks_of;
  for (const char each : gpus) ++ranks_of[each];
  EXPECT_EQ(ranks_of, (std::map<char, int>{{'a', 2}, {'b', 2}, {'c', 2}, {'d', 2}})) << gpus;
}

class GpusOfHost : public ::testing::Test {
 protected:
  GpusOfHost() {
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    add("0000:41:00.0", "GPU-b1", "1", "4-7");
    add("0000:01:00.0", "GPU-a0", "0", "0-3");
    add("0000:81:00.0", "GPU-c2", "2", "8-11");
    std::filesystem::remove(root() / "dev/nvidia2");  // of another job
  }
  ~GpusOfHost() override { ::unsetenv("CUDA_VISIBLE_DEVICES"); }
  [[nodiscard]] std::filesystem::path root() const { return directory_.path(); }
  [[nodiscard]] std::string found() const {
    std::string text;
    for (const HostGpu& each : gpus_to_choose_from(root()))
      text += each.name + (each.near.empty() ? " ? " : " " + std::to_string(*each.near.begin()) + " ");
    return text;
  }

 private:
  void add(const std::string& address, const std::string& uuid, const std::string& minor,
           const std::string& cores) const {
    write("proc/driver/nvidia/gpus/" + address + "/information",
          "Model: \t\t NVIDIA H200\nIRQ:   \t\t 120\nGPU UUID: \t " + uuid + "\nBus Location: \t " + address +
              "\nDevice Minor: \t " + minor + "\n");
    write("sys/bus/pci/devices/" + address + "/local_cpulist", cores + "\n");
    write("dev/nvidia" + minor, "");
  }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories((root() / file).parent_path());
    std::ofstream(root() / file) << text;
  }

  analysis::testing::TemporaryDirectory directory_;
};

TEST_F(GpusOfHost, are_those_that_can_be_opened_by_address) {
  EXPECT_EQ(found(), "GPU-a0 0 GPU-b1 4 ");
}

TEST_F(GpusOfHost, are_those_of_the_variable_if_it_is_set) {
  ::setenv("CUDA_VISIBLE_DEVICES", "1,0", 1);
  EXPECT_EQ(found(), "1 4 0 0 ");
  ::setenv("CUDA_VISIBLE_DEVICES", "GPU-b,MIG-7,9", 1);
  EXPECT_EQ(found(), "GPU-b 4 MIG-7 ? 9 ? ");
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_EQ(found(), "");
}

TEST_F(GpusOfHost, are_the_same_to_jobs_that_number_them_otherwise) {
  ::setenv("CUDA_VISIBLE_DEVICES", "1,GPU-b,9", 1);
  const std::vector<HostGpu> gpus = gpus_to_choose_from(root());
  ASSERT_EQ(gpus.size(), 3u);
  EXPECT_EQ(gpus[0].identity, "GPU-b1");
  EXPECT_EQ(gpus[1].identity, "GPU-b1");
  EXPECT_EQ(gpus[2].identity, "9");
}

TEST_F(GpusOfHost, are_none_without_a_driver) {
  std::filesystem::remove_all(root() / "proc");
  EXPECT_EQ(found(), "");
}

TEST(RankOnHost, is_what_a_launcher_has_set) {
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID", "FLUX_TASK_LOCAL_ID",
        "PALS_LOCAL_RANKID", "JSM_NAMESPACE_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK"}) {
    ::unsetenv(name);
  }
  EXPECT_EQ(rank_on_host(), std::nullopt);
  ::setenv("SLURM_LOCALID", "x", 1);
  EXPECT_EQ(rank_on_host(), std::nullopt);
  ::setenv("SLURM_LOCALID", "3", 1);
  EXPECT_EQ(rank_on_host(), 3u);
  ::unsetenv("SLURM_LOCALID");
}

TEST(Claim, is_held_until_the_process_has_ended) {
  const std::string name = "test-" + std::to_string(::getpid());
  int told[2];
  int ends[2];
  ASSERT_EQ(::pipe(told), 0);
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    const char is_claimed = claim_by_socket(name, 0) ? 'y' : 'n';
    static_cast<void>(!::write(told[1], &is_claimed, 1));
    char end = 0;
    ::close(ends[1]);
    static_cast<void>(!::read(ends[0], &end, 1));
    ::_exit(0);
  }
  char is_claimed = 0;
  ASSERT_EQ(::read(told[0], &is_claimed, 1), 1);
  EXPECT_EQ(is_claimed, 'y');
  EXPECT_FALSE(claim_by_socket(name, 0));
  EXPECT_TRUE(claim_by_socket(name, 1));
  ::close(ends[1]);
  ASSERT_EQ(::waitpid(other, nullptr, 0), other);
  EXPECT_TRUE(claim_by_socket(name, 0));
  for (const int each : {told[0], told[1], ends[0]}) ::close(each);
}

}  // namespace
}  // namespace penstock::cli
