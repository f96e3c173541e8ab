// Blocking calls in which Penstock has no part, made while messages are under way: the rank at the other end
// of a message comes to the call only once the message is through.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr std::size_t bytes = 1 << 20;

/// A collective call of both ranks, and what it needs.
struct WaitingCall {
  const char* name;
  std::function<void()> call;
};

/// A window and a file that live as long as the test. (Of shared memory, since Open MPI 4 makes no other
/// window where threads may call MPI at once.)
class Objects {
 public:
  Objects() {
    void* memory = nullptr;
    MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory), &window);
    std::array<char, 64> name{"/tmp/penstock-waiting-XXXXXX"};
    if (rank() == 0) ::close(::mkstemp(name.data()));
    MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_File_open(MPI_COMM_WORLD, name.data(), MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    MPI_Comm_group(MPI_COMM_WORLD, &group);
  }
  ~Objects() {
    MPI_Group_free(&group);
    MPI_File_close(&file);
    MPI_Win_free(&window);
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  MPI_Win window = MPI_WIN_NULL;
  MPI_File file = MPI_FILE_NULL;
  MPI_Group group = MPI_GROUP_NULL;
};

std::vector<WaitingCall> waiting_calls(const Objects& objects) {
  return {
      {"MPI_Win_fence", [&] { MPI_Win_fence(0, objects.window); }},
      {"MPI_Win_allocate_shared",
       [] {
         void* memory = nullptr;
         MPI_Win window = MPI_WIN_NULL;
         MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory), &window);
         MPI_Win_free(&window);
       }},
#ifndef OPEN_MPI
      {"MPI_Win_create",
       [] {
         int memory = 0;
         MPI_Win window = MPI_WIN_NULL;
         MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
         MPI_Win_free(&window);
       }},
#endif
      {"MPI_File_write_at_all",
       [&] {
         const int number = rank();
         MPI_File_write_at_all(objects.file, 4 * number, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
       }},
      {"MPI_File_write_ordered",
       [&] {
         const int number = rank();
         MPI_File_write_ordered(objects.file, &number, 1, MPI_INT, MPI_STATUS_IGNORE);
       }},
      {"MPI_File_set_size", [&] { MPI_File_set_size(objects.file, 4096); }},
      {"MPI_Comm_create_group",
       [&] {
         MPI_Comm made = MPI_COMM_NULL;
         MPI_Comm_create_group(MPI_COMM_WORLD, objects.group, 3, &made);
         MPI_Comm_free(&made);
       }},
      {"MPI_Intercomm_create",
       [] {
         MPI_Comm made = MPI_COMM_NULL;
         MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank(), 4, &made);
         MPI_Comm_disconnect(&made);
       }},
  };
}

/// Columns of a matrix: the owner packs them, so the receiver cannot fetch by itself.
class Columns {
 public:
  Columns() {
    MPI_Type_vector(1024, 512, 1024, MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  ~Columns() { MPI_Type_free(&type_); }
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

TEST(WaitingCalls, a_sender_that_waits_in_one_still_serves_a_receiver_without_a_transport_to_its_memory) {
  const Objects objects;
  for (const WaitingCall& waiting : waiting_calls(objects)) {
    test_support::progress("%s", waiting.name);
    const Buffer buffer(MemoryKind::async_pool, bytes, rank() == 0 ? 10 : 0);
    if (rank() == 0) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
      waiting.call();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(buffer.read(), payload(bytes, 10)) << waiting.name;
      waiting.call();
    }
  }
}

TEST(WaitingCalls, a_sender_that_waits_in_one_still_packs_what_lies_in_pieces) {
  const Objects objects;
  const Columns columns;
  for (const WaitingCall& waiting : waiting_calls(objects)) {
    test_support::progress("%s", waiting.name);
    const Buffer buffer(MemoryKind::device, bytes, 20);
    if (rank() == 0) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(buffer.data(), 1, columns.get(), 1, 1, MPI_COMM_WORLD, &request);
      waiting.call();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(buffer.data(), 1, columns.get(), 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(buffer.read(), payload(bytes, 20)) << waiting.name;
      waiting.call();
    }
  }
}

TEST(WaitingCalls, a_receiver_that_has_begun_to_fetch_tells_the_sender_when_it_is_through) {
  const Objects objects;
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::async_pool}) {
    for (const WaitingCall& waiting : waiting_calls(objects)) {
      test_support::progress("%s, %s", waiting.name, name_of(kind));
      const Buffer buffer(kind, 16 * bytes, rank() == 0 ? 30 : 0);
      if (rank() == 0) {
        MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        waiting.call();
      } else {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        // until the message has come: from then on one more test begins to fetch it
        for (int arrived = 0, flag = 0; arrived < 3 && flag == 0; ++arrived) {
          MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
        waiting.call();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        EXPECT_EQ(buffer.read(), payload(16 * bytes, 30)) << waiting.name;
      }
    }
  }
}

TEST(WaitingCalls, a_message_that_is_received_after_one_is_delivered) {
  const Objects objects;
  for (const WaitingCall& waiting : waiting_calls(objects)) {
    test_support::progress("%s", waiting.name);
    const Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? 40 : 0);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank() == 0) {
      MPI_Issend(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
      waiting.call();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      waiting.call();
      MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(buffer.read(), payload(bytes, 40)) << waiting.name;
    }
  }
}

/// While one lives, no more descriptors can be had, so that nothing can be set aside. The limit stays above
/// those that are open: a GPU driver polls its own, which poll() refuses for more than the limit allows.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{static_cast<rlim_t>(highest_descriptor()) + 1, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int filler = dup(STDERR_FILENO); filler >= 0; filler = dup(STDERR_FILENO))
      fillers_.push_back(filler);
  }
  ~NoDescriptors() {
    for (const int filler : fillers_) close(filler);
    setrlimit(RLIMIT_NOFILE, &before_);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  static int highest_descriptor() {
    int highest = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
      highest = std::max(highest, std::stoi(entry.path().filename()));
    return highest;
  }

  rlimit before_{};
  std::vector<int> fillers_;
};

TEST(WaitingCalls, a_message_that_cannot_be_set_aside_waits_for_its_receiver_but_holds_up_no_call) {
  const Objects objects;
  const Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? 60 : 0);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 0) {
    const NoDescriptors none;
    MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    MPI_Win_fence(0, objects.window);
  } else {
    MPI_Win_fence(0, objects.window);
    MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank() == 1) {
    EXPECT_EQ(buffer.read(), payload(bytes, 60));
  }
}

/// A receive of device memory that is under way for as long as one lives: calls that wait then mind the
/// others.
class PendingReceive {
 public:
  explicit PendingReceive(MPI_Comm communicator) : buffer_(MemoryKind::device, bytes) {
    MPI_Irecv(buffer_.data(), buffer_.count(), MPI_BYTE, rank(), 99, communicator, &request_);
  }
  ~PendingReceive() {
    MPI_Cancel(&request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }
  PendingReceive(const PendingReceive&) = delete;
  PendingReceive& operator=(const PendingReceive&) = delete;

 private:
  Buffer buffer_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

TEST(WaitingCalls, a_collective_that_one_rank_had_to_call_again_leaves_later_ones_as_they_were) {
  const ErrorsReturned returned;
  MPI_Comm duplicate = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  const PendingReceive pending(duplicate);
  int number = 7 - 7 * rank();
  if (rank() == 0) {
    EXPECT_NE(MPI_Bcast(&number, -1, MPI_INT, 0, duplicate), MPI_SUCCESS);
    MPI_Comm made = MPI_COMM_NULL;
    EXPECT_NE(MPI_Comm_create(duplicate, MPI_GROUP_NULL, &made), MPI_SUCCESS);
  }
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(MPI_Bcast(&number, 1, MPI_INT, 0, duplicate), MPI_SUCCESS);
    EXPECT_EQ(MPI_Barrier(duplicate), MPI_SUCCESS);
  }
  EXPECT_EQ(number, 7);
  MPI_Comm_free(&duplicate);
}

TEST(WaitingCalls, communicators_made_behind_penstocks_back_may_be_used_in_any_order) {
  std::array<MPI_Comm, 2> made{};
  for (MPI_Comm& communicator : made) PMPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  const PendingReceive pending(MPI_COMM_WORLD);
  int flag = 0;
  for (const int i : {rank(), 1 - rank()}) {
    MPI_Iprobe(MPI_ANY_SOURCE, 1, made[static_cast<std::size_t>(i)], &flag, MPI_STATUS_IGNORE);
  }
  for (int round = 0; round < 3; ++round) {
    for (const MPI_Comm communicator : made) MPI_Barrier(communicator);
  }
  for (MPI_Comm& communicator : made) MPI_Comm_free(&communicator);
}

TEST(WaitingCalls, an_exchange_that_nobody_answers_yet_holds_nobody_up) {
#if PENSTOCK_HAS_MPI_4
  const Objects objects;
  for (const WaitingCall& waiting : waiting_calls(objects)) {
    test_support::progress("%s", waiting.name);
    const Buffer sent(MemoryKind::device, bytes, 50 + static_cast<std::uint64_t>(rank()));
    const Buffer received(MemoryKind::device, bytes);
    const int other = 1 - rank();
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank() == 1) waiting.call();
    MPI_Isendrecv(sent.data(), sent.count(), MPI_BYTE, other, 1, received.data(), received.count(), MPI_BYTE,
                  other, 1, MPI_COMM_WORLD, &request);
    if (rank() == 0) waiting.call();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(received.read(), payload(bytes, 50 + static_cast<std::uint64_t>(other))) << waiting.name;
  }
#else
  GTEST_SKIP() << "needs MPI-4";
#endif
}

/// A receiver needs the sender of such memory.
constexpr std::size_t served_bytes = 8 << 20;

TEST(PollingCalls, of_a_request_of_the_librarys_serve_a_receiver) {
  const Buffer buffer(MemoryKind::async_pool, served_bytes, rank() == 0 ? 30 : 0);
  int number = 0;
  if (rank() == 0) {
    std::array<MPI_Request, 2> requests{};
    MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Issend(&number, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &requests[1]);
    for (int flag = 0; flag == 0;) MPI_Request_get_status(requests[1], &flag, MPI_STATUS_IGNORE);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  } else {
    MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(buffer.read(), payload(served_bytes, 30));
    MPI_Recv(&number, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

#ifndef OPEN_MPI  // whose own such epochs (4.1) end the job
TEST(PollingCalls, of_a_window_of_the_librarys_serve_a_receiver) {
  const Objects objects;
  const Buffer buffer(MemoryKind::async_pool, served_bytes, rank() == 0 ? 31 : 0);
  const int other = 1 - rank();
  MPI_Group partner = MPI_GROUP_NULL;
  MPI_Group_incl(objects.group, 1, &other, &partner);
  if (rank() == 0) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Win_post(partner, 0, objects.window);
    MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
    for (int flag = 0; flag == 0;) MPI_Win_test(objects.window, &flag);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(buffer.read(), payload(served_bytes, 31));
    MPI_Win_start(partner, 0, objects.window);
    MPI_Win_complete(objects.window);
  }
  MPI_Group_free(&partner);
}
#endif

TEST(WaitingCalls, return_though_another_thread_keeps_messages_under_way) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "one thread";
  constexpr std::size_t window = 16;
  constexpr std::size_t each = 200'000;
  constexpr int last = 2;
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < (rank() == 0 ? window : 1); ++i)
    buffers.emplace_back(MemoryKind::device, each, i);
  if (rank() == 0) {
    std::atomic<bool> is_back{false};
    std::atomic<std::size_t> sent{0};
    std::thread other([&] {
      std::array<MPI_Request, window> requests;
      requests.fill(MPI_REQUEST_NULL);
      for (std::size_t i = 0; !is_back; i = (i + 1) % window) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        MPI_Isend(buffers[i].data(), each, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
        ++sent;
      }
      MPI_Send(nullptr, 0, MPI_BYTE, 1, last, MPI_COMM_WORLD);
      MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
    });
    while (sent < 4 * window) std::this_thread::yield();
    std::array<char, 1000> attached{};
    void* detached = nullptr;
    int size = 0;
    for (int i = 0; i < 3; ++i) {
      MPI_Buffer_attach(attached.data(), static_cast<int>(attached.size()));
      MPI_Buffer_detach(static_cast<void*>(&detached), &size);
    }
    is_back = true;
    other.join();
  } else {
    for (MPI_Status status{}; status.MPI_TAG != last;) {
      MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);  // so the sender is ahead
      MPI_Recv(buffers[0].data(), each, MPI_BYTE, 0, status.MPI_TAG, MPI_COMM_WORLD, &status);
    }
  }
}

}  // namespace
}  // namespace penstock::programs
