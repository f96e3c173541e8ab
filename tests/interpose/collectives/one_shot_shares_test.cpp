// Reductions of which each rank gets another result, by one kernel on each rank: MPI_Reduce_scatter(_block),
// MPI_Scan and MPI_Exscan, in turns with those of which all get the same. They begin after a few on a
// communicator, so all comes again and again.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "tests/interpose/collectives/comparison.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/random.hpp"

namespace penstock::test_support {
namespace {

enum class Kind : int { allreduce, scan, exscan, reduce_scatter_block, reduce_scatter, uneven };
constexpr int kinds = 6;

template <class T>
constexpr T element_of(int rank, int round, std::size_t index) {
  return static_cast<T>((index * 7 + static_cast<std::size_t>(rank) * 5 + static_cast<std::size_t>(round)) %
                        11);
}

template <class T>
MPI_Datatype type_of() {
  if constexpr (std::is_same_v<T, double>) return MPI_DOUBLE;
  if constexpr (std::is_same_v<T, std::int16_t>) return MPI_INT16_T;
  return MPI_INT;
}

template <class T>
class Shares {
 public:
  /// Vectors of at most so many elements in all.
  Shares(MPI_Comm communicator, std::size_t most)
      : communicator_(communicator),
        gpu_(world_.rank % gpu_count()),
        send_(MemoryKind::device, (most + 2) * sizeof(T), gpu_),
        receive_(MemoryKind::device, (most + 2) * sizeof(T), gpu_) {}

  /// `count`: elements of a vector or, where it is shared out, of a share.
  void expect_right(Kind kind, int round, std::size_t count, bool in_place) {
    const std::vector<int> counts = counts_of(kind, count);
    const bool is_shared_out = kind >= Kind::reduce_scatter_block;
    const auto total =
        is_shared_out ? static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0)) : count;
    const std::vector<T> own = vector_of(world_.rank, round, total);
    std::vector<T> before(total + 2, guard);
    receive_.write(0, before.data(), before.size() * sizeof(T));
    Memory& from = in_place ? receive_ : send_;
    from.write(sizeof(T), own.data(), total * sizeof(T));
    if (in_place) std::copy(own.begin(), own.end(), before.begin() + 1);
    ASSERT_EQ(reduce(kind, in_place ? MPI_IN_PLACE : send_.data() + sizeof(T), count, counts), MPI_SUCCESS);

    const std::vector<T> result = result_of(kind, round, count, counts);
    std::vector<T> seen(total + 2);
    receive_.read(0, seen.data(), seen.size() * sizeof(T));
    std::copy(result.begin(), result.end(), before.begin() + 1);
    // what is behind a share, in place, may be anything
    if (in_place && is_shared_out) {
      seen.erase(seen.begin() + 1 + static_cast<std::ptrdiff_t>(result.size()), seen.end() - 1);
      before.erase(before.begin() + 1 + static_cast<std::ptrdiff_t>(result.size()), before.end() - 1);
    }
    EXPECT_EQ(seen, before) << "kind " << static_cast<int>(kind) << ", round " << round << ", " << count
                            << " elements, in place: " << in_place;
  }

 private:
  static constexpr T guard = static_cast<T>(-9);

  static std::vector<T> vector_of(int rank, int round, std::size_t count) {
    std::vector<T> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = element_of<T>(rank, round, i);
    return all;
  }
  [[nodiscard]] std::vector<int> counts_of(Kind kind, std::size_t count) const {
    std::vector<int> counts(static_cast<std::size_t>(world_.size), static_cast<int>(count));
    if (kind == Kind::uneven) {
      for (std::size_t rank = 0; rank < counts.size(); rank += 2) counts[rank] /= 2;
    }
    return counts;
  }
  int reduce(Kind kind, const void* send, std::size_t count, const std::vector<int>& counts) {
    void* const receive = receive_.data() + sizeof(T);
    const int elements = static_cast<int>(count);
    switch (kind) {
      case Kind::allreduce:
        return MPI_Allreduce(send, receive, elements, type_of<T>(), MPI_SUM, communicator_);
      case Kind::scan:
        return MPI_Scan(send, receive, elements, type_of<T>(), MPI_SUM, communicator_);
      case Kind::exscan:
        return MPI_Exscan(send, receive, elements, type_of<T>(), MPI_SUM, communicator_);
      case Kind::reduce_scatter_block:
        return MPI_Reduce_scatter_block(send, receive, elements, type_of<T>(), MPI_SUM, communicator_);
      default:
        return MPI_Reduce_scatter(send, receive, counts.data(), type_of<T>(), MPI_SUM, communicator_);
    }
  }
  /// Empty: the receive buffer stays as it is.
  [[nodiscard]] std::vector<T> result_of(Kind kind, int round, std::size_t count,
                                         const std::vector<int>& counts) const {
    int ranks = world_.size;
    std::size_t first = 0;
    if (kind == Kind::scan) ranks = world_.rank + 1;
    if (kind == Kind::exscan) ranks = world_.rank;
    if (kind >= Kind::reduce_scatter_block) {
      first = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.begin() + world_.rank, 0));
      count = static_cast<std::size_t>(counts[static_cast<std::size_t>(world_.rank)]);
    }
    std::vector<T> result(ranks == 0 ? 0 : count);
    for (int rank = 0; rank < ranks; ++rank) {
      for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = static_cast<T>(result[i] + element_of<T>(rank, round, first + i));
    }
    return result;
  }

  const World world_;
  const MPI_Comm communicator_;
  const int gpu_;
  Memory send_;
  Memory receive_;
};

template <class T>
void expect_rounds_right(int rounds, std::size_t most_of_a_share) {
  Random random(11);  // the same on all ranks
  Shares<T> shares(MPI_COMM_WORLD, most_of_a_share * static_cast<std::size_t>(World().size));
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    const std::size_t limit =
        random.chance(50) ? std::min<std::size_t>(most_of_a_share, 40) : most_of_a_share;
    const auto count = static_cast<std::size_t>(random.between(1, static_cast<int>(limit)));
    shares.expect_right(static_cast<Kind>(random.between(0, kinds - 1)), round, count, random.chance(30));
  }
}

TEST(OneShotShares, of_changing_lengths_follow_each_other) {
  expect_rounds_right<double>(150, 3'000);
  expect_rounds_right<int>(150, 20'000);
  expect_rounds_right<std::int16_t>(60, 9'000);
}

/// A first rank of a prefix has all that it needs; it must not get ahead of the others by more than they have
/// room for.
TEST(OneShotShares, of_many_prefixes_hold_back_those_who_need_nothing) {
  const World world;
  constexpr int rounds = 100;
  Memory memory(MemoryKind::device, rounds * sizeof(double), world.rank % gpu_count());
  const std::vector<double> own(rounds, 1.0 + world.rank);
  memory.write(0, own.data(), rounds * sizeof(double));
  for (std::size_t round = 0; round < rounds; ++round)
    MPI_Scan(MPI_IN_PLACE, memory.data() + round * sizeof(double), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  std::vector<double> seen(rounds);
  memory.read(0, seen.data(), rounds * sizeof(double));
  EXPECT_EQ(seen, std::vector<double>(rounds, (world.rank + 1.0) * (world.rank + 2.0) / 2));
}

/// The first rank of an exclusive prefix has no result, wherever it would go; of Scan its result in host
/// memory means that no kernel can have part in it.
TEST(OneShotShares, of_a_first_rank_with_other_buffers_are_right) {
  const World world;
  const int gpu = world.rank % gpu_count();
  Memory own(MemoryKind::device, 400, gpu);
  Memory result(world.rank == 0 ? MemoryKind::pageable : MemoryKind::device, 400, gpu);
  std::vector<int> numbers(100, world.rank + 1);
  own.write(0, numbers.data(), 400);
  for (int round = 0; round < 12; ++round) {
    ASSERT_EQ(MPI_Exscan(own.data(), result.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    if (world.rank > 0) {
      result.read(0, numbers.data(), 400);
      EXPECT_EQ(numbers, std::vector<int>(100, world.rank * (world.rank + 1) / 2));
    }
    ASSERT_EQ(MPI_Scan(own.data(), result.data(), 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    result.read(0, numbers.data(), 400);
    EXPECT_EQ(numbers, std::vector<int>(100, (world.rank + 1) * (world.rank + 2) / 2));
  }
}

}  // namespace
}  // namespace penstock::test_support
