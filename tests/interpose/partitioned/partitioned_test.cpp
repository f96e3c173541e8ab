// Partitioned messages of device buffers, from rank 0 to rank 1: what is sent is what each partition held
// when it was marked ready, and what has arrived is the program's.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include "interpose/binding/mpi_level.hpp"
#include "tests/programs/test_messages.hpp"

#if PENSTOCK_HAS_MPI_4

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "tests/interpose/partitioned/partitioned_types.hpp"
#include "tests/support/busy_gpu.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/random.hpp"

namespace penstock::test_support {
namespace {

constexpr int tag = 7;
constexpr auto gap = std::byte{0x5a};

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/// One side of a message of `ints` ints. A round's bytes differ from those of all other rounds.
class Side {
 public:
  Side(MemoryKind kind, const PartitionType& type, int ints, int partitions)
      : type_(type),
        partitions_(partitions),
        count_(ints / type.ints / partitions),
        memory_(kind, static_cast<std::size_t>(ints / type.ints) * type.extent) {
    clear();
  }
  ~Side() {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  void init_send() {
    ASSERT_EQ(MPI_Psend_init(memory_.data(), partitions_, count_, type_.handle, 1, tag, MPI_COMM_WORLD,
                             MPI_INFO_NULL, &request),
              MPI_SUCCESS);
  }
  void init_receive() {
    ASSERT_EQ(MPI_Precv_init(memory_.data(), partitions_, count_, type_.handle, 0, tag, MPI_COMM_WORLD,
                             MPI_INFO_NULL, &request),
              MPI_SUCCESS);
  }
  void clear() {
    const std::vector<std::byte> gaps(memory_.size(), gap);
    memory_.write(0, gaps.data(), gaps.size());
  }

  /// Returns a partition that holds its part of the payload, all gaps as clear() leaves them.
  [[nodiscard]] std::vector<std::byte> content(int partition, int round) const {
    std::vector<int> numbers(static_cast<std::size_t>(count_ * type_.ints));
    std::iota(numbers.begin(), numbers.end(), round * 100000 + partition * count_ * type_.ints);
    std::vector<std::byte> bytes(partition_bytes(), gap);
    int position = 0;
    MPI_Unpack(numbers.data(), static_cast<int>(numbers.size() * sizeof(int)), &position, bytes.data(),
               static_cast<int>(count_), type_.handle, MPI_COMM_SELF);
    return bytes;
  }
  void write(int partition, int round) {
    const std::vector<std::byte> bytes = content(partition, round);
    memory_.write(offset_of(partition), bytes.data(), bytes.size());
  }
  void write_all(int round) {
    for (int partition = 0; partition < partitions_; ++partition) write(partition, round);
  }
  [[nodiscard]] bool holds(int partition, int round) const {
    std::vector<std::byte> bytes(partition_bytes());
    memory_.read(offset_of(partition), bytes.data(), bytes.size());
    return bytes == content(partition, round);
  }
  void expect_all(int round) const {
    for (int partition = 0; partition < partitions_; ++partition)
      EXPECT_TRUE(holds(partition, round)) << "partition " << partition << " of round " << round;
  }

  [[nodiscard]] int partitions() const noexcept { return partitions_; }
  [[nodiscard]] std::size_t partition_bytes() const noexcept {
    return static_cast<std::size_t>(count_) * type_.extent;
  }
  [[nodiscard]] std::size_t offset_of(int partition) const noexcept {
    return static_cast<std::size_t>(partition) * partition_bytes();
  }
  [[nodiscard]] Memory& memory() noexcept { return memory_; }

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  PartitionType type_;
  int partitions_;
  MPI_Count count_;
  Memory memory_;
};

class Partitioned : public testing::Test {
 protected:
  Partitioned() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~Partitioned() override { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL); }

  /// Runs `send(side)` on rank 0 and `receive(side)` on rank 1, for device memory: with gaps, which is
  /// staged, or without.
  template <typename Send, typename Receive>
  void exchange(int send_partitions, int receive_partitions, Send send, Receive receive,
                bool has_gaps = true) {
    Side side(MemoryKind::device, types.all()[has_gaps ? 1 : 0], ints,
              rank == 0 ? send_partitions : receive_partitions);
    if (rank == 0) {
      side.init_send();
      send(side);
    } else if (rank == 1) {
      side.init_receive();
      receive(side);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  static void send_all(Side& side, int round) {
    EXPECT_EQ(MPI_Start(&side.request), MPI_SUCCESS);
    side.write_all(round);
    EXPECT_EQ(MPI_Pready_range(0, side.partitions() - 1, side.request), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&side.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  static void receive_all(Side& side, int round) {
    side.clear();
    EXPECT_EQ(MPI_Start(&side.request), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&side.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    side.expect_all(round);
  }

  static constexpr int ints = 720;
  int rank = 0;
  PartitionTypes types;
};

/// Receives that end as cancelled: what Penstock kept of them is used again for the next requests.
void cancel_receives(int own_rank) {
  Memory memory(MemoryKind::device, 64);
  std::array<MPI_Request, 8> requests{};
  for (MPI_Request& request : requests)
    MPI_Irecv(memory.data(), 64, MPI_BYTE, own_rank, tag, MPI_COMM_WORLD, &request);
  for (MPI_Request& request : requests) MPI_Cancel(&request);
  for (int flag = 0; flag == 0;) MPI_Testall(8, requests.data(), &flag, MPI_STATUSES_IGNORE);
}

TEST_F(Partitioned, messages_tell_a_status_of_their_own) {
  cancel_receives(rank);
  const auto expect_status = [](Side& side) {
    MPI_Status status;
    EXPECT_EQ(MPI_Waitall(1, &side.request, &status), MPI_SUCCESS);
    int is_cancelled = 0;
    MPI_Test_cancelled(&status, &is_cancelled);
    EXPECT_EQ(is_cancelled, 0);
  };
  exchange(
      3, 3,
      [&](Side& side) {
        MPI_Start(&side.request);
        MPI_Pready_range(0, 2, side.request);
        expect_status(side);
      },
      [&](Side& side) {
        MPI_Start(&side.request);
        expect_status(side);
      },
      false);
}

TEST_F(Partitioned, requests_freed_while_active_leave_nothing_behind) {
  std::set<MPI_Request> seen;
  for (int round = 1; round <= 40; ++round) {
    exchange(
        3, 3,
        [&](Side& side) {
          seen.insert(side.request);
          MPI_Start(&side.request);
          side.write_all(round);
          MPI_Pready_range(0, 2, side.request);
          MPI_Request_free(&side.request);
        },
        [&](Side& side) {
          seen.insert(side.request);
          MPI_Start(&side.request);
          MPI_Request_free(&side.request);
          while (!side.holds(0, round) || !side.holds(1, round) || !side.holds(2, round)) {
            int flag = 0;
            MPI_Iprobe(0, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
          }
        },
        round % 2 == 0);
  }
  EXPECT_LE(seen.size(), 10u);  // the MPI library uses a freed request again
}

TEST_F(Partitioned, no_partition_at_all_may_be_marked_ready) {
  exchange(
      4, 4,
      [&](Side& side) {
        int none = 0;
        MPI_Start(&side.request);
        EXPECT_EQ(MPI_Pready_list(0, &none, side.request), MPI_SUCCESS);
        side.write_all(1);
        EXPECT_EQ(MPI_Pready_range(0, 3, side.request), MPI_SUCCESS);
        EXPECT_EQ(MPI_Pready_list(0, &none, side.request), MPI_SUCCESS);
        EXPECT_EQ(MPI_Wait(&side.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
      },
      [&](Side& side) { receive_all(side, 1); }, false);
}

TEST_F(Partitioned, messages_arrive_in_memory_of_every_kind_whatever_the_partitions_and_types_of_both_sides) {
  constexpr std::array<std::array<int, 2>, 4> partitions = {{{1, 1}, {4, 4}, {6, 4}, {3, 12}}};
  std::size_t turn = 0;
  for (const MemoryKind from : memory_kinds) {
    for (const MemoryKind to : memory_kinds) {
      const auto [send_partitions, receive_partitions] = partitions[turn % partitions.size()];
      const PartitionType send_type = types.all()[turn % 3];
      const PartitionType receive_type = types.all()[(turn / 3) % 3];
      ++turn;
      SCOPED_TRACE(testing::Message()
                   << name_of(from) << " to " << name_of(to) << ", " << send_partitions << " x "
                   << send_type.name << " to " << receive_partitions << " x " << receive_type.name);
      Side side(rank == 0 ? from : to, rank == 0 ? send_type : receive_type, ints,
                rank == 0 ? send_partitions : receive_partitions);
      if (rank == 0) side.init_send();
      if (rank == 1) side.init_receive();
      for (int round = 1; round <= 3; ++round) {
        if (rank == 0) send_all(side, round);
        if (rank == 1) receive_all(side, round);
      }
      if (rank == 0) side.expect_all(3);  // the send buffer is as it was
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

TEST_F(Partitioned, messages_without_gaps_arrive_in_memory_of_every_kind_whichever_rank_is_late) {
  std::size_t turn = 0;
  for (const MemoryKind from : memory_kinds) {
    for (const MemoryKind to : memory_kinds) {
      SCOPED_TRACE(testing::Message() << name_of(from) << " to " << name_of(to));
      Side side(rank == 0 ? from : to, types.all()[0], ints, rank == 0 ? 6 : 4);
      // the other has begun by then, and the sender has all partitions ready
      if (static_cast<int>(++turn % 3) == rank) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      if (rank == 0) side.init_send();
      if (rank == 1) side.init_receive();
      if (rank == 0) send_all(side, 1);
      if (rank == 1) receive_all(side, 1);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

/// For recorded_job.sh.
TEST_F(Partitioned, messages_wait_for_their_last_partition) {
  Side side(MemoryKind::device, types.all()[0], ints, 2);
  if (rank == 0) side.init_send();
  if (rank == 1) side.init_receive();
  for (int round = 1; round <= 2 && rank < 2; ++round) {
    MPI_Start(&side.request);
    MPI_Barrier(MPI_COMM_WORLD);  // the receiver waits from here on, however long it took to get ready
    for (int partition = 0; rank == 0 && partition < 2; ++partition) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      side.write(partition, round);
      EXPECT_EQ(MPI_Pready(partition, side.request), MPI_SUCCESS);
    }
    EXPECT_EQ(MPI_Wait(&side.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    side.expect_all(round);
  }
}

/// More than a rank remembers of them.
TEST_F(Partitioned, messages_arrive_after_hundreds_of_others_in_host_memory_that_were_never_started) {
  for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::device}) {
    std::vector<std::unique_ptr<Side>> others;
    for (int i = 0; i < 150; ++i) {
      others.push_back(std::make_unique<Side>(kind, types.all()[0], 12, 2));
      if (rank == 0) others.back()->init_send();
      if (rank == 1) others.back()->init_receive();
    }
    for (const MemoryKind then : {MemoryKind::device, MemoryKind::pageable}) {
      Side side(rank == 0 ? MemoryKind::device : then, types.all()[0], ints, 3);
      if (rank == 0) side.init_send();
      if (rank == 1) side.init_receive();
      for (int round = 1; round <= 2; ++round) {
        if (rank == 0) send_all(side, round);
        if (rank == 1) receive_all(side, round);
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

TEST_F(Partitioned, messages_arrive_from_requests_that_are_made_and_freed_again_and_again) {
  for (int round = 1; round <= 300; ++round) {
    exchange(
        4, 2, [&](Side& side) { send_all(side, round); }, [&](Side& side) { receive_all(side, round); });
    Side plain(MemoryKind::device, types.all()[0], ints, 4);
    if (rank == 0) plain.init_send();
    if (rank == 1) plain.init_receive();
    if (rank == 0) send_all(plain, round);
    if (rank == 1) receive_all(plain, round);
  }
}

TEST_F(Partitioned, a_message_to_the_own_rank_arrives) {
  Memory sent(MemoryKind::device, 12 * sizeof(int));
  Memory received(MemoryKind::device, 12 * sizeof(int));
  std::vector<int> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 1);
  sent.write(0, numbers.data(), sent.size());
  std::array<MPI_Request, 2> requests{};
  MPI_Psend_init(sent.data(), 3, 4, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_INFO_NULL, requests.data());
  MPI_Precv_init(received.data(), 2, 6, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  EXPECT_EQ(MPI_Startall(2, requests.data()), MPI_SUCCESS);
  EXPECT_EQ(MPI_Pready_range(0, 2, requests[0]), MPI_SUCCESS);
  EXPECT_EQ(MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  std::vector<int> found(12);
  received.read(0, found.data(), received.size());
  EXPECT_EQ(found, numbers);
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

TEST_F(Partitioned, messages_send_what_each_partition_held_when_it_was_marked_ready) {
  exchange(
      6, 3,
      [&](Side& side) {
        for (int round = 1; round <= 5; ++round) {
          side.clear();
          MPI_Start(&side.request);
          std::array<int, 6> order = {0, 1, 2, 3, 4, 5};
          Random random(static_cast<std::uint64_t>(round));
          for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
          // one alone, two that are neighbours if they follow each other, the others as a list
          side.write(order[0], round);
          EXPECT_EQ(MPI_Pready(order[0], side.request), MPI_SUCCESS);
          for (std::size_t i = 1; i < 3; ++i) {
            side.write(order[i], round);
            EXPECT_EQ(MPI_Pready_range(order[i], order[i], side.request), MPI_SUCCESS);
          }
          for (std::size_t i = 3; i < 6; ++i) side.write(order[i], round);
          EXPECT_EQ(MPI_Pready_list(3, &order[3], side.request), MPI_SUCCESS);
          EXPECT_EQ(MPI_Wait(&side.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
      },
      [&](Side& side) {
        for (int round = 1; round <= 5; ++round) receive_all(side, round);
      });
}

TEST_F(Partitioned, MPI_Pready_waits_for_what_the_program_has_queued) {
  exchange(
      4, 4,
      [&](Side& side) {
        Memory pinned(MemoryKind::pinned, side.memory().size());
        MPI_Start(&side.request);
        for (int partition = 0; partition < 4; ++partition) {
          const std::vector<std::byte> content = side.content(partition, 1);
          pinned.write(side.offset_of(partition), content.data(), content.size());
          BusyGpu busy;
          side.memory().write_in_stream_order(side.offset_of(partition),
                                              pinned.data() + side.offset_of(partition), content.size());
          std::thread ends([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            busy.end();
          });
          EXPECT_EQ(MPI_Pready(partition, side.request), MPI_SUCCESS);
          ends.join();
        }
        EXPECT_EQ(MPI_Wait(&side.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
      },
      [&](Side& side) { receive_all(side, 1); });
}

TEST_F(Partitioned, an_arrived_partition_is_on_the_device_and_stays_as_the_program_leaves_it) {
  exchange(
      3, 6,
      [&](Side& side) {
        for (int round = 1; round <= 4; ++round) send_all(side, round);
      },
      [&](Side& side) {
        for (int round = 1; round <= 4; ++round) {
          side.clear();
          MPI_Start(&side.request);
          std::vector<int> waiting = {5, 0, 3};
          while (!waiting.empty()) {
            std::erase_if(waiting, [&](int partition) {
              int flag = 0;
              EXPECT_EQ(MPI_Parrived(side.request, partition, &flag), MPI_SUCCESS);
              if (flag == 0) return false;
              EXPECT_TRUE(side.holds(partition, round));
              side.write(partition, -round);  // it is the program's again
              EXPECT_EQ(MPI_Parrived(side.request, partition, &flag), MPI_SUCCESS);
              EXPECT_EQ(flag, 1);
              return true;
            });
          }
          EXPECT_EQ(MPI_Wait(&side.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
          for (int partition = 0; partition < 6; ++partition) {
            const bool is_changed = partition == 5 || partition == 0 || partition == 3;
            EXPECT_TRUE(side.holds(partition, is_changed ? -round : round)) << partition;
          }
        }
      });
}

TEST_F(Partitioned, MPI_Parrived_of_an_inactive_request_is_true) {
  exchange(
      2, 2, [&](Side& side) { send_all(side, 1); },
      [&](Side& side) {
        const auto is_true = [&] {
          int flag = 0;
          EXPECT_EQ(MPI_Parrived(side.request, 1, &flag), MPI_SUCCESS);
          return flag == 1;
        };
        EXPECT_TRUE(is_true());
        receive_all(side, 1);
        EXPECT_TRUE(is_true());
      });
}

TEST_F(Partitioned, partitions_may_be_marked_ready_by_many_threads_at_once) {
  if (programs::thread_level_asked_for != MPI_THREAD_MULTIPLE) GTEST_SKIP() << "one thread only";
  exchange(
      12, 4,
      [&](Side& side) {
        for (int round = 1; round <= 20; ++round) {
          side.clear();
          MPI_Start(&side.request);
          std::array<std::thread, 4> threads;
          for (int each = 0; each < 4; ++each) {
            threads[static_cast<std::size_t>(each)] = std::thread([&side, each, round] {
              for (int partition = each; partition < 12; partition += 4) {
                side.write(partition, round);
                EXPECT_EQ(MPI_Pready(partition, side.request), MPI_SUCCESS);
              }
            });
          }
          for (std::thread& thread : threads) thread.join();
          EXPECT_EQ(MPI_Wait(&side.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        }
      },
      [&](Side& side) {
        for (int round = 1; round <= 20; ++round) receive_all(side, round);
      });
}

TEST_F(Partitioned, requests_complete_in_every_call_and_count_as_done_while_inactive) {
  Side one(MemoryKind::device, types.all()[0], ints, rank == 0 ? 4 : 2);
  Side other(MemoryKind::managed, types.all()[2], ints, 3);
  Side never_started(MemoryKind::device, types.all()[0], ints, 1);
  for (Side* side : {&one, &other, &never_started}) {
    if (rank == 0) side->init_send();
    if (rank == 1) side->init_receive();
  }
  for (int round = 1; round <= 5 && rank < 2; ++round) {
    if (rank == 1) {
      one.clear();
      other.clear();
    }
    std::array<MPI_Request, 4> requests = {one.request, MPI_REQUEST_NULL, never_started.request,
                                           other.request};
    EXPECT_EQ(MPI_Start(requests.data()), MPI_SUCCESS);
    EXPECT_EQ(MPI_Startall(1, &requests[3]), MPI_SUCCESS);
    if (rank == 0) {
      one.write_all(round);
      other.write_all(round);
      EXPECT_EQ(MPI_Pready_range(0, 3, one.request), MPI_SUCCESS);
      EXPECT_EQ(MPI_Pready_range(0, 2, other.request), MPI_SUCCESS);
    }
    std::array<MPI_Status, 4> statuses{};
    if (round == 1) {
      EXPECT_EQ(MPI_Waitall(4, requests.data(), statuses.data()), MPI_SUCCESS);
      if (rank == 1) {
        int count = 0;
        MPI_Get_count(&statuses[0], MPI_INT, &count);
        EXPECT_EQ(count, ints);
        EXPECT_EQ(statuses[0].MPI_SOURCE, 0);
        EXPECT_EQ(statuses[0].MPI_TAG, tag);
      }
    } else if (round == 2) {
      for (int done = 0; done < 2; ++done) {
        int index = MPI_UNDEFINED;
        EXPECT_EQ(MPI_Waitany(4, requests.data(), &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
        EXPECT_TRUE(index == 0 || index == 3);
      }
    } else if (round == 3) {
      std::array<int, 4> indices{};
      for (int all = 0; all < 2;) {
        int done = 0;
        EXPECT_EQ(MPI_Testsome(4, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
        all += done;
      }
    } else if (round == 4) {
      for (int flag = 0; flag == 0;)
        EXPECT_EQ(MPI_Testall(4, requests.data(), &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    } else {
      for (MPI_Request& request : {std::ref(requests[0]), std::ref(requests[3])}) {
        int flag = 0;
        while (flag == 0) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        EXPECT_EQ(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
        EXPECT_EQ(flag, 1);
      }
    }
    int index = 0;
    EXPECT_EQ(MPI_Waitany(4, requests.data(), &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(index, MPI_UNDEFINED);
    if (rank == 1) {
      one.expect_all(round);
      other.expect_all(round);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(Partitioned, messages_outlive_their_datatype_and_communicator) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_dup(types.all()[1].handle, &type);
  Side side(MemoryKind::device, types.all()[1], ints, 4);
  if (rank == 0)
    MPI_Psend_init(side.memory().data(), 4, ints / 8, type, 1, tag, own, MPI_INFO_NULL, &side.request);
  if (rank == 1)
    MPI_Precv_init(side.memory().data(), 4, ints / 8, type, 0, tag, own, MPI_INFO_NULL, &side.request);
  MPI_Type_free(&type);
  MPI_Comm_free(&own);
  for (int round = 1; round <= 2; ++round) {
    if (rank == 0) send_all(side, round);
    if (rank == 1) receive_all(side, round);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(Partitioned, messages_to_and_from_nobody_are_done_at_once) {
  Memory memory(MemoryKind::device, 64);
  const std::vector<std::byte> before(64, gap);
  memory.write(0, before.data(), before.size());
  for (const bool sends : {true, false}) {
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(sends ? MPI_Psend_init(memory.data(), 4, 4, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD,
                                     MPI_INFO_NULL, &request)
                    : MPI_Precv_init(memory.data(), 4, 4, MPI_INT, MPI_PROC_NULL, tag, MPI_COMM_WORLD,
                                     MPI_INFO_NULL, &request),
              MPI_SUCCESS);
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(MPI_Start(&request), MPI_SUCCESS);
      int flag = 0;
      if (sends) {
        EXPECT_EQ(MPI_Pready(2, request), MPI_SUCCESS);
        EXPECT_EQ(MPI_Pready_range(0, 1, request), MPI_SUCCESS);
        int last = 3;
        EXPECT_EQ(MPI_Pready_list(1, &last, request), MPI_SUCCESS);
      } else {
        EXPECT_EQ(MPI_Parrived(request, 3, &flag), MPI_SUCCESS);
        EXPECT_EQ(flag, 1);
      }
      MPI_Status status;
      EXPECT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
      if (!sends) {
        EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
        EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
      }
    }
    EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
  }
  std::vector<std::byte> after(64);
  memory.read(0, after.data(), after.size());
  EXPECT_EQ(after, before);
}

TEST_F(Partitioned, messages_without_elements_complete) {
  Memory memory(MemoryKind::device, 64);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0)
    MPI_Psend_init(memory.data(), 2, 0, MPI_INT, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  if (rank == 1)
    MPI_Precv_init(memory.data(), 3, 0, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  if (rank < 2) {
    EXPECT_EQ(MPI_Start(&request), MPI_SUCCESS);
    if (rank == 0) MPI_Pready_range(0, 1, request);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// MPI forbids it; with host memory MPICH 4.0 crashes.
TEST_F(Partitioned, requests_freed_while_active_complete_all_the_same) {
  exchange(
      3, 3,
      [&](Side& side) {
        MPI_Start(&side.request);
        side.write_all(1);
        MPI_Pready_range(0, 2, side.request);
        EXPECT_EQ(MPI_Request_free(&side.request), MPI_SUCCESS);
        EXPECT_EQ(side.request, MPI_REQUEST_NULL);
      },
      [&](Side& side) {
        MPI_Start(&side.request);
        EXPECT_EQ(MPI_Request_free(&side.request), MPI_SUCCESS);
        while (!side.holds(0, 1) || !side.holds(1, 1) || !side.holds(2, 1)) {
          int flag = 0;
          MPI_Iprobe(0, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        }
      });
}

TEST_F(Partitioned, partitions_that_are_not_there_are_an_error_and_the_message_goes_on) {
  exchange(
      4, 4,
      [&](Side& side) {
        MPI_Start(&side.request);
        EXPECT_NE(MPI_Pready(4, side.request), MPI_SUCCESS);
        EXPECT_NE(MPI_Pready(-1, side.request), MPI_SUCCESS);
        EXPECT_NE(MPI_Pready_range(0, 4, side.request), MPI_SUCCESS);
        side.write_all(1);
        EXPECT_EQ(MPI_Pready_range(0, 3, side.request), MPI_SUCCESS);
        EXPECT_EQ(MPI_Wait(&side.request, MPI_STATUS_IGNORE), MPI_SUCCESS);
      },
      [&](Side& side) { receive_all(side, 1); });
}

int calls_of_handler = 0;
void count_call(MPI_Comm*, int*, ...) {
  ++calls_of_handler;
}

TEST_F(Partitioned, errors_go_to_the_error_handler_of_the_communicator) {
  calls_of_handler = 0;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(count_call, &handler);
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &own);
  MPI_Comm_set_errhandler(own, handler);
  char* freed = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&freed), 64);
  // seen once as device memory
  MPI_Sendrecv(freed, 32, MPI_BYTE, rank, 1, freed + 32, 32, MPI_BYTE, rank, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  cudaFree(freed);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(class_of(MPI_Psend_init(freed, 2, 4, MPI_INT, rank, tag, own, MPI_INFO_NULL, &request)),
            MPI_ERR_BUFFER);
  EXPECT_EQ(class_of(MPI_Precv_init(freed, 2, 4, MPI_INT, rank, tag, own, MPI_INFO_NULL, &request)),
            MPI_ERR_BUFFER);
  EXPECT_EQ(calls_of_handler, 2);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&own);
}

TEST_F(Partitioned, absolute_addresses_of_device_memory_which_MPI_does_not_allow_are_refused) {
  Memory memory(MemoryKind::device, 64);
  const int length = 4;
  MPI_Aint address = 0;
  MPI_Get_address(memory.data(), &address);
  MPI_Datatype absolute = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(
      class_of(MPI_Psend_init(MPI_BOTTOM, 1, 1, absolute, 1, tag, MPI_COMM_WORLD, MPI_INFO_NULL, &request)),
      MPI_ERR_BUFFER);
  MPI_Type_free(&absolute);
}

}  // namespace
}  // namespace penstock::test_support

#else

TEST(Partitioned, messages_are_not_there_before_MPI_4) {
  GTEST_SKIP() << "this MPI has no partitioned communication";
}

#endif
