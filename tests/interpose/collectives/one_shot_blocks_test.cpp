// Small blocks that one kernel on each rank exchanges: MPI_Allgather and MPI_Alltoall, in turns with what the
// library and messages do. They begin after a few on a communicator, so all comes again and again.
#include <cstddef>
#include <random>
#include <vector>

#include "tests/interpose/collectives/numbers.hpp"

namespace penstock::test_support {
namespace {

constexpr std::uint8_t guard = 0xa5;

/// The byte of a block from one rank to another; -1: to all.
std::uint8_t byte_of(int from, int to, int round, std::size_t index) {
  return static_cast<std::uint8_t>(static_cast<std::size_t>(from * 31 + to * 7 + round * 3) + index * 5);
}

/// Device memory with guards around, and blocks that begin `shift` bytes into it.
class Blocks {
 public:
  Blocks(std::size_t most_bytes, const World& world)
      : world_(world),
        memory_(MemoryKind::device, most_bytes * static_cast<std::size_t>(world.size) + 2 * margin,
                world.rank % gpu_count()) {}

  static constexpr std::size_t margin = 64;

  void clear(std::size_t shift) {
    content_.assign(memory_.size(), guard);
    shift_ = shift;
  }
  void put(int place, std::size_t bytes, int from, int to, int round) {
    for (std::size_t i = 0; i < bytes; ++i) content_[at(place, bytes) + i] = byte_of(from, to, round, i);
  }
  void write() { memory_.write(0, content_.data(), content_.size()); }
  [[nodiscard]] std::byte* begin() { return reinterpret_cast<std::byte*>(memory_.data()) + margin + shift_; }
  /// Nothing but what has been put is there.
  [[nodiscard]] bool is_as_put() const {
    std::vector<std::uint8_t> seen(memory_.size());
    memory_.read(0, seen.data(), seen.size());
    return seen == content_;
  }

 private:
  [[nodiscard]] std::size_t at(int place, std::size_t bytes) const {
    return margin + shift_ + static_cast<std::size_t>(place) * bytes;
  }
  const World& world_;
  Memory memory_;
  std::vector<std::uint8_t> content_;
  std::size_t shift_ = 0;
};

class OneShotBlocks : public testing::Test {
 protected:
  void expect_allgather(MPI_Comm communicator, int round, std::size_t bytes, std::size_t shift,
                        bool in_place) {
    sent_.clear(shift / 2);
    sent_.put(0, bytes, world_.rank, -1, round);
    sent_.write();
    received_.clear(shift);
    if (in_place) received_.put(world_.rank, bytes, world_.rank, -1, round);
    received_.write();
    const int count = static_cast<int>(bytes);
    ASSERT_EQ(MPI_Allgather(in_place ? MPI_IN_PLACE : sent_.begin(), count, MPI_BYTE, received_.begin(),
                            count, MPI_BYTE, communicator),
              MPI_SUCCESS);
    for (int rank = 0; rank < world_.size; ++rank) received_.put(rank, bytes, rank, -1, round);
    EXPECT_TRUE(received_.is_as_put()) << "Allgather " << round << " of " << bytes << " bytes";
    EXPECT_TRUE(sent_.is_as_put());
  }
  void expect_alltoall(MPI_Comm communicator, int round, std::size_t bytes, std::size_t shift) {
    sent_.clear(shift);
    for (int rank = 0; rank < world_.size; ++rank) sent_.put(rank, bytes, world_.rank, rank, round);
    sent_.write();
    received_.clear(shift / 2);
    received_.write();
    const int count = static_cast<int>(bytes);
    ASSERT_EQ(MPI_Alltoall(sent_.begin(), count, MPI_BYTE, received_.begin(), count, MPI_BYTE, communicator),
              MPI_SUCCESS);
    for (int rank = 0; rank < world_.size; ++rank) received_.put(rank, bytes, rank, world_.rank, round);
    EXPECT_TRUE(received_.is_as_put()) << "Alltoall " << round << " of " << bytes << " bytes";
  }

  static constexpr std::size_t most_bytes = 20'000;
  const World world_;
  Blocks sent_{most_bytes, world_};
  Blocks received_{most_bytes, world_};
};

TEST_F(OneShotBlocks, of_any_size_at_any_address_follow_each_other) {
  std::minstd_rand random(11);  // the same on all ranks
  const auto below = [&](std::size_t end) { return random() % end; };
  for (int round = 0; round < 150 && !HasFailure(); ++round) {
    const std::size_t bytes = 1 + below(below(5) < 3 ? 70 : most_bytes);
    const std::size_t shift = below(2) == 0 ? 0 : below(40);
    if (below(2) == 0) {
      expect_allgather(MPI_COMM_WORLD, round, bytes, shift, below(3) == 0);
    } else {
      expect_alltoall(MPI_COMM_WORLD, round, bytes, shift);
    }
  }
}

/// By the same series of exchanges.
TEST_F(OneShotBlocks, take_turns_with_reductions) {
  Memory numbers(MemoryKind::device, 1'000 * sizeof(int), world_.rank % gpu_count());
  for (int round = 0; round < 30 && !HasFailure(); ++round) {
    expect_allgather(MPI_COMM_WORLD, round, 40 + static_cast<std::size_t>(round), 0, false);
    write_all(numbers, world_.rank + round);
    ASSERT_EQ(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), 1'000, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
              MPI_SUCCESS);
    EXPECT_TRUE(counts_up(numbers, 0, 1'000, sum_of_firsts(world_, round), world_.size));
    expect_alltoall(MPI_COMM_WORLD, round, 8, 0);
  }
}

/// A rank with a host buffer, no bytes at all, blocks with gaps, and blocks with gaps between them.
TEST_F(OneShotBlocks, take_turns_with_what_no_kernel_can_do) {
  std::vector<int> on_host(static_cast<std::size_t>(world_.size) * 10);
  Memory on_device = numbers_on_device(world_, on_host.size());
  Memory own = numbers_on_device(world_, 20);
  MPI_Datatype with_gaps = MPI_DATATYPE_NULL;
  MPI_Type_vector(10, 1, 2, MPI_INT, &with_gaps);
  MPI_Type_commit(&with_gaps);
  std::vector<int> counts;
  std::vector<int> displacements;
  for (int rank = 0; rank < world_.size; ++rank) {
    counts.push_back(rank == 0 ? 10 : 5);
    displacements.push_back(rank * 10);
  }
  for (int round = 0; round < 12 && !HasFailure(); ++round) {
    expect_allgather(MPI_COMM_WORLD, round, 40, 0, false);
    write_all(own, world_.rank * 100 + round);
    const bool is_on_host = world_.rank == round % world_.size;
    void* const received = is_on_host ? static_cast<void*>(on_host.data()) : on_device.data();
    ASSERT_EQ(MPI_Allgather(own.data(), 10, MPI_INT, received, 10, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
    if (is_on_host) on_device.write(0, on_host.data(), on_device.size());
    for (int rank = 0; rank < world_.size; ++rank)
      EXPECT_TRUE(counts_up(on_device, static_cast<std::size_t>(rank) * 10, 10, rank * 100 + round));

    ASSERT_EQ(MPI_Allgather(own.data(), 0, MPI_INT, on_device.data(), 0, MPI_INT, MPI_COMM_WORLD),
              MPI_SUCCESS);
    ASSERT_EQ(MPI_Allgather(own.data(), 1, with_gaps, on_device.data(), 10, MPI_INT, MPI_COMM_WORLD),
              MPI_SUCCESS);
    for (int rank = 0; rank < world_.size; ++rank)
      EXPECT_TRUE(counts_up(on_device, static_cast<std::size_t>(rank) * 10, 10, rank * 100 + round, 2));

    ASSERT_EQ(MPI_Allgatherv(own.data(), world_.rank == 0 ? 10 : 5, MPI_INT, on_device.data(), counts.data(),
                             displacements.data(), MPI_INT, MPI_COMM_WORLD),
              MPI_SUCCESS);
    for (int rank = 0; rank < world_.size; ++rank)
      EXPECT_TRUE(
          counts_up(on_device, static_cast<std::size_t>(rank) * 10, rank == 0 ? 10 : 5, rank * 100 + round));
  }
  MPI_Type_free(&with_gaps);
}

/// Alltoallv whose blocks are equal and in order is one, too.
TEST_F(OneShotBlocks, of_the_forms_with_counts_are_the_same) {
  const auto ranks = static_cast<std::size_t>(world_.size);
  Memory sent = numbers_on_device(world_, ranks * 3);
  Memory received = numbers_on_device(world_, ranks * 3);
  const std::vector<int> counts(ranks, 3);
  std::vector<int> displacements(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) displacements[rank] = static_cast<int>(rank) * 3;
  for (int round = 0; round < 12 && !HasFailure(); ++round) {
    write_all(sent, world_.rank * 1'000 + round);
    ASSERT_EQ(MPI_Alltoallv(sent.data(), counts.data(), displacements.data(), MPI_INT, received.data(),
                            counts.data(), displacements.data(), MPI_INT, MPI_COMM_WORLD),
              MPI_SUCCESS);
    for (int rank = 0; rank < world_.size; ++rank) {
      EXPECT_TRUE(
          counts_up(received, static_cast<std::size_t>(rank) * 3, 3, rank * 1'000 + round + world_.rank * 3));
    }
  }
}

/// Where a block begins may be said by its displacement and by its datatype: every second one begins behind
/// where all would end, by its datatype alone.
TEST_F(OneShotBlocks, of_datatypes_that_begin_elsewhere_go_there) {
  const auto ranks = static_cast<std::size_t>(world_.size);
  constexpr int block_bytes = 3 * sizeof(int);
  Memory sent = numbers_on_device(world_, ranks * 3);
  Memory received = numbers_on_device(world_, ranks * 6);
  const std::vector<int> counts(ranks, 1);
  const std::vector<int> sent_counts(ranks, 3);
  std::vector<int> displacements(ranks);
  const std::vector<MPI_Datatype> sent_types(ranks, MPI_INT);
  std::vector<MPI_Datatype> types(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    displacements[rank] = static_cast<int>(rank) * block_bytes;
    const MPI_Aint begin = rank % 2 == 0 ? 0 : static_cast<MPI_Aint>(ranks) * block_bytes;
    MPI_Type_create_hindexed_block(1, 3, &begin, MPI_INT, &types[rank]);
    MPI_Type_commit(&types[rank]);
  }
  for (int round = 0; round < 12 && !HasFailure(); ++round) {
    write_all(sent, world_.rank * 1'000 + round);
    write_all(received, -1'000'000);
    ASSERT_EQ(
        MPI_Alltoallw(sent.data(), sent_counts.data(), displacements.data(), sent_types.data(),
                      received.data(), counts.data(), displacements.data(), types.data(), MPI_COMM_WORLD),
        MPI_SUCCESS);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::size_t other = (rank % 2 == 0 ? ranks : 0) + rank;
      const std::size_t place = (rank % 2 == 0 ? 0 : ranks) + rank;
      const auto from = static_cast<int>(rank);
      EXPECT_TRUE(counts_up(received, place * 3, 3, from * 1'000 + round + world_.rank * 3))
          << "from " << rank;
      EXPECT_TRUE(counts_up(received, other * 3, 3, -1'000'000 + static_cast<int>(other) * 3));
    }
  }
  for (MPI_Datatype& type : types) MPI_Type_free(&type);
}

}  // namespace
}  // namespace penstock::test_support
