// Rounds of collectives between two ranks that leave nothing out: blocking, non-blocking and persistent, by
// messages, by kernels and staged, several under way, on communicators that come and go. Results are
// compared. A user's program: knows MPI and CUDA, not Penstock.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "tests/support/memory.hpp"

namespace penstock::soak {

/// On MPI_COMM_WORLD, each of whose ranks makes one and calls round() as often as the other.
class CollectiveTraffic {
 public:
  explicit CollectiveTraffic(int rank);

  /// All collectives of the next round.
  void round();
  /// So far.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// The first result that was wrong; empty if none was.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

 private:
  void blocking_ones(MPI_Comm communicator);
  void nonblocking_ones(MPI_Comm communicator);
  void persistent_ones(MPI_Comm communicator);
  void short_lived_communicator();

  void fill();
  void expect_sum(const char* what);
  void expect_blocks(const test_support::Memory& received, const char* what);

  const int rank_;
  test_support::Memory own_;
  test_support::Memory sum_;
  test_support::Memory sent_;
  test_support::Memory received_;
  std::uint64_t round_ = 0;
  std::uint64_t count_ = 0;
  std::string fault_;
};

}  // namespace penstock::soak
