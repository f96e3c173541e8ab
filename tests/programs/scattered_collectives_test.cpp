// Collectives, packing and files on buffers whose bytes lie in several allocations of different kinds
// (MPI_BOTTOM and absolute addresses): blocking, not blocking, persistent. A plain host computation says what
// has to be where.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "interpose/binding/mpi_level.hpp"
#include "tests/programs/scattered_collectives.hpp"

namespace penstock::programs {
namespace {

TEST_F(ScatteredCollectives, MPI_Bcast_brings_them_from_any_to_any_allocations) {
  std::size_t turn = 0;
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name());
    Scattered buffer(0, shape);
    const int root = static_cast<int>(turn % 2);
    for (int form = 0; form < 3; ++form) {
      const Bytes content = payload(shape.size(), turn++);
      buffer.fill(rank() == root ? content : Bytes());
      MPI_Request request = MPI_REQUEST_NULL;
      if (form == 0) {
        MPI_Bcast(MPI_BOTTOM, 1, buffer.type(), root, world);
      } else if (form == 1) {
        MPI_Ibcast(MPI_BOTTOM, 1, buffer.type(), root, world, &request);
        complete(request);
      } else {
#if PENSTOCK_HAS_MPI_4
        MPI_Bcast_init(MPI_BOTTOM, 1, buffer.type(), root, world, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        complete(request);
        MPI_Request_free(&request);
#else
        continue;
#endif
      }
      EXPECT_TRUE(buffer.holds(content)) << "form " << form;
    }
  }
}

TEST_F(ScatteredCollectives, MPI_Bcast_goes_between_them_and_one_block) {
  for (const Shape& shape : shapes()) {
    for (int root = 0; root < ranks; ++root) {
      const Shape own = rank() == 0 ? shape : Shape{{{MemoryKind::device}}, {static_cast<int>(shape.size())}};
      Scattered buffer(0, own);
      if (rank() == root) buffer.fill(part_of(shape, 1));
      MPI_Bcast(MPI_BOTTOM, 1, buffer.type(), root, world);
      EXPECT_TRUE(buffer.holds(part_of(shape, 1))) << shape.name();
    }
  }
}

TEST_F(ScatteredCollectives, MPI_Allgather_collects_elements_that_alternate_between_allocations) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name());
    Scattered sent(0, shape);
    sent.fill(part_of(shape, rank()));
    for (const bool waits : {true, false}) {
      const Scattered received(1, for_each_rank(shape));
      MPI_Request request = MPI_REQUEST_NULL;
      if (waits) {
        MPI_Allgather(MPI_BOTTOM, 1, sent.type(), MPI_BOTTOM, 1, received.type(), world);
      } else {
        MPI_Iallgather(MPI_BOTTOM, 1, sent.type(), MPI_BOTTOM, 1, received.type(), world, &request);
        complete(request);
      }
      EXPECT_TRUE(received.holds(part_of(shape, 0) + part_of(shape, 1)));
    }
  }
}

TEST_F(ScatteredCollectives, MPI_Alltoall_and_MPI_Gather_and_MPI_Scatter_find_their_elements) {
  for (const Shape& shape : shapes({{32, 32}, {3000, 3000}})) {
    SCOPED_TRACE(shape.name());
    Scattered sent(0, for_each_rank(shape));
    sent.fill(part_of(shape, rank(), 0) + part_of(shape, rank(), 1));
    for (const bool waits : {true, false}) {
      const Scattered received(1, for_each_rank(shape));
      MPI_Request request = MPI_REQUEST_NULL;
      if (waits) {
        MPI_Alltoall(MPI_BOTTOM, 1, sent.type(), MPI_BOTTOM, 1, received.type(), world);
      } else {
        MPI_Ialltoall(MPI_BOTTOM, 1, sent.type(), MPI_BOTTOM, 1, received.type(), world, &request);
        complete(request);
      }
      EXPECT_TRUE(received.holds(part_of(shape, 0, rank()) + part_of(shape, 1, rank())));
    }
#ifdef OPEN_MPI
    // The library gets host memory as it is, and fails where its allocations lie far apart.
    if (!is_on_device(shape)) continue;
#endif
    const Scattered gathered(1, for_each_rank(shape));
    MPI_Gather(MPI_BOTTOM, 1, sent.type(), MPI_BOTTOM, 1, gathered.type(), 1, world);
    EXPECT_TRUE(rank() == 0 || gathered.holds(part_of(shape, 0, 0) + part_of(shape, 1, 0)));
    const Scattered scattered(2, shape);
    MPI_Scatter(MPI_BOTTOM, 1, sent.type(), MPI_BOTTOM, 1, scattered.type(), 1, world);
    EXPECT_TRUE(scattered.holds(part_of(shape, 1, rank())));
  }
}

/// Each block with its own absolute datatype.
struct Alltoallw {
  explicit Alltoallw(const Shape& of_blocks) : shape(of_blocks) {
    for (int peer = 0; peer < ranks; ++peer) {
      to[static_cast<std::size_t>(peer)].fill(part_of(shape, rank(), peer));
      send_types[static_cast<std::size_t>(peer)] = to[static_cast<std::size_t>(peer)].type();
      receive_types[static_cast<std::size_t>(peer)] = from[static_cast<std::size_t>(peer)].type();
    }
  }
  [[nodiscard]] bool is_done(int peer) {
    Scattered& received = from[static_cast<std::size_t>(peer)];
    const bool is_right = received.holds(part_of(shape, peer, rank()));
    received.fill({});
    return is_right;
  }

  const Shape shape;
  std::array<Scattered, ranks> to{Scattered(0, shape), Scattered(1, shape)};
  std::array<Scattered, ranks> from{Scattered(2, shape), Scattered(3, shape)};
  const std::array<int, ranks> counts{1, 1};
  const std::array<int, ranks> displacements{0, 0};
  const std::array<MPI_Aint, ranks> places{0, 0};
  std::array<MPI_Datatype, ranks> send_types{};
  std::array<MPI_Datatype, ranks> receive_types{};
};

TEST_F(ScatteredCollectives, MPI_Alltoallw_takes_an_absolute_type_for_each_rank) {
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name());
    Alltoallw all(shape);
    MPI_Alltoallw(MPI_BOTTOM, all.counts.data(), all.displacements.data(), all.send_types.data(), MPI_BOTTOM,
                  all.counts.data(), all.displacements.data(), all.receive_types.data(), world);
    for (int peer = 0; peer < ranks; ++peer) EXPECT_TRUE(all.is_done(peer)) << "from " << peer;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ialltoallw(MPI_BOTTOM, all.counts.data(), all.displacements.data(), all.send_types.data(), MPI_BOTTOM,
                   all.counts.data(), all.displacements.data(), all.receive_types.data(), world, &request);
    complete(request);
    for (int peer = 0; peer < ranks; ++peer) EXPECT_TRUE(all.is_done(peer)) << "later, from " << peer;
  }
}

TEST_F(ScatteredCollectives, MPI_Neighbor_alltoallw_takes_an_absolute_type_for_each_neighbour) {
  const int other = 1 - rank();
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(world, 1, &other, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                 0, &graph);
  const auto at = static_cast<std::size_t>(other);
  for (const Shape& shape : shapes()) {
    SCOPED_TRACE(shape.name());
    Alltoallw all(shape);
    MPI_Neighbor_alltoallw(MPI_BOTTOM, all.counts.data(), all.places.data(), &all.send_types[at], MPI_BOTTOM,
                           all.counts.data(), all.places.data(), &all.receive_types[at], graph);
    EXPECT_TRUE(all.is_done(other));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ineighbor_alltoallw(MPI_BOTTOM, all.counts.data(), all.places.data(), &all.send_types[at], MPI_BOTTOM,
                            all.counts.data(), all.places.data(), &all.receive_types[at], graph, &request);
    complete(request);
    EXPECT_TRUE(all.is_done(other)) << "later";
  }
  MPI_Comm_free(&graph);
}

TEST_F(ScatteredCollectives, MPI_Pack_and_MPI_Unpack_copy_them) {
  for (const Shape& shape : shapes()) {
    if (!is_on_device(shape)) continue;  // MPICH's refuse MPI_BOTTOM
    SCOPED_TRACE(shape.name());
    Scattered from(0, shape);
    const Scattered to(1, shape);
    from.fill(part_of(shape, 0));
    for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::device}) {
      const Buffer packed(kind, shape.size());
      int position = 0;
      MPI_Pack(MPI_BOTTOM, 1, from.type(), packed.data(), packed.count(), &position, world);
      EXPECT_EQ(position, packed.count());
      EXPECT_EQ(packed.read(), part_of(shape, 0));
      position = 0;
      MPI_Unpack(packed.data(), packed.count(), &position, MPI_BOTTOM, 1, to.type(), world);
      EXPECT_TRUE(to.holds(part_of(shape, 0)));
      EXPECT_TRUE(packed.guard_is_intact());
    }
  }
}

TEST_F(ScatteredCollectives, files_are_written_from_and_read_into_them) {
  const std::string name = "scattered_collectives." + std::to_string(rank());
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  for (const Shape& shape : shapes({{300, 5}, {20'000, 20'000}})) {
    if (!is_on_device(shape)) continue;
    Scattered from(0, shape);
    const Scattered to(1, shape);
    from.fill(part_of(shape, rank()));
    MPI_File_write_at(file, 0, MPI_BOTTOM, 1, from.type(), MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 0, MPI_BOTTOM, 1, to.type(), MPI_STATUS_IGNORE);
    EXPECT_TRUE(to.holds(part_of(shape, rank()))) << shape.name();
  }
  MPI_File_close(&file);
}

}  // namespace
}  // namespace penstock::programs
