// Collectives of blocks at displacements, in place, among neighbours and persistent, on buffers whose bytes
// lie in several allocations. A plain host computation says what has to be where.
#include <array>

#include "interpose/binding/mpi_level.hpp"
#include "tests/programs/scattered_collectives.hpp"

namespace penstock::programs {
namespace {

/// So many elements of it.
Shape times(Shape shape, int elements) {
  shape.elements = elements;
  return shape;
}

/// A block of one element and one of two, which lie the other way round.
struct Unequal {
  explicit Unequal(int larger)
      : counts{larger == 0 ? 2 : 1, larger == 1 ? 2 : 1}, places{larger == 0 ? 0 : 2, larger == 1 ? 0 : 2} {}
  [[nodiscard]] Bytes in_order(const Bytes& of_first, const Bytes& of_second) const {
    return places[0] == 0 ? of_first + of_second : of_second + of_first;
  }
  std::array<int, ranks> counts;
  std::array<int, ranks> places;
};

TEST_F(ScatteredCollectives, the_forms_with_displacements_find_their_elements) {
  const Unequal parts(1);
  const Unequal exchanged(1 - rank());  // what one sends the other is what it gets from there
  const auto part = [](const Shape& shape, int from, int to, int elements) {
    return part_of(times(shape, elements), from, to);
  };
  for (const Shape& shape : shapes({{32, 32}, {3000, 3000}, {300, 5}})) {
    SCOPED_TRACE(shape.name());
    const int own_count = parts.counts[static_cast<std::size_t>(rank())];
    Scattered own(0, times(shape, own_count));
    own.fill(part(shape, rank(), 0, own_count));
    Scattered sent(1, times(shape, 3));
    for (const bool waits : {true, false}) {
      const Bytes gathered = parts.in_order(part(shape, 0, 0, 1), part(shape, 1, 0, 2));
      const auto check = [&](MPI_Request request, const Scattered& there, const Bytes& content,
                             const char* what) {
        if (!waits) complete(request);
        EXPECT_TRUE(there.holds(content)) << what;
      };
      const Scattered all(2, times(shape, 3));
      MPI_Request request = MPI_REQUEST_NULL;
      const auto call = [&](auto blocking, auto nonblocking, auto... arguments) {
        waits ? blocking(arguments...) : nonblocking(arguments..., &request);
      };
      call(MPI_Gatherv, MPI_Igatherv, MPI_BOTTOM, own_count, own.type(), MPI_BOTTOM, parts.counts.data(),
           parts.places.data(), all.type(), 1, world);
      check(request, all, rank() == 1 ? gathered : Bytes(), "Gatherv");
      call(MPI_Allgatherv, MPI_Iallgatherv, MPI_BOTTOM, own_count, own.type(), MPI_BOTTOM,
           parts.counts.data(), parts.places.data(), all.type(), world);
      check(request, all, gathered, "Allgatherv");

      sent.fill(gathered);
      const Scattered scattered(3, times(shape, own_count));
      call(MPI_Scatterv, MPI_Iscatterv, MPI_BOTTOM, parts.counts.data(), parts.places.data(), sent.type(),
           MPI_BOTTOM, own_count, scattered.type(), 0, world);
      check(request, scattered, part(shape, rank(), 0, own_count), "Scatterv");

      const auto exchanged_part = [&](int from, int to) { return part(shape, from, to, from == to ? 1 : 2); };
      sent.fill(exchanged.in_order(exchanged_part(rank(), 0), exchanged_part(rank(), 1)));
      call(MPI_Alltoallv, MPI_Ialltoallv, MPI_BOTTOM, exchanged.counts.data(), exchanged.places.data(),
           sent.type(), MPI_BOTTOM, exchanged.counts.data(), exchanged.places.data(), all.type(), world);
      check(request, all, exchanged.in_order(exchanged_part(0, rank()), exchanged_part(1, rank())),
            "Alltoallv");
    }
  }
}

TEST_F(ScatteredCollectives, in_place_they_replace_what_is_sent) {
  for (const Shape& shape : shapes({{32, 32}, {3000, 3000}})) {
    SCOPED_TRACE(shape.name());
    Scattered both(0, for_each_rank(shape));
    const Bytes gathered = part_of(shape, 0) + part_of(shape, 1);
    const Bytes nothing(shape.size());
    both.fill(rank() == 0 ? part_of(shape, 0) + nothing : nothing + part_of(shape, 1));
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, MPI_BOTTOM, 1, both.type(), world);
    EXPECT_TRUE(both.holds(gathered)) << "Allgather";
    both.fill(part_of(shape, rank(), 0) + part_of(shape, rank(), 1));
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, MPI_BOTTOM, 1, both.type(), world);
    EXPECT_TRUE(both.holds(part_of(shape, 0, rank()) + part_of(shape, 1, rank()))) << "Alltoall";
    Scattered own(1, shape);
    own.fill(part_of(shape, 1));
    both.fill(part_of(shape, 0) + nothing);
    if (rank() == 0) {
      MPI_Gather(MPI_IN_PLACE, 0, MPI_BYTE, MPI_BOTTOM, 1, both.type(), 0, world);
      EXPECT_TRUE(both.holds(gathered)) << "Gather";
    } else {
      MPI_Gather(MPI_BOTTOM, 1, own.type(), nullptr, 0, MPI_BYTE, 0, world);
    }
  }
}

TEST_F(ScatteredCollectives, neighbours_and_persistent_requests_find_their_elements) {
  const std::array<int, ranks> all{0, 1};
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(world, ranks, all.data(), MPI_UNWEIGHTED, ranks, all.data(), MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &graph);
  for (const Shape& shape : shapes({{32, 32}, {3000, 3000}})) {
    SCOPED_TRACE(shape.name());
    Scattered sent(0, for_each_rank(shape));
    Scattered received(1, for_each_rank(shape));
    sent.fill(part_of(shape, rank(), 0) + part_of(shape, rank(), 1));
    MPI_Neighbor_alltoall(MPI_BOTTOM, 1, sent.type(), MPI_BOTTOM, 1, received.type(), graph);
    EXPECT_TRUE(received.holds(part_of(shape, 0, rank()) + part_of(shape, 1, rank())));
    MPI_Neighbor_allgather(MPI_BOTTOM, 1, sent.type(), MPI_BOTTOM, 1, received.type(), graph);
    EXPECT_TRUE(received.holds(part_of(shape, 0, 0) + part_of(shape, 1, 0)));
#if PENSTOCK_HAS_MPI_4
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Alltoall_init(MPI_BOTTOM, 1, sent.type(), MPI_BOTTOM, 1, received.type(), world, MPI_INFO_NULL,
                      &request);
    for (const int start : {2, 4}) {
      received.fill({});
      sent.fill(part_of(shape, rank() + start, 0) + part_of(shape, rank() + start, 1));
      MPI_Start(&request);
      complete(request);
      EXPECT_TRUE(received.holds(part_of(shape, start, rank()) + part_of(shape, 1 + start, rank())));
    }
    MPI_Request_free(&request);
#endif
  }
  MPI_Comm_free(&graph);
}

}  // namespace
}  // namespace penstock::programs
