// Windows of messages so small that they travel through the MPI library, and so are copied from and to the
// devices at both ends: what is posted together, what comes together, and in which order. And larger ones
// between devices and host memory, which are copied together, too.
#include <array>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

using Requests = std::vector<MPI_Request>;

constexpr int rounds = 4;
constexpr int tag = 5;

/// Places in one allocation, each at an alignment of its own and with bytes around it that nobody may touch.
class Places {
 public:
  Places(MemoryKind kind, std::size_t bytes, std::size_t count)
      : memory_(kind, count * (bytes + gap_bytes), own_device()), bytes_(bytes), count_(count) {}

  [[nodiscard]] std::byte* at(std::size_t index) const { return memory_.data() + offset(index); }
  [[nodiscard]] int bytes() const { return static_cast<int>(bytes_); }
  [[nodiscard]] std::size_t count() const { return count_; }

  /// Payloads of seeds that follow each other.
  void write(std::uint64_t seed) {
    const Bytes content = whole(seed);
    memory_.write(0, content.data(), content.size());
  }
  void clear() {
    const Bytes content(memory_.size(), untouched);
    memory_.write(0, content.data(), content.size());
  }
  [[nodiscard]] Bytes read_one(std::size_t index) const {
    const Bytes all = read();
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(offset(index));
    return {first, first + static_cast<std::ptrdiff_t>(bytes_)};
  }
  [[nodiscard]] bool holds(std::uint64_t seed) const { return read() == whole(seed); }
  void expect(std::uint64_t seed) const { EXPECT_EQ(read(), whole(seed)); }

 private:
  static constexpr std::size_t gap_bytes = 32;
  static constexpr std::byte untouched{0x5a};

  [[nodiscard]] std::size_t offset(std::size_t index) const {
    return index * (bytes_ + gap_bytes) + index * 3 % 17;
  }
  [[nodiscard]] Bytes read() const {
    Bytes content(memory_.size());
    memory_.read(0, content.data(), content.size());
    return content;
  }
  [[nodiscard]] Bytes whole(std::uint64_t seed) const {
    Bytes content(memory_.size(), untouched);
    for (std::size_t i = 0; i < count_; ++i) {
      const Bytes one = payload(bytes_, seed + i);
      std::copy(one.begin(), one.end(), content.begin() + static_cast<std::ptrdiff_t>(offset(i)));
    }
    return content;
  }

  Memory memory_;
  std::size_t bytes_;
  std::size_t count_;
};

int other() {
  return 1 - rank();
}
std::uint64_t seed_of(int sender, int round) {
  return 1000 * static_cast<std::uint64_t>(round + 1) + 100'000 * static_cast<std::uint64_t>(sender + 1);
}

void receive(const Places& places, std::size_t index, Requests& requests) {
  MPI_Irecv(places.at(index), places.bytes(), MPI_BYTE, other(), tag, MPI_COMM_WORLD,
            &requests.emplace_back());
}
void send(const Places& places, std::size_t index, Requests& requests) {
  MPI_Isend(places.at(index), places.bytes(), MPI_BYTE, other(), tag, MPI_COMM_WORLD,
            &requests.emplace_back());
}

void wait_for_all(Requests& requests) {
  std::vector<MPI_Status> statuses(requests.size());
  ASSERT_EQ(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), statuses.data()), MPI_SUCCESS);
}
void wait_one_by_one(Requests& requests) {
  for (MPI_Request& request : requests) ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
}
void wait_last_first(Requests& requests) {
  for (auto request = requests.rbegin(); request != requests.rend(); ++request)
    ASSERT_EQ(MPI_Wait(&*request, MPI_STATUS_IGNORE), MPI_SUCCESS);
}
void wait_for_any(Requests& requests) {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    int index = MPI_UNDEFINED;
    ASSERT_EQ(MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &index, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    ASSERT_NE(index, MPI_UNDEFINED);
  }
}
void wait_for_some(Requests& requests) {
  std::vector<int> indices(requests.size());
  for (std::size_t done = 0; done < requests.size();) {
    int count = 0;
    ASSERT_EQ(MPI_Waitsome(static_cast<int>(requests.size()), requests.data(), &count, indices.data(),
                           MPI_STATUSES_IGNORE),
              MPI_SUCCESS);
    done += static_cast<std::size_t>(count);
  }
}
void test_all(Requests& requests) {
  for (int flag = 0; flag == 0;)
    ASSERT_EQ(MPI_Testall(static_cast<int>(requests.size()), requests.data(), &flag, MPI_STATUSES_IGNORE),
              MPI_SUCCESS);
}
void test_last_first(Requests& requests) {
  for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
    for (int flag = 0; flag == 0;) ASSERT_EQ(MPI_Test(&*request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
}
void ask_and_wait(Requests& requests) {
  for (MPI_Request& request : requests) {
    for (int flag = 0; flag == 0;) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
}

using Complete = void (*)(Requests& requests);
constexpr std::array<Complete, 8> all_ways = {wait_for_all,  wait_one_by_one, wait_last_first, wait_for_any,
                                              wait_for_some, test_all,        test_last_first, ask_and_wait};

void exchange_windows(MemoryKind source, MemoryKind destination, std::size_t bytes, std::size_t window,
                      Complete complete) {
  Places sent(source, bytes, window);
  Places received(destination, bytes, window);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(testing::Message() << window << " messages of " << bytes << " bytes, round " << round);
    sent.write(seed_of(rank(), round));
    received.clear();
    Requests requests;
    for (std::size_t i = 0; i < window; ++i) receive(received, i, requests);
    for (std::size_t i = 0; i < window; ++i) send(sent, i, requests);
    complete(requests);
    received.expect(seed_of(other(), round));
  }
}

TEST(SmallWindows, both_ways_are_completed_in_every_way) {
  if (rank() > 1) return;
  for (const Complete complete : all_ways)
    exchange_windows(MemoryKind::device, MemoryKind::device, 8, 64, complete);
}

TEST(SmallWindows, of_all_sizes_and_lengths) {
  if (rank() > 1) return;
  for (const std::size_t bytes : {1u, 7u, 8u, 63u, 64u, 65u, 4096u, 4097u, 16383u, 16384u}) {
    for (const std::size_t window : {1u, 2u, 3u, 33u, 100u})
      exchange_windows(MemoryKind::device, MemoryKind::device, bytes, window, wait_for_all);
  }
}

TEST(SmallWindows, between_all_kinds_of_memory) {
  if (rank() > 1) return;
  for (const MemoryKind source : test_support::memory_kinds) {
    for (const MemoryKind destination : test_support::memory_kinds) {
      for (const std::size_t bytes : {8u, 1000u})
        exchange_windows(source, destination, bytes, 16, wait_for_all);
    }
  }
}

TEST(SmallWindows, and_larger_ones_between_devices_and_host_memory) {
  if (rank() > 1) return;
  for (const MemoryKind host : {MemoryKind::pinned, MemoryKind::pageable}) {
    for (const std::size_t bytes : {4097u, 20'000u, 65'536u, 300'001u}) {
      exchange_windows(MemoryKind::device, host, bytes, 40, wait_for_all);
      exchange_windows(host, MemoryKind::device, bytes, 40, wait_for_all);
    }
  }
}

/// Which MPI forbids, but benchmarks do. All messages hold the same bytes.
TEST(SmallWindows, into_one_buffer) {
  if (rank() > 1) return;
  for (const Complete complete : all_ways) {
    Buffer sent(MemoryKind::device, 8);
    const Buffer received(MemoryKind::device, 8);
    for (int round = 0; round < rounds; ++round) {
      sent.write(payload(8, seed_of(rank(), round)));
      Requests requests;
      for (int i = 0; i < 64; ++i) {
        MPI_Irecv(received.data(), 8, MPI_BYTE, other(), tag, MPI_COMM_WORLD, &requests.emplace_back());
      }
      for (int i = 0; i < 64; ++i) {
        MPI_Isend(sent.data(), 8, MPI_BYTE, other(), tag, MPI_COMM_WORLD, &requests.emplace_back());
      }
      complete(requests);
      EXPECT_EQ(received.read(), payload(8, seed_of(other(), round)));
      EXPECT_TRUE(received.guard_is_intact());
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
}

TEST(SmallWindows, that_have_come_before_they_are_received) {
  if (rank() > 1) return;
  Places sent(MemoryKind::device, 8, 64);
  Places received(MemoryKind::device, 8, 64);
  for (int round = 0; round < rounds; ++round) {
    sent.write(seed_of(rank(), round));
    received.clear();
    Requests sends;
    for (std::size_t i = 0; i < 64; ++i) send(sent, i, sends);
    MPI_Barrier(MPI_COMM_WORLD);
    Requests receives;
    for (std::size_t i = 0; i < 64; ++i) receive(received, i, receives);
    wait_one_by_one(receives);
    wait_for_all(sends);
    received.expect(seed_of(other(), round));
  }
}

TEST(SmallWindows, with_a_receive_that_is_cancelled_and_one_that_is_freed) {
  if (rank() > 1) return;
  Places sent(MemoryKind::device, 8, 16);
  Places received(MemoryKind::device, 8, 16);
  const Buffer never(MemoryKind::device, 8, 3);
  for (int round = 0; round < rounds; ++round) {
    sent.write(seed_of(rank(), round));
    received.clear();
    MPI_Request cancelled = MPI_REQUEST_NULL;
    MPI_Irecv(never.data(), 8, MPI_BYTE, other(), tag + 1, MPI_COMM_WORLD, &cancelled);
    Requests requests;
    for (std::size_t i = 0; i < 16; ++i) receive(received, i, requests);
    MPI_Request_free(&requests[7]);
    requests.erase(requests.begin() + 7);
    for (std::size_t i = 0; i < 16; ++i) send(sent, i, requests);
    MPI_Cancel(&cancelled);
    wait_for_all(requests);
    MPI_Status status;
    MPI_Wait(&cancelled, &status);
    int was_cancelled = 0;
    MPI_Test_cancelled(&status, &was_cancelled);
    EXPECT_EQ(was_cancelled, 1);
    // of the freed one MPI does not tell
    while (!received.holds(seed_of(other(), round))) {
      int flag = 0;
      MPI_Iprobe(other(), tag + 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_EQ(never.read(), payload(8, 3));
  }
}

TEST(SmallWindows, with_a_receive_that_is_too_short_deliver_all_others) {
  if (rank() > 1) return;
  const ErrorsReturned errors_returned;
  Places sent(MemoryKind::device, 8, 16);
  Places received(MemoryKind::device, 8, 16);
  const Buffer shorter(MemoryKind::device, 4, 3);
  for (int round = 0; round < rounds; ++round) {
    sent.write(seed_of(rank(), round));
    received.clear();
    Requests requests;
    for (std::size_t i = 0; i < 16; ++i) {
      if (i == 5)
        MPI_Irecv(shorter.data(), 4, MPI_BYTE, other(), tag, MPI_COMM_WORLD, &requests.emplace_back());
      receive(received, i, requests);
    }
    for (std::size_t i = 0; i < 16; ++i) {
      if (i == 5) send(sent, i, requests);
      send(sent, i, requests);
    }
    std::vector<MPI_Status> statuses(requests.size());
    EXPECT_EQ(class_of(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), statuses.data())),
              MPI_ERR_IN_STATUS);
    for (std::size_t i = 0; i < statuses.size(); ++i)
      EXPECT_EQ(class_of(statuses[i].MPI_ERROR), i == 5 ? MPI_ERR_TRUNCATE : MPI_SUCCESS) << i;
    received.expect(seed_of(other(), round));
    EXPECT_TRUE(shorter.guard_is_intact());
  }
}

/// Windows so far, as a program has them that posts as many in each step: sends may be held back for others
/// from the third on.
void pass_windows(const Places& sent, const Places& received, int windows) {
  for (int round = 0; round < windows; ++round) {
    Requests requests;
    for (std::size_t i = 0; i < received.count(); ++i) receive(received, i, requests);
    for (std::size_t i = 0; i < sent.count(); ++i) send(sent, i, requests);
    wait_for_all(requests);
  }
}

constexpr std::size_t usual = 16;

/// After usual windows, one of a few messages only, behind which `go_on` calls something else of MPI. All
/// must come, in their order.
template <typename GoOn>
void expect_a_shorter_window_to_leave_before(GoOn go_on) {
  if (rank() > 1) return;
  for (const std::size_t length : {1u, 2u, 3u, 15u}) {
    SCOPED_TRACE(testing::Message() << length << " instead of " << usual);
    Places sent(MemoryKind::device, 8, usual);
    Places received(MemoryKind::device, 8, usual);
    sent.write(seed_of(rank(), 0));
    received.clear();
    pass_windows(sent, received, 3);
    Places few(MemoryKind::device, 8, length);
    Places of_other(MemoryKind::device, 8, length);
    few.write(seed_of(rank(), 1));
    of_other.clear();
    Requests receives;
    Requests sends;
    for (std::size_t i = 0; i < length; ++i) receive(of_other, i, receives);
    for (std::size_t i = 0; i < length; ++i) send(few, i, sends);
    go_on(receives, sends);
    wait_for_all(receives);
    wait_for_all(sends);
    of_other.expect(seed_of(other(), 1));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(ShorterWindow, leaves_before_a_barrier) {
  expect_a_shorter_window_to_leave_before([](Requests&, Requests&) { MPI_Barrier(MPI_COMM_WORLD); });
}

TEST(ShorterWindow, leaves_before_its_receives_alone_are_waited_for) {
  expect_a_shorter_window_to_leave_before([](Requests& receives, Requests&) { wait_for_all(receives); });
}

TEST(ShorterWindow, leaves_before_its_sends_alone_are_tested) {
  expect_a_shorter_window_to_leave_before([](Requests& receives, Requests& sends) {
    test_last_first(sends);
    wait_last_first(receives);
  });
}

TEST(ShorterWindow, leaves_before_a_call_that_has_nothing_to_do_with_it) {
  expect_a_shorter_window_to_leave_before([](Requests& receives, Requests&) {
    EXPECT_GE(MPI_Wtime(), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    wait_for_any(receives);
  });
}

TEST(ShorterWindow, leaves_although_its_requests_are_freed) {
  expect_a_shorter_window_to_leave_before([](Requests& receives, Requests& sends) {
    for (MPI_Request& request : sends) MPI_Request_free(&request);
    wait_for_all(receives);
  });
}

TEST(ShorterWindow, that_cannot_be_cancelled_any_more_arrives) {
  expect_a_shorter_window_to_leave_before([](Requests& receives, Requests& sends) {
    MPI_Cancel(&sends.front());
    MPI_Status status;
    MPI_Wait(&sends.front(), &status);
    int was_cancelled = 1;
    MPI_Test_cancelled(&status, &was_cancelled);
    EXPECT_EQ(was_cancelled, 0);
    wait_for_all(receives);
  });
}

/// All ways to send follow each other, with one tag: messages must not overtake each other.
TEST(SmallWindows, keep_the_order_of_all_sends) {
  if (rank() > 1) return;
  constexpr std::size_t length = 48;
  Places from_device(MemoryKind::device, 8, length);
  Places from_host(MemoryKind::pageable, 8, length);
  Places received(MemoryKind::device, 8, length);
  for (int round = 0; round < 3 * rounds; ++round) {
    from_device.write(seed_of(rank(), round));
    from_host.write(seed_of(rank(), round));
    received.clear();
    Requests requests;
    for (std::size_t i = 0; i < length; ++i) receive(received, i, requests);
    for (std::size_t i = 0; i < length; ++i) {
      const auto send_by = [&](auto isend, const Places& places) {
        isend(places.at(i), 8, MPI_BYTE, other(), tag, MPI_COMM_WORLD, &requests.emplace_back());
      };
      // rows of sends from a device, that something else ends in every third round
      const std::size_t kind = round % 3 == 0 ? i % 12 : 0;
      if (kind == 3) {
        send_by(MPI_Isend, from_host);
      } else if (kind == 6) {
        MPI_Send(from_host.at(i), 8, MPI_BYTE, other(), tag, MPI_COMM_WORLD);
      } else if (kind == 7) {
        MPI_Send(from_device.at(i), 8, MPI_BYTE, other(), tag, MPI_COMM_WORLD);
      } else if (kind == 10) {
        send_by(MPI_Issend, from_device);
      } else if (kind == 11) {
        send_by(MPI_Irsend, from_device);
      } else {
        send_by(MPI_Isend, from_device);
      }
    }
    wait_for_all(requests);
    received.expect(seed_of(other(), round));
  }
}

/// Behind what is too large to be held back, too.
TEST(SmallWindows, keep_the_order_of_small_and_large_messages) {
  if (rank() > 1) return;
  constexpr int large = 100'000;
  for (int round = 0; round < 3 * rounds; ++round) {
    Places sent(MemoryKind::device, 8, usual);
    Places received(MemoryKind::device, 8, usual);
    const Buffer large_sent(MemoryKind::device, large, seed_of(rank(), round));
    const Buffer large_received(MemoryKind::device, large);
    sent.write(seed_of(rank(), round));
    received.clear();
    const bool has_large = round % 4 == 3;
    Requests requests;
    for (std::size_t i = 0; i < usual; ++i) {
      if (i == 9 && has_large)
        MPI_Irecv(large_received.data(), large, MPI_BYTE, other(), tag, MPI_COMM_WORLD,
                  &requests.emplace_back());
      receive(received, i, requests);
    }
    for (std::size_t i = 0; i < usual; ++i) {
      if (i == 9 && has_large)
        MPI_Isend(large_sent.data(), large, MPI_BYTE, other(), tag, MPI_COMM_WORLD, &requests.emplace_back());
      send(sent, i, requests);
    }
    wait_for_all(requests);
    received.expect(seed_of(other(), round));
    if (has_large) {
      EXPECT_EQ(large_received.read(), payload(large, seed_of(other(), round)));
    }
  }
}

TEST(SmallWindows, to_the_own_rank) {
  Places sent(MemoryKind::device, 8, usual);
  Places received(MemoryKind::device, 8, usual);
  for (int round = 0; round < rounds; ++round) {
    sent.write(seed_of(rank(), round));
    received.clear();
    Requests requests;
    for (std::size_t i = 0; i < usual; ++i) {
      MPI_Isend(sent.at(i), 8, MPI_BYTE, rank(), tag, MPI_COMM_WORLD, &requests.emplace_back());
      MPI_Irecv(received.at(i), 8, MPI_BYTE, rank(), tag, MPI_COMM_WORLD, &requests.emplace_back());
    }
    wait_for_all(requests);
    received.expect(seed_of(rank(), round));
  }
}

TEST(SmallWindows, on_a_communicator_that_is_freed_before_they_are_waited_for) {
  if (rank() > 1) return;
  for (int round = 0; round < rounds; ++round) {
    Places sent(MemoryKind::device, 8, usual);
    Places received(MemoryKind::device, 8, usual);
    sent.write(seed_of(rank(), round));
    received.clear();
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    const std::size_t length = round == rounds - 1 ? 3 : usual;
    Requests requests;
    for (std::size_t i = 0; i < length; ++i)
      MPI_Irecv(received.at(i), 8, MPI_BYTE, other(), tag, own, &requests.emplace_back());
    for (std::size_t i = 0; i < length; ++i)
      MPI_Isend(sent.at(i), 8, MPI_BYTE, other(), tag, own, &requests.emplace_back());
    MPI_Comm_free(&own);
    wait_for_all(requests);
    if (length == usual) received.expect(seed_of(other(), round));
  }
}

/// Each payload is written by the GPU behind the one before, and sent at once.
TEST(SmallWindows, of_payloads_that_the_gpu_has_still_to_write) {
  if (rank() > 1) return;
  Memory sent(MemoryKind::device, usual * 8, own_device());
  Memory content(MemoryKind::pinned, usual * 8);
  Places received(MemoryKind::device, 8, usual);
  for (int round = 0; round < rounds; ++round) {
    received.clear();
    Requests requests;
    for (std::size_t i = 0; i < usual; ++i) receive(received, i, requests);
    for (std::size_t i = 0; i < usual; ++i) {
      const Bytes one = payload(8, seed_of(rank(), round) + i);
      content.write(i * 8, one.data(), one.size());
      sent.write_in_stream_order(i * 8, content.data() + i * 8, 8);
      MPI_Isend(sent.data() + i * 8, 8, MPI_BYTE, other(), tag, MPI_COMM_WORLD, &requests.emplace_back());
    }
    wait_for_all(requests);
    received.expect(seed_of(other(), round));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(SmallWindows, leave_alone_what_is_known_to_have_come_before_others) {
  if (rank() > 1) return;
  Places places(MemoryKind::device, 8, usual);
  if (rank() == 0) {
    places.write(seed_of(0, 0));
    Requests requests;
    send(places, 0, requests);
    // until the receiver has seen it and used its memory for something else
    MPI_Recv(nullptr, 0, MPI_BYTE, 1, tag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (std::size_t i = 1; i < usual; ++i) send(places, i, requests);
    wait_for_all(requests);
    return;
  }
  places.clear();
  Requests requests;
  for (std::size_t i = 0; i < usual; ++i) receive(places, i, requests);
  for (int flag = 0; flag == 0;) MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
  // what the first one holds from now on is not what came
  places.write(seed_of(0, 7));
  MPI_Send(nullptr, 0, MPI_BYTE, 0, tag + 1, MPI_COMM_WORLD);
  wait_last_first(requests);
  const Bytes first = places.read_one(0);
  EXPECT_EQ(first, payload(8, seed_of(0, 7)));
  EXPECT_EQ(places.read_one(1), payload(8, seed_of(0, 0) + 1));
}

TEST(SmallWindows, with_arguments_that_are_wrong_say_so_in_the_call) {
  if (rank() > 1) return;
  const ErrorsReturned errors_returned;
  Places sent(MemoryKind::device, 8, usual);
  Places received(MemoryKind::device, 8, usual);
  sent.write(seed_of(rank(), 0));
  received.clear();
  pass_windows(sent, received, 3);
  Requests requests;
  for (std::size_t i = 0; i < usual; ++i) receive(received, i, requests);
  for (std::size_t i = 0; i < usual; ++i) {
    MPI_Request none = MPI_REQUEST_NULL;
    if (i == 3) {
      EXPECT_EQ(class_of(MPI_Isend(sent.at(i), 8, MPI_BYTE, 1000, tag, MPI_COMM_WORLD, &none)), MPI_ERR_RANK);
    }
    if (i == 4) {
      EXPECT_EQ(class_of(MPI_Isend(sent.at(i), 8, MPI_BYTE, other(), -7, MPI_COMM_WORLD, &none)),
                MPI_ERR_TAG);
    }
    send(sent, i, requests);
  }
  wait_for_all(requests);
  received.expect(seed_of(other(), 0));
}

}  // namespace
}  // namespace penstock::programs
