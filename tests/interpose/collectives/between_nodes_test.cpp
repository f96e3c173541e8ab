// Large collectives of ranks on several nodes: results, one after the other and on parts of the world, where
// some give something else than others, and where one of them has no device buffer. between_nodes_job.sh
// counts what crosses.
#include <cstddef>
#include <numeric>
#include <vector>

#include "tests/interpose/collectives/numbers.hpp"

namespace penstock::test_support {
namespace {

/// 1.2 MB: from 256 KiB on ranks of several nodes exchange messages.
constexpr int many = 300'000;
constexpr std::size_t all_of_them = many;

class BetweenNodes : public testing::Test {
 protected:
  [[nodiscard]] std::vector<int> numbers_of(int rank) const {
    std::vector<int> numbers(all_of_them);
    std::iota(numbers.begin(), numbers.end(), rank * 1'000'000);
    return numbers;
  }
  [[nodiscard]] Memory on_device(std::size_t numbers) const {
    return Memory(MemoryKind::device, numbers * sizeof(int), world_.rank % gpu_count());
  }
  [[nodiscard]] Memory own_numbers() const {
    Memory memory = on_device(all_of_them);
    memory.write(0, numbers_of(world_.rank).data(), memory.size());
    return memory;
  }
  [[nodiscard]] static std::vector<int> content_of(const Memory& memory) {
    std::vector<int> content(memory.size() / sizeof(int));
    memory.read(0, content.data(), memory.size());
    return content;
  }
  /// Of the ranks from `first` on.
  [[nodiscard]] std::vector<int> sum_from(int first) const {
    std::vector<int> sum(all_of_them);
    for (int rank = first; rank < world_.size; ++rank) {
      const std::vector<int> numbers = numbers_of(rank);
      for (std::size_t i = 0; i < all_of_them; ++i) sum[i] += numbers[i];
    }
    return sum;
  }

  const World world_;
};

TEST_F(BetweenNodes, allreduce_adds_up) {
  const Memory own = own_numbers();
  const Memory sum = on_device(all_of_them);
  ASSERT_EQ(MPI_Allreduce(own.data(), sum.data(), many, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_TRUE(content_of(sum) == sum_from(0));
  EXPECT_TRUE(content_of(own) == numbers_of(world_.rank));
}

TEST_F(BetweenNodes, allreduce_adds_up_in_place) {
  const Memory both = own_numbers();
  ASSERT_EQ(MPI_Allreduce(MPI_IN_PLACE, both.data(), many, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_TRUE(content_of(both) == sum_from(0));
}

TEST_F(BetweenNodes, bcast_brings_it_to_all) {
  for (int root = 0; root < world_.size; ++root) {
    const Memory buffer = own_numbers();
    ASSERT_EQ(MPI_Bcast(buffer.data(), many, MPI_INT, root, MPI_COMM_WORLD), MPI_SUCCESS);
    EXPECT_TRUE(content_of(buffer) == numbers_of(root)) << "from rank " << root;
  }
}

/// More than one piece goes from node to node at a time.
TEST_F(BetweenNodes, bcast_of_many_pieces_brings_them_to_all) {
  constexpr int count = 12'000'001;
  std::vector<int> numbers(count);
  if (world_.rank == 0) std::iota(numbers.begin(), numbers.end(), 7);
  Memory buffer = on_device(numbers.size());
  buffer.write(0, numbers.data(), buffer.size());
  ASSERT_EQ(MPI_Bcast(buffer.data(), count, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS);
  std::iota(numbers.begin(), numbers.end(), 7);
  EXPECT_TRUE(content_of(buffer) == numbers);
}

TEST_F(BetweenNodes, allgather_brings_all_to_all) {
  const Memory own = own_numbers();
  const Memory all = on_device(all_of_them * static_cast<std::size_t>(world_.size));
  ASSERT_EQ(MPI_Allgather(own.data(), many, MPI_INT, all.data(), many, MPI_INT, MPI_COMM_WORLD), MPI_SUCCESS);
  std::vector<int> expected;
  for (int rank = 0; rank < world_.size; ++rank) {
    const std::vector<int> numbers = numbers_of(rank);
    expected.insert(expected.end(), numbers.begin(), numbers.end());
  }
  EXPECT_TRUE(content_of(all) == expected);
}

/// Ranks may describe the same message by different types: it cannot be cut into the same pieces then. Of the
/// second size both have the same number in twelve bits, which is all that ranks of one node compare.
TEST_F(BetweenNodes, bcast_may_be_of_another_type_on_each_rank) {
  for (const int count : {many, 1'050'581}) {
    MPI_Datatype whole = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(count, MPI_INT, &whole);
    MPI_Type_commit(&whole);
    Memory buffer = on_device(static_cast<std::size_t>(count));
    std::vector<int> numbers(static_cast<std::size_t>(count), -1);
    if (world_.rank == 0) std::iota(numbers.begin(), numbers.end(), 3);
    buffer.write(0, numbers.data(), buffer.size());
    const bool at_once = world_.rank % 2 != 0;
    ASSERT_EQ(MPI_Bcast(buffer.data(), at_once ? 1 : count, at_once ? whole : MPI_INT, 0, MPI_COMM_WORLD),
              MPI_SUCCESS);
    std::iota(numbers.begin(), numbers.end(), 3);
    EXPECT_TRUE(content_of(buffer) == numbers);
    MPI_Type_free(&whole);
  }
}

/// Not in place: what is sent lies in front of all that is received.
TEST_F(BetweenNodes, allgatherv_may_send_from_the_buffer_that_it_receives_in) {
  const auto ranks = static_cast<std::size_t>(world_.size);
  Memory both = on_device(all_of_them * (ranks + 1));
  both.write(0, numbers_of(world_.rank).data(), all_of_them * sizeof(int));
  const std::vector<int> counts(ranks, many);
  std::vector<int> displacements;
  for (int rank = 0; rank < world_.size; ++rank) displacements.push_back((rank + 1) * many);
  ASSERT_EQ(MPI_Allgatherv(both.data(), many, MPI_INT, both.data(), counts.data(), displacements.data(),
                           MPI_INT, MPI_COMM_WORLD),
            MPI_SUCCESS);
  const std::vector<int> seen = content_of(both);
  for (int rank = 0; rank < world_.size; ++rank) {
    const auto begin = seen.begin() + displacements[static_cast<std::size_t>(rank)];
    EXPECT_TRUE(std::vector<int>(begin, begin + many) == numbers_of(rank)) << "of rank " << rank;
  }
}

TEST_F(BetweenNodes, some_ranks_may_have_host_buffers) {
  std::vector<int> numbers = numbers_of(world_.rank);
  const Memory own = own_numbers();
  const bool is_on_host = world_.rank % 2 != 0;
  void* const buffer = is_on_host ? static_cast<void*>(numbers.data()) : own.data();
  ASSERT_EQ(MPI_Allreduce(MPI_IN_PLACE, buffer, many, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_TRUE((is_on_host ? numbers : content_of(own)) == sum_from(0));
  ASSERT_EQ(MPI_Bcast(buffer, many, MPI_INT, world_.size - 1, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_TRUE((is_on_host ? numbers : content_of(own)) == sum_from(0));
}

/// All but the first, so that nodes have different numbers of ranks, and some only one.
TEST_F(BetweenNodes, part_of_the_world_may_span_them_unevenly) {
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_.rank == 0 ? MPI_UNDEFINED : 0, world_.rank, &part);
  if (part == MPI_COMM_NULL) return;
  const int ranks = world_.size - 1;
  const Memory own = own_numbers();
  const Memory sum = on_device(all_of_them);
  ASSERT_EQ(MPI_Allreduce(own.data(), sum.data(), many, MPI_INT, MPI_SUM, part), MPI_SUCCESS);
  EXPECT_TRUE(content_of(sum) == sum_from(1));
  const Memory all = on_device(all_of_them * static_cast<std::size_t>(ranks));
  ASSERT_EQ(MPI_Allgather(own.data(), many, MPI_INT, all.data(), many, MPI_INT, part), MPI_SUCCESS);
  const std::vector<int> gathered = content_of(all);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto begin = gathered.begin() + static_cast<std::ptrdiff_t>(rank) * many;
    EXPECT_TRUE(std::vector<int>(begin, begin + many) == numbers_of(rank + 1)) << "of rank " << rank;
  }
  ASSERT_EQ(MPI_Bcast(sum.data(), many, MPI_INT, 0, part), MPI_SUCCESS);
  MPI_Comm_free(&part);
}

/// Refused on one rank alone, as MPI lets it be: the others are in the call already when it is made again.
TEST_F(BetweenNodes, what_is_refused_on_one_rank_may_be_called_again) {
  const Memory buffer = own_numbers();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (world_.rank == 1) {
    EXPECT_NE(MPI_Bcast(buffer.data(), -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS);
  }
  ASSERT_EQ(MPI_Bcast(buffer.data(), many, MPI_INT, 0, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_TRUE(content_of(buffer) == numbers_of(0));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

}  // namespace
}  // namespace penstock::test_support
