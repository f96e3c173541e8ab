#include "tests/soak/collective_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "interpose/binding/mpi_level.hpp"

namespace penstock::soak {
namespace {

using test_support::Memory;
using test_support::MemoryKind;

constexpr int ranks = 2;
/// Enough for the GPU to reduce.
constexpr int numbers = 4096;
constexpr std::size_t bytes = numbers * sizeof(int);
constexpr int communicators_apart = 8;  ///< rounds

Memory on_device(int rank, std::size_t size) {
  return Memory(MemoryKind::device, size, rank % test_support::gpu_count());
}

}  // namespace

CollectiveTraffic::CollectiveTraffic(int rank)
    : rank_(rank),
      own_(on_device(rank, bytes)),
      sum_(on_device(rank, bytes)),
      sent_(on_device(rank, ranks * bytes)),
      received_(on_device(rank, ranks * bytes)) {}

/// Every number says its round and who sent it; block `b` of sent_ is for rank b.
void CollectiveTraffic::fill() {
  const int base = static_cast<int>(round_ % 1'000'000);
  const std::vector<int> own(numbers, base + rank_);
  own_.write(0, own.data(), bytes);
  std::vector<int> blocks;
  for (int to = 0; to < ranks; ++to) blocks.insert(blocks.end(), numbers, base + 10 * rank_ + to);
  sent_.write(0, blocks.data(), ranks * bytes);
}

void CollectiveTraffic::expect_sum(const char* what) {
  std::vector<int> found(numbers);
  sum_.read(0, found.data(), bytes);
  const int expected = ranks * static_cast<int>(round_ % 1'000'000) + 1;
  if (fault_.empty() && !std::ranges::all_of(found, [&](int one) { return one == expected; }))
    fault_ = fmt::format("round {}: {} is wrong", round_, what);
}

void CollectiveTraffic::expect_blocks(const Memory& received, const char* what) {
  std::vector<int> found(ranks * numbers);
  received.read(0, found.data(), ranks * bytes);
  const int base = static_cast<int>(round_ % 1'000'000);
  for (int from = 0; from < ranks; ++from) {
    const auto first = found.begin() + from * numbers;
    if (fault_.empty() &&
        !std::all_of(first, first + numbers, [&](int one) { return one == base + 10 * from + rank_; }))
      fault_ = fmt::format("round {}: what {} brought from rank {} is wrong", round_, what, from);
  }
}

void CollectiveTraffic::round() {
  ++round_;
  fill();
  blocking_ones(MPI_COMM_WORLD);
  nonblocking_ones(MPI_COMM_WORLD);
  if (round_ % communicators_apart == 0) short_lived_communicator();
}

void CollectiveTraffic::blocking_ones(MPI_Comm communicator) {
  MPI_Allreduce(own_.data(), sum_.data(), numbers, MPI_INT, MPI_SUM, communicator);
  MPI_Alltoall(sent_.data(), numbers, MPI_INT, received_.data(), numbers, MPI_INT, communicator);
  expect_sum("an Allreduce");
  expect_blocks(received_, "an Alltoall");
  // small enough to be staged
  MPI_Bcast(sum_.data(), 2, MPI_INT, 0, communicator);
  MPI_Barrier(communicator);
  count_ += 4;
}

void CollectiveTraffic::nonblocking_ones(MPI_Comm communicator) {
  std::array<MPI_Request, 4> requests{};
  MPI_Iallreduce(own_.data(), sum_.data(), numbers, MPI_INT, MPI_SUM, communicator, &requests[0]);
  MPI_Ialltoall(sent_.data(), numbers, MPI_INT, received_.data(), numbers, MPI_INT, communicator,
                &requests[1]);
  int host = rank_;
  MPI_Iallreduce(MPI_IN_PLACE, &host, 1, MPI_INT, MPI_SUM, communicator, &requests[2]);
  MPI_Ibarrier(communicator, &requests[3]);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  count_ += requests.size();
  expect_sum("an Iallreduce");
  expect_blocks(received_, "an Ialltoall");
}

/// Each has memory of its own from its initialisation on.
void CollectiveTraffic::persistent_ones(MPI_Comm communicator) {
#if PENSTOCK_HAS_MPI_4
  std::array<MPI_Request, 2> requests{};
  MPI_Allreduce_init(own_.data(), sum_.data(), numbers, MPI_INT, MPI_SUM, communicator, MPI_INFO_NULL,
                     &requests[0]);
  MPI_Alltoall_init(sent_.data(), numbers, MPI_INT, received_.data(), numbers, MPI_INT, communicator,
                    MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests.data());
  for (MPI_Request& request : requests) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }
  count_ += requests.size();
  expect_sum("a persistent Allreduce");
  expect_blocks(received_, "a persistent Alltoall");
#else
  static_cast<void>(communicator);
#endif
}

void CollectiveTraffic::short_lived_communicator() {
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  nonblocking_ones(communicator);
  blocking_ones(communicator);
  nonblocking_ones(communicator);
  persistent_ones(communicator);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(own_.data(), sum_.data(), numbers, MPI_INT, MPI_SUM, communicator, &request);
  // every other time it goes before the last collective is complete
  if (round_ % (2 * communicators_apart) == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&communicator);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  ++count_;
  expect_sum("the last Iallreduce of a communicator");
}

}  // namespace penstock::soak
