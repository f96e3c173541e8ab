// Every collective of an intracommunicator, in every spelling, on buffers of every kind, against itself on
// host buffers. Run on three ranks or more.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/interpose/collectives/comparison.hpp"
#include "tests/interpose/collectives/element_types.hpp"
#include "tests/interpose/collectives/spellings.hpp"
#include "tests/support/watchdog.hpp"

namespace penstock::test_support {
namespace {

/// A test body: a template over the counts' size, given a form, element type and number of elements.
template <template <typename> typename Body>
void for_all_spellings(std::span<const ElementType> types) {
  for (const ElementType& type : types) {
    for (const int count : {0, 7, 3000}) {
      for (const Form form : all_forms) {
        SCOPED_TRACE(std::string(type.name) + " x " + std::to_string(count) + ", " + name_of(form));
        Body<SmallCounts>::run(World(), form, type, count);
#if PENSTOCK_HAS_LARGE_COUNTS
        {
          SCOPED_TRACE("large counts");
          Body<LargeCounts>::run(World(), form, type, count);
        }
#endif
        if (any_rank_failed()) return;
      }
    }
  }
}

/// Counts that differ from rank to rank, one of them zero, and places in another order with gaps between.
template <typename Mpi>
struct UnevenBlocks {
  UnevenBlocks(int ranks, int count) {
    typename Mpi::Displacement next = 1;
    counts.resize(static_cast<std::size_t>(ranks));
    displacements.resize(counts.size());
    for (std::size_t block = counts.size(); block-- > 0;) {
      counts[block] = block == 1 ? 0 : static_cast<int>(block) + count;
      displacements[block] = next;
      next += static_cast<typename Mpi::Displacement>(counts[block]) + 2;
    }
    elements = static_cast<int>(next);
  }
  std::vector<typename Mpi::Count> counts;
  std::vector<typename Mpi::Displacement> displacements;
  int elements = 0;  ///< that the buffer must hold
};

#define PENSTOCK_COLLECTIVE_TEST(name, types)                                           \
  template <typename Mpi>                                                               \
  struct name {                                                                         \
    static void run(const World& world, Form form, const ElementType& type, int count); \
  };                                                                                    \
  TEST(Collectives, name##_delivers_what_it_does_on_host_buffers) {                     \
    const ElementTypes element_types;                                                   \
    for_all_spellings<name>(element_types.types());                                     \
  }                                                                                     \
  template <typename Mpi>                                                               \
  void name<Mpi>::run(const World& world, Form form, const ElementType& type, int count)

PENSTOCK_COLLECTIVE_TEST(Bcast, all) {
  const int root = world.size - 1;
  expect_same_as_on_host(type.extent(0), type.extent(count), [&](const void*, void* receive) {
    return PENSTOCK_CALL(Bcast, receive, count, type.handle, root, world.communicator);
  });
}

PENSTOCK_COLLECTIVE_TEST(Gather, all) {
  const int root = 1;
  expect_same_as_on_host(
      type.extent(count), type.extent(count * world.size), [&](const void* send, void* receive) {
        // what matters at the root only may be anything elsewhere
        const bool is_root = world.rank == root;
        return PENSTOCK_CALL(Gather, send, count, type.handle, is_root ? receive : nullptr,
                             is_root ? count : -1, is_root ? type.handle : MPI_DATATYPE_NULL, root,
                             world.communicator);
      });
  expect_same_as_on_host(
      type.extent(count), type.extent(count * world.size), [&](const void* send, void* receive) {
        return PENSTOCK_CALL(Gather, world.rank == root ? MPI_IN_PLACE : send, count, type.handle, receive,
                             count, type.handle, root, world.communicator);
      });
}

PENSTOCK_COLLECTIVE_TEST(Gatherv, all) {
  const int root = 0;
  const UnevenBlocks<Mpi> blocks(world.size, count);
  const auto own = blocks.counts[static_cast<std::size_t>(world.rank)];
  for (const bool in_place : {false, true}) {
    SCOPED_TRACE(in_place ? "in place" : "");
    expect_same_as_on_host(type.extent(static_cast<int>(own)), type.extent(blocks.elements),
                           [&](const void* send, void* receive) {
                             const bool is_root = world.rank == root;
                             return PENSTOCK_CALL(Gatherv, is_root && in_place ? MPI_IN_PLACE : send, own,
                                                  type.handle, receive,
                                                  is_root ? blocks.counts.data() : nullptr,
                                                  is_root ? blocks.displacements.data() : nullptr,
                                                  type.handle, root, world.communicator);
                           });
  }
}

PENSTOCK_COLLECTIVE_TEST(Scatter, all) {
  const int root = 1;
  for (const bool in_place : {false, true}) {
    SCOPED_TRACE(in_place ? "in place" : "");
    expect_same_as_on_host(type.extent(count * world.size), type.extent(count),
                           [&](const void* send, void* receive) {
                             return PENSTOCK_CALL(Scatter, send, count, type.handle,
                                                  world.rank == root && in_place ? MPI_IN_PLACE : receive,
                                                  count, type.handle, root, world.communicator);
                           });
  }
}

PENSTOCK_COLLECTIVE_TEST(Scatterv, all) {
  const int root = world.size - 1;
  const UnevenBlocks<Mpi> blocks(world.size, count);
  const auto own = blocks.counts[static_cast<std::size_t>(world.rank)];
  for (const bool in_place : {false, true}) {
    SCOPED_TRACE(in_place ? "in place" : "");
    expect_same_as_on_host(type.extent(blocks.elements), type.extent(static_cast<int>(own)),
                           [&](const void* send, void* receive) {
                             const bool is_root = world.rank == root;
                             return PENSTOCK_CALL(Scatterv, send, is_root ? blocks.counts.data() : nullptr,
                                                  is_root ? blocks.displacements.data() : nullptr,
                                                  type.handle, is_root && in_place ? MPI_IN_PLACE : receive,
                                                  own, type.handle, root, world.communicator);
                           });
  }
}

PENSTOCK_COLLECTIVE_TEST(Allgather, all) {
  for (const bool in_place : {false, true}) {
    SCOPED_TRACE(in_place ? "in place" : "");
    expect_same_as_on_host(
        type.extent(count), type.extent(count * world.size), [&](const void* send, void* receive) {
          return PENSTOCK_CALL(Allgather, in_place ? MPI_IN_PLACE : send, count, type.handle, receive, count,
                               type.handle, world.communicator);
        });
  }
}

PENSTOCK_COLLECTIVE_TEST(Allgatherv, all) {
  const UnevenBlocks<Mpi> blocks(world.size, count);
  const auto own = blocks.counts[static_cast<std::size_t>(world.rank)];
  for (const bool in_place : {false, true}) {
    SCOPED_TRACE(in_place ? "in place" : "");
    expect_same_as_on_host(type.extent(static_cast<int>(own)), type.extent(blocks.elements),
                           [&](const void* send, void* receive) {
                             return PENSTOCK_CALL(Allgatherv, in_place ? MPI_IN_PLACE : send, own,
                                                  type.handle, receive, blocks.counts.data(),
                                                  blocks.displacements.data(), type.handle,
                                                  world.communicator);
                           });
  }
}

PENSTOCK_COLLECTIVE_TEST(Alltoall, all) {
  for (const bool in_place : {false, true}) {
    SCOPED_TRACE(in_place ? "in place" : "");
    expect_same_as_on_host(type.extent(count * world.size), type.extent(count * world.size),
                           [&](const void* send, void* receive) {
                             return PENSTOCK_CALL(Alltoall, in_place ? MPI_IN_PLACE : send, count,
                                                  type.handle, receive, count, type.handle,
                                                  world.communicator);
                           });
  }
}

/// What rank r sends to s must be as much as s expects of r: `count` + r + s, but nothing between equals.
template <typename Mpi>
struct PairwiseBlocks {
  PairwiseBlocks(const World& world, int count, std::ptrdiff_t unit) {
    typename Mpi::Displacement next = 0;
    for (int peer = 0; peer < world.size; ++peer) {
      counts.push_back(peer == world.rank ? 0 : count + world.rank + peer);
      displacements.push_back(next * static_cast<typename Mpi::Displacement>(unit));
      next += static_cast<typename Mpi::Displacement>(counts.back()) + 1;
    }
    elements = static_cast<int>(next);
  }
  std::vector<typename Mpi::Count> counts;
  std::vector<typename Mpi::Displacement> displacements;
  int elements = 0;
};

PENSTOCK_COLLECTIVE_TEST(Alltoallv, all) {
  const PairwiseBlocks<Mpi> blocks(world, count, 1);
  for (const bool in_place : {false, true}) {
    SCOPED_TRACE(in_place ? "in place" : "");
    expect_same_as_on_host(
        type.extent(blocks.elements), type.extent(blocks.elements), [&](const void* send, void* receive) {
          return PENSTOCK_CALL(Alltoallv, in_place ? MPI_IN_PLACE : send, blocks.counts.data(),
                               blocks.displacements.data(), type.handle, receive, blocks.counts.data(),
                               blocks.displacements.data(), type.handle, world.communicator);
        });
  }
}

PENSTOCK_COLLECTIVE_TEST(Alltoallw, all) {
  const PairwiseBlocks<Mpi> blocks(world, count, type.extent_bytes());
  const std::vector<MPI_Datatype> types(static_cast<std::size_t>(world.size), type.handle);
  for (const bool in_place : {false, true}) {
    SCOPED_TRACE(in_place ? "in place" : "");
    expect_same_as_on_host(
        type.extent(blocks.elements), type.extent(blocks.elements), [&](const void* send, void* receive) {
          return PENSTOCK_CALL(Alltoallw, in_place ? MPI_IN_PLACE : send, blocks.counts.data(),
                               blocks.displacements.data(), types.data(), receive, blocks.counts.data(),
                               blocks.displacements.data(), types.data(), world.communicator);
        });
  }
}

PENSTOCK_COLLECTIVE_TEST(Reduce, plain) {
  for (const bool in_place : {false, true}) {
    SCOPED_TRACE(in_place ? "in place" : "");
    // MPICH 4.0.2 itself crashes with a large vector in place at another root
    const int root = in_place ? 0 : world.size - 1;
    expect_same_as_on_host(type.extent(count), type.extent(count), [&](const void* send, void* receive) {
      return PENSTOCK_CALL(Reduce, world.rank == root && in_place ? MPI_IN_PLACE : send, receive, count,
                           type.handle, type.operation, root, world.communicator);
    });
  }
}

PENSTOCK_COLLECTIVE_TEST(Allreduce, plain) {
  for (const bool in_place : {false, true}) {
    SCOPED_TRACE(in_place ? "in place" : "");
    expect_same_as_on_host(type.extent(count), type.extent(count), [&](const void* send, void* receive) {
      return PENSTOCK_CALL(Allreduce, in_place ? MPI_IN_PLACE : send, receive, count, type.handle,
                           type.operation, world.communicator);
    });
  }
}

PENSTOCK_COLLECTIVE_TEST(Scan, plain) {
  for (const bool in_place : {false, true}) {
    SCOPED_TRACE(in_place ? "in place" : "");
    expect_same_as_on_host(type.extent(count), type.extent(count), [&](const void* send, void* receive) {
      return PENSTOCK_CALL(Scan, in_place ? MPI_IN_PLACE : send, receive, count, type.handle, type.operation,
                           world.communicator);
    });
  }
}

PENSTOCK_COLLECTIVE_TEST(Exscan, plain) {
  for (const bool in_place : {false, true}) {
    SCOPED_TRACE(in_place ? "in place" : "");
    expect_same_as_on_host(type.extent(count), type.extent(count), [&](const void* send, void* receive) {
      return PENSTOCK_CALL(Exscan, in_place ? MPI_IN_PLACE : send, receive, count, type.handle,
                           type.operation, world.communicator);
    });
  }
}

PENSTOCK_COLLECTIVE_TEST(Reduce_scatter, plain) {
  std::vector<typename Mpi::Count> counts;
  int total = 0;
  for (int rank = 0; rank < world.size; ++rank) {
    counts.push_back(rank == 1 ? 0 : count + rank);
    total += static_cast<int>(counts.back());
  }
  const int own = static_cast<int>(counts[static_cast<std::size_t>(world.rank)]);
  expect_same_as_on_host(type.extent(total), type.extent(own), [&](const void* send, void* receive) {
    return PENSTOCK_CALL(Reduce_scatter, send, receive, counts.data(), type.handle, type.operation,
                         world.communicator);
  });
}

PENSTOCK_COLLECTIVE_TEST(Reduce_scatter_block, plain) {
  expect_same_as_on_host(type.extent(count * world.size), type.extent(count),
                         [&](const void* send, void* receive) {
                           return PENSTOCK_CALL(Reduce_scatter_block, send, receive, count, type.handle,
                                                type.operation, world.communicator);
                         });
}

/// In place, only the first block of the receive buffer is defined afterwards.
TEST(Collectives, Reduce_scatter_in_place_leaves_its_result_in_front) {
  const World world;
  const std::vector<int> counts(static_cast<std::size_t>(world.size), 5);
  const int total = 5 * world.size;
  std::vector<int> numbers(static_cast<std::size_t>(total));
  for (int index = 0; index < total; ++index)
    numbers[static_cast<std::size_t>(index)] = index * (world.rank + 1);
  const auto expect_result = [&](Memory& memory) {
    std::vector<int> seen(5);
    memory.read(0, seen.data(), 5 * sizeof(int));
    for (int index = 0; index < 5; ++index) {
      const int ranks_sum = world.size * (world.size + 1) / 2;
      EXPECT_EQ(seen[static_cast<std::size_t>(index)], (5 * world.rank + index) * ranks_sum);
    }
  };
  const std::size_t bytes = numbers.size() * sizeof(int);
  Memory memory(MemoryKind::device, bytes);
  memory.write(0, numbers.data(), bytes);
  EXPECT_EQ(MPI_Reduce_scatter(MPI_IN_PLACE, memory.data(), counts.data(), MPI_INT, MPI_SUM, MPI_COMM_WORLD),
            MPI_SUCCESS);
  expect_result(memory);
  memory.write(0, numbers.data(), bytes);
  EXPECT_EQ(MPI_Reduce_scatter_block(MPI_IN_PLACE, memory.data(), 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
            MPI_SUCCESS);
  expect_result(memory);
}

/// Blocks of several pieces, of one piece with gaps, and of more than a piece with gaps.
TEST(Collectives, Alltoall_in_place_swaps_blocks_of_any_size) {
  const World world;
  MPI_Datatype every_other = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_other);
  MPI_Type_commit(&every_other);
  const auto ranks = static_cast<std::size_t>(world.size);
  for (const bool has_gaps : {false, true}) {
    for (const std::size_t most : {std::size_t{3'000}, std::size_t{5'300'001}}) {
      SCOPED_TRACE(testing::Message() << most << (has_gaps ? " with gaps" : ""));
      const std::size_t stride = has_gaps ? 2 : 1;
      std::vector<int> counts(ranks);
      std::vector<int> places(ranks);
      std::size_t all = 0;
      for (std::size_t peer = 0; peer < ranks; ++peer) {
        const std::size_t both = peer + static_cast<std::size_t>(world.rank);
        counts[peer] = static_cast<int>(most / (both % 3 + 1));  // the same for both of them
        places[peer] = static_cast<int>(all);
        all += static_cast<std::size_t>(counts[peer]);
      }
      const auto value = [](std::size_t source, std::size_t destination, std::size_t i) {
        return static_cast<int>((source * 31 + destination * 17 + i) % 1'000'003);
      };
      std::vector<int> numbers(all * stride, -1);
      std::vector<int> expected = numbers;
      const auto own = static_cast<std::size_t>(world.rank);
      for (std::size_t peer = 0; peer < ranks; ++peer) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(counts[peer]); ++i) {
          const std::size_t at = (static_cast<std::size_t>(places[peer]) + i) * stride;
          numbers[at] = value(own, peer, i);
          expected[at] = value(peer, own, i);
        }
      }
      const std::size_t bytes = numbers.size() * sizeof(int);
      Memory memory(MemoryKind::device, bytes, world.rank % gpu_count());
      memory.write(0, numbers.data(), bytes);
      EXPECT_EQ(MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, memory.data(), counts.data(),
                              places.data(), has_gaps ? every_other : MPI_INT, MPI_COMM_WORLD),
                MPI_SUCCESS);
      std::vector<int> seen(numbers.size());
      memory.read(0, seen.data(), bytes);
      EXPECT_TRUE(seen == expected);
    }
  }
  MPI_Type_free(&every_other);
}

TEST(Collectives, several_in_flight_complete_in_any_order) {
  const World world;
  constexpr int count = 4000;
  const auto elements = static_cast<std::size_t>(count * world.size);
  const auto run = [&](MemoryKind kind) {
    std::vector<Memory> memories;
    for (int index = 0; index < 8; ++index) {
      std::vector<int> numbers(elements);
      for (std::size_t at = 0; at < elements; ++at) {
        numbers[at] = static_cast<int>(at) * 7 + index * 1000003 + world.rank * 31;
      }
      memories.emplace_back(kind, elements * sizeof(int)).write(0, numbers.data(), elements * sizeof(int));
    }
    std::array<MPI_Request, 5> requests{};
    MPI_Ibcast(memories[0].data(), count, MPI_INT, 0, world.communicator, &requests[0]);
    MPI_Iallreduce(memories[1].data(), memories[2].data(), count, MPI_INT, MPI_SUM, world.communicator,
                   &requests[1]);
    MPI_Ialltoall(memories[3].data(), count, MPI_INT, memories[4].data(), count, MPI_INT, world.communicator,
                  &requests[2]);
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_INT, memories[5].data(), count, MPI_INT, world.communicator,
                   &requests[3]);
    MPI_Iscan(memories[6].data(), memories[7].data(), count, MPI_INT, MPI_MAX, world.communicator,
              &requests[4]);
    // each rank waits in another way
    if (world.rank == 0) {
      MPI_Waitall(5, requests.data(), MPI_STATUSES_IGNORE);
    } else if (world.rank == 1) {
      for (std::size_t index = requests.size(); index-- > 0;) MPI_Wait(&requests[index], MPI_STATUS_IGNORE);
    } else {
      for (int left = 5; left > 0; --left) {
        int index = 0;
        MPI_Waitany(5, requests.data(), &index, MPI_STATUS_IGNORE);
        EXPECT_NE(index, MPI_UNDEFINED);
      }
    }
    std::vector<std::vector<int>> results;
    for (const Memory& memory : memories) {
      results.emplace_back(elements);
      memory.read(0, results.back().data(), elements * sizeof(int));
    }
    return results;
  };
  EXPECT_EQ(run(MemoryKind::device), run(MemoryKind::pageable));
}

TEST(Collectives, finish_only_when_the_data_is_on_the_device) {
  const World world;
  Memory memory(MemoryKind::device, sizeof(int));
  const int mine = world.rank;
  memory.write(0, &mine, sizeof mine);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, memory.data(), 1, MPI_INT, MPI_SUM, world.communicator, &request);
  for (int done = 0; done == 0;) MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
  int seen = -1;
  memory.read(0, &seen, sizeof seen);
  EXPECT_EQ(seen, world.size * (world.size - 1) / 2);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

TEST(Collectives, of_zero_elements_take_null_pointers) {
  const World world;
  EXPECT_EQ(MPI_Bcast(nullptr, 0, MPI_INT, 0, world.communicator), MPI_SUCCESS);
  EXPECT_EQ(MPI_Allreduce(nullptr, nullptr, 0, MPI_INT, MPI_SUM, world.communicator), MPI_SUCCESS);
  EXPECT_EQ(MPI_Allgather(nullptr, 0, MPI_INT, nullptr, 0, MPI_INT, world.communicator), MPI_SUCCESS);
}

TEST(Collectives, take_absolute_addresses_on_the_device) {
  const World world;
  Memory memory(MemoryKind::device, 64 * sizeof(int));
  std::array<int, 64> numbers{};
  for (int index = 0; index < 64; ++index)
    numbers[static_cast<std::size_t>(index)] = world.rank == 0 ? index : -1;
  memory.write(0, numbers.data(), sizeof numbers);
  std::array<MPI_Aint, 2> addresses{};
  MPI_Get_address(memory.data() + 40, &addresses[0]);
  MPI_Get_address(memory.data() + 160, &addresses[1]);
  const std::array<int, 2> lengths = {3, 5};
  MPI_Datatype absolute = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(2, lengths.data(), addresses.data(), MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  EXPECT_EQ(MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, world.communicator), MPI_SUCCESS);
  memory.read(0, numbers.data(), sizeof numbers);
  for (int index = 0; index < 64; ++index) {
    const bool sent = (index >= 10 && index < 13) || (index >= 40 && index < 45);
    EXPECT_EQ(numbers[static_cast<std::size_t>(index)], sent || world.rank == 0 ? index : -1) << index;
  }
  MPI_Type_free(&absolute);
}

TEST(Collectives, return_the_librarys_error_and_leave_the_buffer_alone) {
  Memory memory(MemoryKind::device, sizeof(int));
  const int mine = 42;
  memory.write(0, &mine, sizeof mine);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Bcast(memory.data(), 1, MPI_INT, 1000, MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  EXPECT_EQ(error_class, MPI_ERR_ROOT);
  int seen = 0;
  memory.read(0, &seen, sizeof seen);
  EXPECT_EQ(seen, 42);
}

/// Rank 0 waits in a barrier for rank 1, which waits for rank 2, which waits for rank 0's payload.
TEST(Collectives, do_not_hold_up_messages_that_others_wait_for) {
  const World world;
  if (world.size < 3) GTEST_SKIP() << "needs three ranks";
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_split(world.communicator, world.rank < 2 ? 0 : MPI_UNDEFINED, world.rank, &pair);
  constexpr std::size_t bytes = 8 << 20;
  for (int round = 0; round < 5; ++round) {
    if (world.rank == 0) {
      Memory memory(MemoryKind::device, bytes);
      const std::vector<std::byte> sent(bytes, std::byte{17});
      memory.write(0, sent.data(), bytes);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(memory.data(), static_cast<int>(bytes), MPI_BYTE, 2, 0, world.communicator, &request);
      MPI_Barrier(pair);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (world.rank == 1) {
      int token = 0;
      MPI_Recv(&token, 1, MPI_INT, 2, 1, world.communicator, MPI_STATUS_IGNORE);
      EXPECT_EQ(token, round);
      MPI_Barrier(pair);
    } else if (world.rank == 2) {
      Memory memory(MemoryKind::device, bytes);
      MPI_Recv(memory.data(), static_cast<int>(bytes), MPI_BYTE, 0, 0, world.communicator, MPI_STATUS_IGNORE);
      std::vector<std::byte> seen(bytes);
      memory.read(0, seen.data(), bytes);
      EXPECT_EQ(std::count(seen.begin(), seen.end(), std::byte{17}), static_cast<std::ptrdiff_t>(bytes));
      MPI_Send(&round, 1, MPI_INT, 1, 1, world.communicator);
    }
  }
  if (pair != MPI_COMM_NULL) MPI_Comm_free(&pair);
}

}  // namespace
}  // namespace penstock::test_support
