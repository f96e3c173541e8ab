// One small collective of each kind under way at once, by requests of whatever form, and what each must
// deliver.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "tests/interpose/collectives/comparison.hpp"
#include "tests/interpose/collectives/numbers.hpp"
#include "tests/support/memory.hpp"

namespace penstock::test_support {

/// The buffers of Allgather, Alltoall, Reduce_scatter_block, Scan, Exscan, Gather, Scatter, Reduce and
/// Alltoallv, in that order, of so many ints each (for or from each rank).
class EachKind {
 public:
  static constexpr std::size_t kinds = 9;

  EachKind(const World& world, int numbers)
      : world_(world),
        numbers_(numbers),
        all_(static_cast<std::size_t>(numbers) * static_cast<std::size_t>(world.size)),
        sent_(numbers_on_device(world, all_)) {
    for (std::size_t i = 0; i < kinds; ++i) received_.push_back(numbers_on_device(world, all_));
    for (int rank = 0; rank < world.size; ++rank) {
      sent_counts_.push_back(share(world.rank, rank));
      sent_displacements_.push_back(rank == 0 ? 0 : sent_displacements_.back() + share(world.rank, rank - 1));
      received_counts_.push_back(share(rank, world.rank));
      received_displacements_.push_back(
          rank == 0 ? 0 : received_displacements_.back() + share(rank - 1, world.rank));
    }
  }

  [[nodiscard]] int root() const { return world_.size - 1; }
  /// Of Alltoallv.
  [[nodiscard]] const int* sent_counts() const { return sent_counts_.data(); }
  [[nodiscard]] const int* sent_displacements() const { return sent_displacements_.data(); }
  [[nodiscard]] const int* received_counts() const { return received_counts_.data(); }
  [[nodiscard]] const int* received_displacements() const { return received_displacements_.data(); }

  [[nodiscard]] Memory& sent() { return sent_; }
  [[nodiscard]] void* received(std::size_t kind) { return received_[kind].data(); }
  void write(int round) {
    write_all(sent_, round + world_.rank);
    for (std::size_t kind = 4; kind < kinds; ++kind) write_all(received_[kind], -5);
  }
  void expect_right(int round) const {
    const auto numbers = static_cast<std::size_t>(numbers_);
    for (int rank = 0; rank < world_.size; ++rank) {
      const std::size_t first = static_cast<std::size_t>(rank) * numbers;
      EXPECT_TRUE(counts_up(received_[0], first, numbers, round + rank));
      EXPECT_TRUE(counts_up(received_[1], first, numbers, round + rank + world_.rank * numbers_));
    }
    const int own_share = world_.size * world_.rank * numbers_;
    EXPECT_TRUE(counts_up(received_[2], 0, numbers, sum_of_firsts(world_, round) + own_share, world_.size));
    const auto sum_of_first_ranks = [&](int some) { return some * round + some * (some - 1) / 2; };
    EXPECT_TRUE(counts_up(received_[3], 0, numbers, sum_of_first_ranks(world_.rank + 1), world_.rank + 1));
    if (world_.rank > 0) {
      EXPECT_TRUE(counts_up(received_[4], 0, numbers, sum_of_first_ranks(world_.rank), world_.rank));
    } else {
      EXPECT_TRUE(counts_up(received_[4], 0, numbers, -5));
    }
    expect_rooted_right(round);
    for (std::size_t rank = 0; rank < sent_counts_.size(); ++rank) {
      const int from = static_cast<int>(rank);
      int before = 0;  // what that rank has sent to others, from the begin of its vector on
      for (int other = 0; other < world_.rank; ++other) before += share(from, other);
      EXPECT_TRUE(counts_up(received_[8], static_cast<std::size_t>(received_displacements_[rank]),
                            static_cast<std::size_t>(received_counts_[rank]), round + from + before));
    }
  }

 private:
  /// Of what goes from one rank to another, some of which is nothing.
  [[nodiscard]] int share(int from, int to) const { return (from + 2 * to) % 4 * numbers_ / 3; }

  void expect_rooted_right(int round) const {
    const auto numbers = static_cast<std::size_t>(numbers_);
    const bool is_root = world_.rank == root();
    for (int rank = 0; rank < world_.size; ++rank) {
      const std::size_t first = static_cast<std::size_t>(rank) * numbers;
      EXPECT_TRUE(counts_up(received_[5], first, numbers, is_root ? round + rank : -5 + rank * numbers_));
    }
    EXPECT_TRUE(counts_up(received_[6], 0, numbers, round + root() + world_.rank * numbers_));
    EXPECT_TRUE(counts_up(received_[7], 0, numbers, is_root ? sum_of_firsts(world_, round) : -5,
                          is_root ? world_.size : 1));
  }

  const World& world_;
  int numbers_;
  std::size_t all_;
  Memory sent_;
  std::vector<Memory> received_;
  std::vector<int> sent_counts_;
  std::vector<int> sent_displacements_;
  std::vector<int> received_counts_;
  std::vector<int> received_displacements_;
};

}  // namespace penstock::test_support
