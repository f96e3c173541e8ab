// Collectives between two groups: only one group sends to the other, or each to the other, and MPI_ROOT and
// MPI_PROC_NULL say who is what. Against the same on host buffers. Run on three ranks or more.
#include <algorithm>
#include <vector>

#include "tests/interpose/collectives/comparison.hpp"
#include "tests/interpose/collectives/element_types.hpp"

namespace penstock::test_support {
namespace {

/// Rank 0 and the last one on one side, all others on the other. Owns the communicators.
class TwoGroups {
 public:
  TwoGroups() {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    is_first = rank == 0 || (size > 3 && rank == size - 1);
    MPI_Comm_split(MPI_COMM_WORLD, is_first ? 0 : 1, rank, &own_);
    MPI_Intercomm_create(own_, 0, MPI_COMM_WORLD, is_first ? 1 : 0, 0, &between);
    MPI_Comm_rank(between, &local_rank);
    MPI_Comm_size(between, &local_size);
    MPI_Comm_remote_size(between, &remote_size);
  }
  ~TwoGroups() {
    MPI_Comm_free(&between);
    MPI_Comm_free(&own_);
  }
  TwoGroups(const TwoGroups&) = delete;
  TwoGroups& operator=(const TwoGroups&) = delete;

  /// The root argument if rank `root` of the first group is the root.
  [[nodiscard]] int root_argument(int root) const {
    if (!is_first) return root;
    return local_rank == root ? MPI_ROOT : MPI_PROC_NULL;
  }

  bool is_first = false;
  int local_rank = 0;
  int local_size = 0;
  int remote_size = 0;
  MPI_Comm between = MPI_COMM_NULL;

 private:
  MPI_Comm own_ = MPI_COMM_NULL;
};

class Intercommunicators : public testing::TestWithParam<int> {
 protected:
  /// Runs `exchange(type, send, receive)` on every element type; the buffers hold `send` and `receive`
  /// elements.
  template <typename Call>
  void expect_same(int send, int receive, Call exchange) {
    const ElementTypes types;
    for (const ElementType& type : types.plain()) {
      SCOPED_TRACE(type.name);
      expect_same_as_on_host(type.extent(send), type.extent(receive),
                             [&](const void* from, void* to) { return exchange(type, from, to); });
      if (any_rank_failed()) return;
    }
  }
  TwoGroups groups;
  const int count = GetParam();
};

TEST_P(Intercommunicators, Bcast_goes_from_the_root_to_the_other_group) {
  expect_same(0, count, [&](const ElementType& type, const void*, void* buffer) {
    return MPI_Bcast(buffer, count, type.handle, groups.root_argument(0), groups.between);
  });
}

TEST_P(Intercommunicators, Gather_collects_the_other_group) {
  const int root = groups.root_argument(0);
  expect_same(count, count * groups.remote_size, [&](const ElementType& type, const void* from, void* to) {
    return MPI_Gather(from, count, type.handle, to, count, type.handle, root, groups.between);
  });
}

TEST_P(Intercommunicators, Scatter_serves_the_other_group) {
  const int root = groups.root_argument(0);
  expect_same(count * groups.remote_size, count, [&](const ElementType& type, const void* from, void* to) {
    return MPI_Scatter(from, count, type.handle, to, count, type.handle, root, groups.between);
  });
}

TEST_P(Intercommunicators, Gatherv_leaves_the_gaps_between_blocks) {
  const int root = groups.root_argument(0);
  std::vector<int> counts;
  std::vector<int> places;
  int next = 1;
  for (int rank = 0; rank < groups.remote_size; ++rank) {
    counts.push_back(count + rank);
    places.push_back(next);
    next += count + rank + 2;
  }
  const int own = count + groups.local_rank;
  expect_same(own, next, [&](const ElementType& type, const void* from, void* to) {
    return MPI_Gatherv(from, own, type.handle, to, counts.data(), places.data(), type.handle, root,
                       groups.between);
  });
}

TEST_P(Intercommunicators, Reduce_brings_the_other_groups_result_to_the_root) {
  const int root = groups.root_argument(0);
  expect_same(count, count, [&](const ElementType& type, const void* from, void* to) {
    return MPI_Reduce(from, to, count, type.handle, type.operation, root, groups.between);
  });
}

TEST_P(Intercommunicators, Allreduce_exchanges_the_groups_results) {
  expect_same(count, count, [&](const ElementType& type, const void* from, void* to) {
    return MPI_Allreduce(from, to, count, type.handle, type.operation, groups.between);
  });
}

TEST_P(Intercommunicators, Allgather_collects_the_other_group_everywhere) {
  expect_same(count, count * groups.remote_size, [&](const ElementType& type, const void* from, void* to) {
    return MPI_Allgather(from, count, type.handle, to, count, type.handle, groups.between);
  });
}

TEST_P(Intercommunicators, Alltoall_exchanges_blocks_between_groups) {
  expect_same(count * groups.remote_size, count * groups.remote_size,
              [&](const ElementType& type, const void* from, void* to) {
                return MPI_Alltoall(from, count, type.handle, to, count, type.handle, groups.between);
              });
}

TEST_P(Intercommunicators, Reduce_scatter_block_shares_the_other_groups_result) {
  // both groups reduce vectors of the same length
  const int total = count * groups.local_size * groups.remote_size;
  const int own = count * groups.remote_size;
  expect_same(total, own, [&](const ElementType& type, const void* from, void* to) {
    return MPI_Reduce_scatter_block(from, to, own, type.handle, type.operation, groups.between);
  });
}

TEST_P(Intercommunicators, Ibcast_and_Ialltoall_may_be_in_flight_together) {
  const int root = groups.root_argument(0);
  expect_same(count * groups.remote_size, count * (groups.remote_size + 1),
              [&](const ElementType& type, const void* from, void* to) {
                MPI_Request requests[2];
                auto* const behind =
                    static_cast<std::byte*>(to) + type.extent_bytes() * count * groups.remote_size;
                MPI_Ialltoall(from, count, type.handle, to, count, type.handle, groups.between, &requests[0]);
                MPI_Ibcast(behind, count, type.handle, root, groups.between, &requests[1]);
                return MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
              });
}

TEST_P(Intercommunicators, Barrier_completes) {
  EXPECT_EQ(MPI_Barrier(groups.between), MPI_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(Elements, Intercommunicators, testing::Values(1, 1500));

}  // namespace
}  // namespace penstock::test_support
