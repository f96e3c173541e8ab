// Small collectives in which ranks send and get parts of other sizes, or nothing, by one kernel on each rank:
// MPI_Gather(v), MPI_Scatter(v), MPI_Allgatherv, MPI_Alltoallv and MPI_Reduce, in turns. They begin after a
// few on a communicator, so all comes again and again.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/interpose/collectives/comparison.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/random.hpp"

namespace penstock::test_support {
namespace {

using Bytes = std::vector<std::uint8_t>;

enum class Kind : int { gather, gatherv, scatter, scatterv, allgatherv, alltoallv, reduce };
constexpr int kinds = 7;

std::uint8_t byte_of(int from, int to, int round, std::size_t index) {
  return static_cast<std::uint8_t>(static_cast<std::size_t>(from * 31 + to * 7 + round * 3) + index * 5 +
                                   index / 97);
}

/// Blocks one behind the other, and what lies around them.
struct Row {
  std::vector<int> counts;
  std::vector<int> displacements;

  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0));
  }
};
Row row_of(std::vector<int> counts) {
  Row row{std::move(counts), {}};
  int end = 0;
  for (const int count : row.counts) {
    row.displacements.push_back(end);
    end += count;
  }
  return row;
}

/// One call of each on this rank: what lies where before it, and after it.
class Rooted {
 public:
  explicit Rooted(std::size_t most_bytes)
      : most_(most_bytes * static_cast<std::size_t>(world_.size) + 2 * margin),
        sent_(MemoryKind::device, most_, world_.rank % gpu_count()),
        received_(MemoryKind::device, most_, world_.rank % gpu_count()) {}

  /// `sizes[from][to]`: what would go from each to each in Alltoallv; others use some of it.
  void expect_right(Kind kind, int round, const std::vector<std::vector<int>>& sizes, int root,
                    bool in_place) {
    const auto all = static_cast<std::size_t>(world_.size);
    const auto own = static_cast<std::size_t>(world_.rank);
    const bool is_root = world_.rank == root;
    const auto ranks_of = [&](auto size_of) {
      std::vector<int> counts;
      for (std::size_t rank = 0; rank < all; ++rank) counts.push_back(size_of(rank));
      return row_of(std::move(counts));
    };
    const int equal = sizes[0][0];
    const bool is_equal = kind == Kind::gather || kind == Kind::scatter;
    const Row row = ranks_of([&](std::size_t rank) { return is_equal ? equal : sizes[rank][0]; });
    const int count = row.counts[own];
    before_.assign(most_, guard);
    after_.assign(most_, guard);
    void* const send = sent_.data() + margin;
    void* const receive = received_.data() + margin;
    int code = MPI_SUCCESS;
    switch (kind) {
      case Kind::gather:
      case Kind::gatherv: {
        in_place = in_place && is_root;
        if (!in_place) put(before_, 0, count, world_.rank, -1, round);
        sent_.write(0, before_.data(), most_);
        if (is_root) {
          for (std::size_t rank = 0; rank < all; ++rank)
            put(after_, row.displacements[rank], row.counts[rank], static_cast<int>(rank), -1, round);
        }
        Bytes first(most_, guard);
        if (in_place) put(first, row.displacements[own], count, world_.rank, -1, round);
        received_.write(0, first.data(), most_);
        const void* const from = in_place ? MPI_IN_PLACE : send;
        code = is_equal ? MPI_Gather(from, count, MPI_BYTE, receive, count, MPI_BYTE, root, MPI_COMM_WORLD)
                        : MPI_Gatherv(from, count, MPI_BYTE, receive, row.counts.data(),
                                      row.displacements.data(), MPI_BYTE, root, MPI_COMM_WORLD);
        break;
      }
      case Kind::scatter:
      case Kind::scatterv: {
        in_place = in_place && is_root;
        if (is_root) {
          for (std::size_t rank = 0; rank < all; ++rank)
            put(before_, row.displacements[rank], row.counts[rank], root, static_cast<int>(rank), round);
        }
        sent_.write(0, before_.data(), most_);
        received_.write(0, after_.data(), most_);
        if (!in_place) put(after_, 0, count, root, world_.rank, round);
        void* const to = in_place ? MPI_IN_PLACE : receive;
        code = is_equal ? MPI_Scatter(send, count, MPI_BYTE, to, count, MPI_BYTE, root, MPI_COMM_WORLD)
                        : MPI_Scatterv(send, row.counts.data(), row.displacements.data(), MPI_BYTE, to, count,
                                       MPI_BYTE, root, MPI_COMM_WORLD);
        break;
      }
      case Kind::allgatherv: {
        if (!in_place) put(before_, 0, row.counts[own], world_.rank, -1, round);
        sent_.write(0, before_.data(), most_);
        Bytes first(most_, guard);
        if (in_place) put(first, row.displacements[own], row.counts[own], world_.rank, -1, round);
        received_.write(0, first.data(), most_);
        for (std::size_t rank = 0; rank < all; ++rank)
          put(after_, row.displacements[rank], row.counts[rank], static_cast<int>(rank), -1, round);
        code = MPI_Allgatherv(in_place ? MPI_IN_PLACE : send, row.counts[own], MPI_BYTE, receive,
                              row.counts.data(), row.displacements.data(), MPI_BYTE, MPI_COMM_WORLD);
        break;
      }
      case Kind::alltoallv: {
        const Row out = ranks_of([&](std::size_t rank) { return sizes[own][rank]; });
        const Row in = ranks_of([&](std::size_t rank) { return sizes[rank][own]; });
        for (std::size_t rank = 0; rank < all; ++rank)
          put(before_, out.displacements[rank], out.counts[rank], world_.rank, static_cast<int>(rank), round);
        sent_.write(0, before_.data(), most_);
        received_.write(0, after_.data(), most_);
        for (std::size_t rank = 0; rank < all; ++rank)
          put(after_, in.displacements[rank], in.counts[rank], static_cast<int>(rank), world_.rank, round);
        code = MPI_Alltoallv(send, out.counts.data(), out.displacements.data(), MPI_BYTE, receive,
                             in.counts.data(), in.displacements.data(), MPI_BYTE, MPI_COMM_WORLD);
        break;
      }
      case Kind::reduce: {
        // MPICH 4.0.2 crashes where another root than the first has it in place
        in_place = in_place && is_root && root == 0;
        const auto elements = static_cast<std::size_t>(equal / 4);
        const std::vector<int> numbers(elements, world_.rank + round);
        copy(in_place ? after_ : before_, numbers);
        sent_.write(0, before_.data(), most_);
        received_.write(0, after_.data(), most_);
        const int sum = world_.size * round + world_.size * (world_.size - 1) / 2;
        if (is_root) copy(after_, std::vector<int>(elements, sum));
        code = MPI_Reduce(in_place ? MPI_IN_PLACE : send, receive, equal / 4, MPI_INT, MPI_SUM, root,
                          MPI_COMM_WORLD);
        break;
      }
    }
    ASSERT_EQ(code, MPI_SUCCESS);
    Bytes seen(most_);
    received_.read(0, seen.data(), most_);
    EXPECT_TRUE(seen == after_) << "kind " << static_cast<int>(kind) << ", round " << round << ", root "
                                << root << ", in place: " << in_place;
    sent_.read(0, seen.data(), most_);
    EXPECT_TRUE(seen == before_) << "what was sent by kind " << static_cast<int>(kind);
  }

 private:
  static constexpr std::size_t margin = 64;
  static constexpr std::uint8_t guard = 0xa5;

  static void put(Bytes& content, int displacement, int count, int from, int to, int round) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      content[margin + static_cast<std::size_t>(displacement) + i] = byte_of(from, to, round, i);
  }
  static void copy(Bytes& content, const std::vector<int>& numbers) {
    std::memcpy(content.data() + margin, numbers.data(), numbers.size() * sizeof(int));
  }

  const World world_;
  std::size_t most_;
  Memory sent_;
  Memory received_;
  Bytes before_;
  Bytes after_;
};

TEST(OneShotRooted, of_any_size_follow_each_other) {
  const World world;
  Random random(17);  // the same on all ranks
  constexpr int most = 40'000;
  Rooted rooted(most);
  for (int round = 0; round < 200 && !testing::Test::HasFailure(); ++round) {
    const int limit = random.chance(50) ? 60 : most;
    std::vector<std::vector<int>> sizes(static_cast<std::size_t>(world.size));
    for (auto& of_rank : sizes) {
      for (int to = 0; to < world.size; ++to)
        of_rank.push_back(random.chance(25) ? 0 : random.between(1, limit));
    }
    const auto kind = static_cast<Kind>(random.between(0, kinds - 1));
    rooted.expect_right(kind, round, sizes, random.between(0, world.size - 1), random.chance(30));
  }
}

/// Those who only give, or only get, must not get ahead of the others by more than they have room for.
TEST(OneShotRooted, of_many_in_a_row_hold_back_those_who_need_nothing) {
  const World world;
  constexpr int rounds = 200;
  const auto blocks = static_cast<std::size_t>(world.size);
  Memory own(MemoryKind::device, rounds * sizeof(int), world.rank % gpu_count());
  Memory all(MemoryKind::device, rounds * blocks * sizeof(int), world.rank % gpu_count());
  std::vector<int> numbers(rounds);
  std::iota(numbers.begin(), numbers.end(), 1'000 * world.rank);
  own.write(0, numbers.data(), rounds * sizeof(int));
  for (std::size_t round = 0; round < rounds; ++round) {
    std::byte* const block = reinterpret_cast<std::byte*>(own.data()) + round * sizeof(int);
    std::byte* const place = reinterpret_cast<std::byte*>(all.data()) + round * blocks * sizeof(int);
    MPI_Gather(block, 1, MPI_INT, place, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  std::vector<int> seen(rounds * blocks);
  all.read(0, seen.data(), seen.size() * sizeof(int));
  for (std::size_t i = 0; world.rank == 0 && i < seen.size(); ++i)
    ASSERT_EQ(seen[i], static_cast<int>(i % blocks * 1'000 + i / blocks));
}

/// Sizes that do not fit together are an error where too much comes, as the MPI library says it, and no hang;
/// what follows is as good as ever. (Too little is not an error to every library.)
TEST(OneShotRooted, of_more_than_is_expected_are_an_MPI_error) {
  const World world;
  Memory sent(MemoryKind::device, 4'000, world.rank % gpu_count());
  Memory received(MemoryKind::device, 4'000 * static_cast<std::size_t>(world.size), world.rank % gpu_count());
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  const auto all = static_cast<std::size_t>(world.size);
  for (int round = 0; round < 12; ++round) {
    const bool is_wrong = round >= 8 && round % 2 == 0;
    std::vector<int> counts(all, 1'000);
    if (is_wrong && world.rank == 0) counts[all - 1] = 40;
    std::vector<int> displacements(all);
    for (std::size_t rank = 1; rank < all; ++rank)
      displacements[rank] = displacements[rank - 1] + counts[rank - 1];
    const int code = MPI_Gatherv(sent.data(), 1'000, MPI_BYTE, received.data(), counts.data(),
                                 displacements.data(), MPI_BYTE, 0, communicator);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    EXPECT_EQ(error_class, is_wrong && world.rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS) << round;
  }
  MPI_Comm_free(&communicator);
}

/// Whoever sends less than it gets from each is wrong, but does not keep the others waiting.
TEST(OneShotRooted, of_less_than_is_said_come_to_an_end) {
  const World world;
  const auto all = static_cast<std::size_t>(world.size);
  Memory sent(MemoryKind::device, 4'000, world.rank % gpu_count());
  Memory received(MemoryKind::device, 4'000 * all, world.rank % gpu_count());
  for (int round = 0; round < 12; ++round) {
    const int count = world.rank == 0 && round >= 8 ? 500 : 1'000;
    const int code =
        MPI_Allgather(sent.data(), count, MPI_INT, received.data(), 1'000, MPI_INT, MPI_COMM_WORLD);
    EXPECT_EQ(code, MPI_SUCCESS) << round;
  }
}

}  // namespace
}  // namespace penstock::test_support
