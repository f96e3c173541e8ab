#include "analysis/export/common/mpi_operation.hpp"

#include <gtest/gtest.h>

namespace penstock::analysis::exports {
namespace {

TEST(MpiOperation, a_blocking_collective_is_known_by_its_name_and_so_is_its_form_for_large_counts) {
  EXPECT_EQ(collective_of("MPI_Bcast"), Collective::bcast);
  EXPECT_EQ(collective_of("MPI_Reduce_scatter_block_c"), Collective::reduce_scatter_block);
  EXPECT_EQ(collective_of("MPI_Comm_split"), Collective::create_communicator);
  EXPECT_EQ(collective_of("MPI_Send"), Collective::none);
}

TEST(MpiOperation, a_call_that_only_begins_a_collective_is_none) {
  for (const char* name : {"MPI_Ibcast", "MPI_Iallreduce_c", "MPI_Bcast_init", "MPI_Allreduce_init_c"}) {
    EXPECT_EQ(collective_of(name), Collective::none) << name;
  }
}

TEST(MpiOperation, every_form_of_an_operation_has_its_role) {
  for (const char* name : {"MPI_Bcast", "MPI_Ibcast", "MPI_Ibcast_c", "MPI_Scatterv_init"}) {
    EXPECT_EQ(role_of(name), Role::one_to_all) << name;
  }
  for (const char* name : {"MPI_Send", "MPI_Irecv_c", "MPI_Waitall", "MPI_Startall", "MPI_Improbe"}) {
    EXPECT_EQ(role_of(name), Role::point_to_point) << name;
  }
  EXPECT_EQ(role_of("MPI_Ireduce"), Role::all_to_one);
  EXPECT_EQ(role_of("MPI_Ineighbor_alltoall"), Role::other_collective);
  EXPECT_EQ(role_of("MPI_Rget_accumulate"), Role::one_sided);
  EXPECT_EQ(role_of("MPI_Win_fence"), Role::one_sided);
  EXPECT_EQ(role_of("MPI_File_write_all"), Role::file);
  EXPECT_EQ(role_of("MPI_Comm_rank"), Role::other);
  EXPECT_EQ(role_of("MPI_Get_count"), Role::other);
  EXPECT_EQ(role_of(""), Role::other);
}

}  // namespace
}  // namespace penstock::analysis::exports
