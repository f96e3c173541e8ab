// Tests of the assignment of GPUs to processes, and of the numbering of ranks.
#include "examples/gmh/library/assignment.hpp"

#include <gtest/gtest.h>

#include "examples/gmh/library/ranks.hpp"

namespace gmh {
namespace {

GpuId gpu(char name) {
  GpuId id{};
  id[0] = name;
  return id;
}

TEST(Assignment, gives_each_process_gpus_of_its_own) {
  const std::vector<GpuId> all{gpu('a'), gpu('b'), gpu('c'), gpu('d')};
  const Assignment result = assign_gpus({{0, 2, all}, {1, 2, all}}, false);
  EXPECT_EQ(result.complaint, "");
  EXPECT_EQ(result.devices, (std::vector<std::vector<int>>{{0, 1}, {2, 3}}));
}

TEST(Assignment, goes_by_uuid_where_processes_see_different_gpus_under_the_same_numbers) {
  const Assignment result = assign_gpus({{0, 1, {gpu('b'), gpu('a')}}, {1, 1, {gpu('b')}}}, false);
  EXPECT_EQ(result.complaint, "");
  EXPECT_EQ(result.devices, (std::vector<std::vector<int>>{{1}, {0}}));  // the first process yields
}

TEST(Assignment, makes_way_along_a_chain) {
  const Assignment result =
      assign_gpus({{0, 1, {gpu('a'), gpu('b')}}, {1, 1, {gpu('b'), gpu('c')}}, {2, 1, {gpu('a')}}}, false);
  EXPECT_EQ(result.complaint, "");
  EXPECT_EQ(result.devices, (std::vector<std::vector<int>>{{1}, {1}, {0}}));
}

TEST(Assignment, says_who_has_what_there_is_too_little_of) {
  const std::vector<GpuId> all{gpu('a'), gpu('b'), gpu('c')};
  const Assignment result = assign_gpus({{4, 2, all}, {5, 2, all}}, false);
  EXPECT_NE(result.complaint.find("MPI rank 5 asks for 2 GPUs and sees 3 on this host, of which are taken: "
                                  "2 by MPI rank 4, 1 by MPI rank 5"),
            std::string::npos)
      << result.complaint;
  EXPECT_NE(assign_gpus({{0, 1, {}}}, true).complaint.find("sees 0 on this host, of which are taken: none"),
            std::string::npos);
}

TEST(Assignment, shares_where_that_is_wanted) {
  const std::vector<GpuId> all{gpu('a'), gpu('b')};
  const Assignment result = assign_gpus({{0, 2, all}, {1, 2, all}}, true);
  EXPECT_EQ(result.complaint, "");
  EXPECT_EQ(result.devices, (std::vector<std::vector<int>>{{0, 1}, {0, 1}}));
}

TEST(Ranks, count_virtual_gpus_process_by_process) {
  const Ranks ranks({2, 1, 3});
  EXPECT_EQ(ranks.size(), 6);
  EXPECT_EQ(ranks.most_gpus(), 3);
  int rank = 0;
  for (const int process : {0, 1, 2}) {
    for (int vgpu = 0; vgpu < ranks.gpus_of(process); ++vgpu, ++rank) {
      EXPECT_EQ(ranks.rank_of(process, vgpu), rank);
      EXPECT_EQ(ranks.process_of(rank), process);
      EXPECT_EQ(ranks.vgpu_of(rank), vgpu);
    }
  }
}

}  // namespace
}  // namespace gmh
