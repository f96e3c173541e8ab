// Small non-blocking collectives that a kernel on each rank does, once the ranks have agreed to put them off
// and have got ready for kernels: in turns with what goes by messages or is the library's. What they must do
// in general is in nonblocking_test.cpp.
#include <array>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "tests/interpose/collectives/comparison.hpp"
#include "tests/interpose/collectives/each_kind.hpp"
#include "tests/interpose/collectives/numbers.hpp"
#include "tests/support/faulty_driver/faulty_driver.hpp"
#include "tests/support/memory.hpp"

namespace penstock::test_support {
namespace {

constexpr int numbers = 300;
constexpr std::size_t vector_bytes = numbers * sizeof(int);

class OneShotNonblocking : public testing::Test {
 protected:
  void SetUp() override { MPI_Comm_dup(MPI_COMM_WORLD, &communicator); }
  void TearDown() override { MPI_Comm_free(&communicator); }
  /// Once there is a GPU, so that all ranks meet on it from the beginning.
  void make_anew() {
    MPI_Comm_free(&communicator);
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  }

  [[nodiscard]] MPI_Request start_sum(Memory& memory, int value, int count = numbers) const {
    write_all(memory, value + world.rank);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Iallreduce(MPI_IN_PLACE, memory.data(), count, MPI_INT, MPI_SUM, communicator, &request),
              MPI_SUCCESS);
    return request;
  }
  static void wait(MPI_Request& request) { EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS); }
  void expect_sum(const Memory& memory, int value, int count = numbers) const {
    EXPECT_TRUE(
        counts_up(memory, 0, static_cast<std::size_t>(count), sum_of_firsts(world, value), world.size));
  }
  /// Some that do not tell that there is a GPU.
  void begin_in_host_memory() const {
    for (int i = 0; i < 5; ++i) {
      int token = 0;
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ibcast(&token, 1, MPI_INT, 0, communicator, &request);
      wait(request);
    }
  }
  /// A blocking one, by which ranks agree to put others off; then some of those.
  void get_ready(Memory& memory) const {
    for (int i = 0; i < 2; ++i)
      MPI_Allreduce(MPI_IN_PLACE, memory.data(), numbers, MPI_INT, MPI_SUM, communicator);
    for (int value = 0; value < 6; ++value) {
      MPI_Request request = start_sum(memory, value);
      wait(request);
      expect_sum(memory, value);
    }
  }

  const World world;
  MPI_Comm communicator = MPI_COMM_NULL;
};

TEST_F(OneShotNonblocking, follow_each_other) {
  Memory memory = numbers_on_device(world, numbers);
  get_ready(memory);
  for (int value = 0; value < 200; ++value) {
    const int count = 1 + value * 37 % numbers;
    MPI_Request request = start_sum(memory, value, count);
    wait(request);
    expect_sum(memory, value, count);
  }
}

/// Small ones, such as go by messages, and such as are the library's, all under way at once; waited for in
/// another order on each rank.
TEST_F(OneShotNonblocking, several_are_under_way_with_others) {
  constexpr std::size_t operations = 12;
  Memory first = numbers_on_device(world, numbers);
  get_ready(first);
  std::vector<Memory> memories;
  for (std::size_t i = 0; i < operations; ++i) memories.push_back(numbers_on_device(world, 40'000));
  std::vector<int> on_host(numbers);
  for (int round = 0; round < 12; ++round) {
    std::vector<MPI_Request> requests;
    for (std::size_t i = 0; i < operations; ++i)
      requests.push_back(start_sum(memories[i], round + static_cast<int>(i), i % 3 == 1 ? 40'000 : numbers));
    on_host.assign(numbers, world.rank);
    MPI_Request host_request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, on_host.data(), numbers, MPI_INT, MPI_SUM, communicator, &host_request);
    for (std::size_t i = 0; i < operations; ++i) {
      const std::size_t next = (i * 5 + static_cast<std::size_t>(world.rank * 3 + round)) % operations;
      wait(requests[next]);
    }
    wait(host_request);
    for (std::size_t i = 0; i < operations; ++i)
      expect_sum(memories[i], round + static_cast<int>(i), i % 3 == 1 ? 40'000 : numbers);
    EXPECT_EQ(on_host, std::vector<int>(numbers, world.size * (world.size - 1) / 2));
  }
}

/// The one with which ranks get ready must not hold up those before it: a rank may wait for these first.
TEST_F(OneShotNonblocking, get_ready_without_holding_up_earlier_ones) {
  std::vector<Memory> memories;
  for (int i = 0; i < 8; ++i) memories.push_back(numbers_on_device(world, numbers));
  for (int i = 0; i < 2; ++i)
    MPI_Allreduce(MPI_IN_PLACE, memories[0].data(), numbers, MPI_INT, MPI_SUM, communicator);
  std::vector<MPI_Request> requests(8, MPI_REQUEST_NULL);
  constexpr int tag = 3;
  int token = 0;
  if (world.rank == 0) {
    for (int i = 0; i < 8; ++i)
      requests[static_cast<std::size_t>(i)] = start_sum(memories[static_cast<std::size_t>(i)], i);
    for (std::size_t i = 0; i < 3; ++i) wait(requests[i]);
    for (int other = 1; other < world.size; ++other) MPI_Send(&token, 1, MPI_INT, other, tag, communicator);
  } else {
    for (int i = 0; i < 3; ++i)
      requests[static_cast<std::size_t>(i)] = start_sum(memories[static_cast<std::size_t>(i)], i);
    MPI_Recv(&token, 1, MPI_INT, 0, tag, communicator, MPI_STATUS_IGNORE);
    for (int i = 3; i < 8; ++i)
      requests[static_cast<std::size_t>(i)] = start_sum(memories[static_cast<std::size_t>(i)], i);
  }
  MPI_Waitall(8, requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < 8; ++i) expect_sum(memories[static_cast<std::size_t>(i)], i);
}

/// Nor those after it. Ranks get ready with the 16th and the 64th, too, though kernels do them already. Each
/// is the first of three here, which are waited for in reverse order. A late rank begins it before all
/// others, as it knows at once that all agree, and stays away: so getting ready is not over when the kernels
/// are.
TEST_F(OneShotNonblocking, get_ready_once_more_without_holding_up_later_ones) {
  std::vector<Memory> memories;
  for (int i = 0; i < 3; ++i) memories.push_back(numbers_on_device(world, numbers));
  make_anew();
  get_ready(memories[0]);
  for (int round = 0; round < 24; ++round) {
    const auto stay_away = std::chrono::milliseconds(world.rank == round % world.size ? 5 : 0);
    std::this_thread::sleep_for(stay_away);
    std::array<MPI_Request, 3> requests{};
    for (std::size_t i = 0; i < 3; ++i) {
      requests[i] = start_sum(memories[i], round + static_cast<int>(i));
      if (i == 0) std::this_thread::sleep_for(stay_away);
    }
    for (const std::size_t next : {2, 1, 0}) wait(requests[next]);
    for (std::size_t i = 0; i < 3; ++i) expect_sum(memories[i], round + static_cast<int>(i));
  }
}

TEST_F(OneShotNonblocking, wait_for_a_late_rank) {
  Memory memory = numbers_on_device(world, numbers);
  Memory blocking = numbers_on_device(world, numbers);
  get_ready(memory);
  for (int late = 0; late < world.size; ++late) {
    if (world.rank == late) std::this_thread::sleep_for(std::chrono::milliseconds(60));
    MPI_Request request = start_sum(memory, late);
    write_all(blocking, 5 * late + world.rank);
    MPI_Allreduce(MPI_IN_PLACE, blocking.data(), numbers, MPI_INT, MPI_SUM, communicator);
    wait(request);
    expect_sum(memory, late);
    expect_sum(blocking, 5 * late);
  }
}

/// What has been queued before the call is in the sum, and what is queued after it waits for nothing.
TEST_F(OneShotNonblocking, begin_after_what_the_application_has_queued) {
  Memory memory = numbers_on_device(world, numbers);
  get_ready(memory);
  constexpr std::size_t large = std::size_t{8} << 20;
  Memory source(MemoryKind::pinned, large, world.rank % gpu_count());
  Memory target(MemoryKind::device, large, world.rank % gpu_count());
  std::vector<int> own(numbers);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < numbers; ++i) own[static_cast<std::size_t>(i)] = round + world.rank + i;
    target.write_in_stream_order(0, source.data(), large);
    source.write(0, own.data(), vector_bytes);
    memory.write_in_stream_order(0, source.data(), vector_bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, memory.data(), numbers, MPI_INT, MPI_SUM, communicator, &request);
    target.write_in_stream_order(0, source.data(), large);
    wait(request);
    expect_sum(memory, round);
  }
}

TEST_F(OneShotNonblocking, of_every_kind_deliver_what_they_should) {
  EachKind kinds(world, numbers);
  get_ready(kinds.sent());
  const void* const sent = kinds.sent().data();
  for (int round = 0; round < 20; ++round) {
    kinds.write(round);
    std::array<MPI_Request, EachKind::kinds> requests{};
    MPI_Iallgather(sent, numbers, MPI_INT, kinds.received(0), numbers, MPI_INT, communicator, &requests[0]);
    MPI_Ialltoall(sent, numbers, MPI_INT, kinds.received(1), numbers, MPI_INT, communicator, &requests[1]);
    MPI_Ireduce_scatter_block(sent, kinds.received(2), numbers, MPI_INT, MPI_SUM, communicator, &requests[2]);
    MPI_Iscan(sent, kinds.received(3), numbers, MPI_INT, MPI_SUM, communicator, &requests[3]);
    MPI_Iexscan(sent, kinds.received(4), numbers, MPI_INT, MPI_SUM, communicator, &requests[4]);
    const int root = kinds.root();
    MPI_Igather(sent, numbers, MPI_INT, kinds.received(5), numbers, MPI_INT, root, communicator,
                &requests[5]);
    MPI_Iscatter(sent, numbers, MPI_INT, kinds.received(6), numbers, MPI_INT, root, communicator,
                 &requests[6]);
    MPI_Ireduce(sent, kinds.received(7), numbers, MPI_INT, MPI_SUM, root, communicator, &requests[7]);
    MPI_Ialltoallv(sent, kinds.sent_counts(), kinds.sent_displacements(), MPI_INT, kinds.received(8),
                   kinds.received_counts(), kinds.received_displacements(), MPI_INT, communicator,
                   &requests[8]);
    MPI_Waitall(EachKind::kinds, requests.data(), MPI_STATUSES_IGNORE);
    kinds.expect_right(round);
  }
}

/// Run where the driver's faults can be set, with a GPU for each rank, and no kernel that stands by.
TEST_F(OneShotNonblocking, DISABLED_that_one_rank_cannot_do_are_an_MPI_error_on_all) {
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  Memory memory = numbers_on_device(world, numbers);
  // the first non-blocking ones do not tell that there is a GPU, but blocking ones before them do
  for (int i = 0; i < 6; ++i)
    MPI_Allreduce(MPI_IN_PLACE, memory.data(), numbers, MPI_INT, MPI_SUM, communicator);
  begin_in_host_memory();
  get_ready(memory);
  MPI_Barrier(MPI_COMM_WORLD);
  const bool is_faulty = world.rank == world.size - 1;
  if (is_faulty) faulty_driver_fail("cuLaunchKernel:700");
  MPI_Request request = start_sum(memory, 1);
  EXPECT_NE(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  if (is_faulty) faulty_driver_fail("");
  // and go another way from then on
  for (int value = 0; value < 5; ++value) {
    request = start_sum(memory, value);
    wait(request);
    expect_sum(memory, value);
  }
}

/// The same, of a communicator whose first ones are in host memory: its ranks get ready with a later one.
TEST_F(OneShotNonblocking, DISABLED_that_come_after_others_and_one_rank_cannot_do_are_an_MPI_error_on_all) {
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  begin_in_host_memory();
  Memory memory = numbers_on_device(world, numbers);
  for (int value = 0; value < 16; ++value) {
    MPI_Request request = start_sum(memory, value);
    wait(request);
    expect_sum(memory, value);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const bool is_faulty = world.rank == world.size - 1;
  if (is_faulty) faulty_driver_fail("cuLaunchKernel:700");
  MPI_Request request = start_sum(memory, 1);
  EXPECT_NE(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  if (is_faulty) faulty_driver_fail("");
}

}  // namespace
}  // namespace penstock::test_support
