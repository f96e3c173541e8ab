// Neighbourhood collectives against the same on host buffers. On a grid that is not periodic some neighbours
// are MPI_PROC_NULL, and their blocks must stay as they were. Run on three ranks or more.
#include <array>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
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
    MPI_Cart_create(MPI_COMM_WORLD, 1, extents.data(), periods.data(), 0, &line);
  }
  ~Neighbours() override {
    MPI_Comm_free(&line);
    MPI_Comm_free(&grid);
  }

  template <typename Body>
  void for_all_spellings(Body body) {
    const ElementTypes types;
    for (const ElementType& type : types.all()) {
      for (const Form form : all_forms) {
        // few bytes are staged, many go as messages
        for (const int elements : {20, 2000}) {
          count = elements;
          SCOPED_TRACE(testing::Message() << type.name << " x " << count << ", " << name_of(form));
          body(SmallCounts(), form, type);
#if PENSTOCK_HAS_LARGE_COUNTS
          body(LargeCounts(), form, type);
#endif
          if (any_rank_failed()) return;
        }
      }
    }
  }

  void expect_gaps_left_alone(MPI_Comm communicator, int around) {
    for_all_spellings([&](auto counts, Form form, const ElementType& type) {
      using Mpi = decltype(counts);
      const std::vector<typename Mpi::Count> lengths(static_cast<std::size_t>(around), count);
      std::vector<typename Mpi::Displacement> places;
      std::vector<MPI_Aint> byte_places;
      for (int neighbour = 0; neighbour < around; ++neighbour) {
        places.push_back(neighbour * (count + 3) + 1);
        byte_places.push_back(places.back() * static_cast<MPI_Aint>(type.extent_bytes()));
      }
      const std::vector<MPI_Datatype> types(static_cast<std::size_t>(around), type.handle);
      const Extent all = type.extent(around * (count + 3) + 1);
      expect_same_as_on_host(type.extent(count), all, [&](const void* from, void* to) {
        return PENSTOCK_CALL(Neighbor_allgatherv, from, count, type.handle, to, lengths.data(), places.data(),
                             type.handle, communicator);
      });
      expect_same_as_on_host(all, all, [&](const void* from, void* to) {
        return PENSTOCK_CALL(Neighbor_alltoallv, from, lengths.data(), places.data(), type.handle, to,
                             lengths.data(), places.data(), type.handle, communicator);
      });
      expect_same_as_on_host(all, all, [&](const void* from, void* to) {
        return PENSTOCK_CALL(Neighbor_alltoallw, from, lengths.data(), byte_places.data(), types.data(), to,
                             lengths.data(), byte_places.data(), types.data(), communicator);
      });
    });
  }

  MPI_Comm grid = MPI_COMM_NULL;  ///< each rank is its own neighbour, too
  MPI_Comm line = MPI_COMM_NULL;
  static constexpr int neighbours = 4;
  int count = 20;
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
  expect_gaps_left_alone(grid, neighbours);
}

TEST_F(Neighbours, Neighbor_forms_with_places_leave_the_gaps_alone_on_a_line) {
  expect_gaps_left_alone(line, 2);
}

/// Its lower neighbour is the upper one, too: what goes down comes from above.
TEST_F(Neighbours, Neighbor_calls_tell_both_sides_of_a_ring_of_two_apart) {
  const World world;
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world.rank / 2, world.rank, &pair);
  int size = 0;
  MPI_Comm_size(pair, &size);
  const int periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(pair, 1, &size, &periodic, 0, &ring);
  for_all_spellings([&](auto counts, Form form, const ElementType& type) {
    using Mpi = decltype(counts);
    expect_same_as_on_host(type.extent(2 * count), type.extent(2 * count), [&](const void* from, void* to) {
      return PENSTOCK_CALL(Neighbor_alltoall, from, count, type.handle, to, count, type.handle, ring);
    });
    expect_same_as_on_host(type.extent(count), type.extent(2 * count), [&](const void* from, void* to) {
      return PENSTOCK_CALL(Neighbor_allgather, from, count, type.handle, to, count, type.handle, ring);
    });
  });
  MPI_Comm_free(&ring);
  MPI_Comm_free(&pair);
}

/// Neighbours that stand there several times, and the rank itself.
TEST_F(Neighbours, on_a_graph_without_edges_collectives_of_device_buffers_are_not_staged) {
  const World world;
  const std::vector<int> no_ends(static_cast<std::size_t>(world.size));
  const int no_edge = 0;
  MPI_Comm graph = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Graph_create(MPI_COMM_WORLD, world.size, no_ends.data(), &no_edge, 0, &graph), MPI_SUCCESS);
  constexpr std::size_t count = 50'000;
  Memory own(MemoryKind::device, count * sizeof(int), world.rank % gpu_count());
  const Memory sum(MemoryKind::device, count * sizeof(int), world.rank % gpu_count());
  const std::vector<int> ones(count, 1);
  own.write(0, ones.data(), count * sizeof(int));
  testing::internal::CaptureStderr();
  MPI_Allreduce(own.data(), sum.data(), static_cast<int>(count), MPI_INT, MPI_SUM, graph);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "a line would say so";
  std::vector<int> found(count);
  sum.read(0, found.data(), count * sizeof(int));
  EXPECT_EQ(found, std::vector<int>(count, world.size));
  MPI_Comm_free(&graph);
}

TEST_F(Neighbours, Neighbor_calls_do_on_any_graph_what_they_do_on_host_buffers) {
  const World world;
  const int next = (world.rank + 1) % world.size;
  const int previous = (world.rank + world.size - 1) % world.size;
  const std::array sources = {previous, world.rank, previous};
  const std::array destinations = {next, world.rank, next};
  for (const int edges : {1, 2, 3}) {
    MPI_Comm graph = MPI_COMM_NULL;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, edges, sources.data(), MPI_UNWEIGHTED, edges,
                                   destinations.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    for_all_spellings([&](auto counts, Form form, const ElementType& type) {
      using Mpi = decltype(counts);
      expect_same_as_on_host(
          type.extent(edges * count), type.extent(edges * count), [&](const void* from, void* to) {
            return PENSTOCK_CALL(Neighbor_alltoall, from, count, type.handle, to, count, type.handle, graph);
          });
    });
    MPI_Comm_free(&graph);
  }
}

/// Ranks that have all others as neighbours, but the last one, which has none.
TEST_F(Neighbours, Neighbor_alltoall_works_on_graphs_with_a_rank_of_no_neighbours) {
  const World world;
  std::vector<int> index;
  std::vector<int> edges;
  for (int rank = 0; rank < world.size; ++rank) {
    for (int other = 0; other + 1 < world.size; ++other) {
      if (rank + 1 < world.size && other != rank) edges.push_back(other);
    }
    index.push_back(static_cast<int>(edges.size()));
  }
  const int own = world.rank + 1 < world.size ? world.size - 2 : 0;
  const int* const own_edges = edges.data() + index[static_cast<std::size_t>(world.rank)] - own;
  std::array<MPI_Comm, 2> graphs{};
  MPI_Graph_create(MPI_COMM_WORLD, world.size, index.data(), edges.data(), 0, &graphs[0]);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, own, own_edges, MPI_UNWEIGHTED, own, own_edges,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graphs[1]);
  for (MPI_Comm& graph : graphs) {
    for_all_spellings([&](auto counts, Form form, const ElementType& type) {
      using Mpi = decltype(counts);
      expect_same_as_on_host(
          type.extent(own * count), type.extent(own * count), [&](const void* from, void* to) {
            return PENSTOCK_CALL(Neighbor_alltoall, from, count, type.handle, to, count, type.handle, graph);
          });
    });
    MPI_Comm_free(&graph);
  }
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
