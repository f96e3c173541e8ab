// Neighbourhood collectives against the same on host buffers. On a grid that is not periodic some neighbours
// are MPI_PROC_NULL, and their blocks must stay as they were. Run on three ranks or more.
#include <array>
#include <vector>

#include "tests/interpose/collectives/comparison.hpp"
#include "tests/interpose/collectives/element_types.hpp"
#include "tests/interpose/collectives/spellings.hpp"

namespace penstock::test_support {
namespace {

class Neighbours : public testing::Test {
 protected:
  Neighbours() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const std::array extents = {size, 1};
    const std::array periods = {0, 1};
    MPI_Cart_create(MPI_COMM_WORLD, 2, extents.data(), periods.data(), 0, &grid);
  }
  ~Neighbours() override { MPI_Comm_free(&grid); }

  template <typename Body>
  void for_all_spellings(Body body) {
    const ElementTypes types;
    for (const ElementType& type : types.all()) {
      for (const Form form : all_forms) {
        SCOPED_TRACE(testing::Message() << type.name << ", " << name_of(form));
        body(SmallCounts(), form, type);
#if MPI_VERSION >= 4
        body(LargeCounts(), form, type);
#endif
        if (any_rank_failed()) return;
      }
    }
  }

  MPI_Comm grid = MPI_COMM_NULL;
  static constexpr int neighbours = 4;
  static constexpr int count = 20;
};

TEST_F(Neighbours, Neighbor_allgather_leaves_blocks_of_no_neighbour_alone) {
  for_all_spellings([&](auto counts, Form form, const ElementType& type) {
    using Mpi = decltype(counts);
    expect_same_as_on_host(
        type.extent(count), type.extent(neighbours * count), [&](const void* from, void* to) {
          return PENSTOCK_CALL(Neighbor_allgather, from, count, type.handle, to, count, type.handle, grid);
        });
  });
}

TEST_F(Neighbours, Neighbor_alltoall_leaves_blocks_of_no_neighbour_alone) {
  for_all_spellings([&](auto counts, Form form, const ElementType& type) {
    using Mpi = decltype(counts);
    expect_same_as_on_host(
        type.extent(neighbours * count), type.extent(neighbours * count), [&](const void* from, void* to) {
          return PENSTOCK_CALL(Neighbor_alltoall, from, count, type.handle, to, count, type.handle, grid);
        });
  });
}

TEST_F(Neighbours, Neighbor_forms_with_places_leave_the_gaps_alone) {
  for_all_spellings([&](auto counts, Form form, const ElementType& type) {
    using Mpi = decltype(counts);
    const std::vector<typename Mpi::Count> lengths(neighbours, count);
    std::vector<typename Mpi::Displacement> places;
    std::vector<MPI_Aint> byte_places;
    for (int neighbour = 0; neighbour < neighbours; ++neighbour) {
      places.push_back(neighbour * (count + 3) + 1);
      byte_places.push_back(places.back() * static_cast<MPI_Aint>(type.extent_bytes()));
    }
    const std::vector<MPI_Datatype> types(neighbours, type.handle);
    const Extent all = type.extent(neighbours * (count + 3) + 1);
    expect_same_as_on_host(type.extent(count), all, [&](const void* from, void* to) {
      return PENSTOCK_CALL(Neighbor_allgatherv, from, count, type.handle, to, lengths.data(), places.data(),
                           type.handle, grid);
    });
    expect_same_as_on_host(all, all, [&](const void* from, void* to) {
      return PENSTOCK_CALL(Neighbor_alltoallv, from, lengths.data(), places.data(), type.handle, to,
                           lengths.data(), places.data(), type.handle, grid);
    });
    expect_same_as_on_host(all, all, [&](const void* from, void* to) {
      return PENSTOCK_CALL(Neighbor_alltoallw, from, lengths.data(), byte_places.data(), types.data(), to,
                           lengths.data(), byte_places.data(), types.data(), grid);
    });
  });
}

TEST_F(Neighbours, Neighbor_alltoall_works_on_a_distributed_graph) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int from_rank = (rank + size - 1) % size;
  const int to_rank = (rank + 1) % size;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from_rank, MPI_UNWEIGHTED, 1, &to_rank, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
  const ElementTypes types;
  const ElementType& type = types.all().back();
  expect_same_as_on_host(type.extent(count), type.extent(count), [&](const void* from, void* to) {
    return MPI_Neighbor_alltoall(from, count, type.handle, to, count, type.handle, ring);
  });
  MPI_Comm_free(&ring);
}

}  // namespace
}  // namespace penstock::test_support
