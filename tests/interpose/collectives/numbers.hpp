// Vectors of numbers that count up, by which a result shows where it came from.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <numeric>
#include <vector>

#include "tests/interpose/collectives/comparison.hpp"
#include "tests/support/memory.hpp"

namespace penstock::test_support {

inline int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/// Large enough for messages between the ranks, and for the GPU to reduce.
inline constexpr int count = 50'000;
inline constexpr std::size_t elements = count;

/// On the GPU of this rank.
inline Memory numbers_on_device(const World& world, std::size_t numbers) {
  return Memory(MemoryKind::device, numbers * sizeof(int), world.rank % gpu_count());
}

inline void write_all(Memory& memory, int value) {
  std::vector<int> numbers(memory.size() / sizeof(int));
  std::iota(numbers.begin(), numbers.end(), value);
  memory.write(0, numbers.data(), numbers.size() * sizeof(int));
}

/// True if the numbers from `first` on are `begin`, `begin + step` …
inline testing::AssertionResult counts_up(const Memory& memory, std::size_t first, std::size_t length,
                                          int begin, int step = 1) {
  std::vector<int> numbers(length);
  memory.read(first * sizeof(int), numbers.data(), length * sizeof(int));
  for (std::size_t i = 0; i < length; ++i) {
    const int expected = begin + static_cast<int>(i) * step;
    if (numbers[i] != expected)
      return testing::AssertionFailure() << numbers[i] << " instead of " << expected << " at " << i;
  }
  return testing::AssertionSuccess();
}

/// The sum over the ranks of the first number that write_all(base + rank) wrote.
inline int sum_of_firsts(const World& world, int base) {
  return world.size * base + world.size * (world.size - 1) / 2;
}

}  // namespace penstock::test_support
