#include "tests/interpose/collectives/comparison.hpp"

#include <array>
#include <cstdint>

#include "tests/support/random.hpp"
#include "tests/support/watchdog.hpp"

namespace penstock::test_support {
namespace {

constexpr std::size_t guard_bytes = 64;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Kinds of memory of one rank's buffers.
struct Kinds {
  MemoryKind send;
  MemoryKind receive;
};

Kinds all_device(int) {
  return {MemoryKind::device, MemoryKind::device};
}
Kinds even_ranks_device(int rank) {
  return rank % 2 == 0 ? Kinds{MemoryKind::device, MemoryKind::device}
                       : Kinds{MemoryKind::pageable, MemoryKind::pinned};
}
Kinds send_from_device(int) {
  return {MemoryKind::device, MemoryKind::pageable};
}
Kinds receive_on_device(int) {
  return {MemoryKind::pageable, MemoryKind::device};
}
Kinds pools_and_managed(int rank) {
  return rank % 2 == 0 ? Kinds{MemoryKind::async_pool, MemoryKind::managed}
                       : Kinds{MemoryKind::managed, MemoryKind::async_pool};
}

/// How ranks may mix: a name, and the kinds of a rank.
struct Placement {
  const char* name;
  Kinds (*kinds_of)(int rank);
};

constexpr std::array all_placements = {Placement{"all on the device", all_device},
                                       Placement{"even ranks on the device", even_ranks_device},
                                       Placement{"sent from the device", send_from_device},
                                       Placement{"received on the device", receive_on_device},
                                       Placement{"pool and managed memory", pools_and_managed}};

static_assert(all_placements.size() == placement_count);

/// The first byte that differs, relative to the address that the call was given.
void expect_equal(const std::vector<std::byte>& expected, const std::vector<std::byte>& seen,
                  std::size_t before, const char* what) {
  ASSERT_EQ(expected.size(), seen.size());
  for (std::size_t index = 0; index < expected.size(); ++index) {
    if (expected[index] == seen[index]) continue;
    ADD_FAILURE() << what << " buffer differs at byte "
                  << static_cast<std::ptrdiff_t>(index) - static_cast<std::ptrdiff_t>(before) << ": "
                  << std::to_integer<int>(seen[index]) << " instead of "
                  << std::to_integer<int>(expected[index]);
    return;
  }
}

}  // namespace

std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
  std::vector<std::byte> bytes(count);
  Random(seed).fill(bytes.data(), bytes.size());
  return bytes;
}

void expect_same_as_on_host(Extent send, Extent receive, const Exchange& exchange) {
  static std::uint64_t round = 0;
  ++round;
  const int rank = world_rank();
  const int devices = gpu_count();
  const std::size_t send_begin = guard_bytes + send.before;
  const std::size_t receive_begin = guard_bytes + receive.before;
  const std::vector<std::byte> sent =
      random_bytes(send_begin + send.after + guard_bytes, mix(round) + static_cast<unsigned>(rank));
  const std::vector<std::byte> before =
      random_bytes(receive_begin + receive.after + guard_bytes, mix(round + 1) + static_cast<unsigned>(rank));

  std::vector<std::byte> host_send = sent;
  std::vector<std::byte> host_receive = before;
  EXPECT_EQ(exchange(host_send.data() + send_begin, host_receive.data() + receive_begin), MPI_SUCCESS);
  expect_equal(sent, host_send, send_begin, "host send");

  // another placement each time; their number has no divisor in common with that of spellings, types or
  // counts
  const Placement& placement = all_placements[round % all_placements.size()];
  SCOPED_TRACE(placement.name);
  progress("%s", placement.name);
  const Kinds kinds = placement.kinds_of(rank);
  Memory send_memory(kinds.send, sent.size(), rank % devices);
  Memory receive_memory(kinds.receive, before.size(), rank % devices);
  send_memory.write(0, sent.data(), sent.size());
  receive_memory.write(0, before.data(), before.size());
  EXPECT_EQ(exchange(send_memory.data() + send_begin, receive_memory.data() + receive_begin), MPI_SUCCESS);
  std::vector<std::byte> seen(host_receive.size());
  receive_memory.read(0, seen.data(), seen.size());
  expect_equal(host_receive, seen, receive_begin, "receive");
  seen.resize(sent.size());
  send_memory.read(0, seen.data(), seen.size());
  expect_equal(sent, seen, send_begin, "send");
}

bool any_rank_failed() {
  int failed = testing::Test::HasFailure() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return failed != 0;
}

}  // namespace penstock::test_support
