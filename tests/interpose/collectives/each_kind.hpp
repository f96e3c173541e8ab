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

/// The buffers of Allgather, Alltoall, Reduce_scatter_block, Scan and Exscan, in that order, of so many ints
/// each (for or from each rank).
class EachKind {
 public:
  static constexpr std::size_t kinds = 5;

  EachKind(const World& world, int numbers)
      : world_(world),
        numbers_(numbers),
        all_(static_cast<std::size_t>(numbers) * static_cast<std::size_t>(world.size)),
        sent_(numbers_on_device(world, all_)) {
    for (std::size_t i = 0; i < kinds; ++i) received_.push_back(numbers_on_device(world, all_));
  }

  [[nodiscard]] Memory& sent() { return sent_; }
  [[nodiscard]] void* received(std::size_t kind) { return received_[kind].data(); }
  void write(int round) {
    write_all(sent_, round + world_.rank);
    write_all(received_[4], -5);
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
  }

 private:
  const World& world_;
  int numbers_;
  std::size_t all_;
  Memory sent_;
  std::vector<Memory> received_;
};

}  // namespace penstock::test_support
