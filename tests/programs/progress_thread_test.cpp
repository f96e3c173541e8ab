// With PENSTOCK_PROGRESS=thread transfers go on while a rank is in no MPI call. Ranks that wait outside MPI
// for what needs a transfer to go on would wait for ever without it, and the watchdog would say where.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "interpose/binding/mpi_level.hpp"
#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr std::size_t large_bytes = 3u << 20;

/// A word that both ranks see without MPI.
class SharedFlag {
 public:
  SharedFlag() {
    MPI_Win_allocate_shared(rank() == 0 ? sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &word_,
                            &window_);
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &word_);
    if (rank() == 0) word().store(0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~SharedFlag() { MPI_Win_free(&window_); }
  SharedFlag(const SharedFlag&) = delete;
  SharedFlag& operator=(const SharedFlag&) = delete;

  void raise() { word().store(1); }
  /// Outside MPI, as a rank that computes.
  void await() {
    while (word().load() == 0) ::usleep(100);
  }

 private:
  [[nodiscard]] std::atomic_ref<int> word() { return std::atomic_ref<int>(*word_); }
  int* word_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

/// Where /proc shows Penstock's thread, if there is one.
std::optional<std::filesystem::path> progress_thread() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    if (name == "penstock-step") return task.path();
  }
  return std::nullopt;
}

/// How often a thread has gone to sleep.
long sleeps_of(const std::filesystem::path& thread) {
  std::ifstream status(thread / "status");
  for (std::string word; status >> word;) {
    long count = -1;
    if (word == "voluntary_ctxt_switches:" && status >> count) return count;
  }
  return -1;
}

TEST(ProgressThread, is_there_and_the_application_is_told_the_level_it_asked_for) {
  while (!progress_thread().has_value()) ::usleep(100);  // it takes its name when it runs
  int level = -1;
  MPI_Query_thread(&level);
  EXPECT_EQ(level, thread_level_asked_for);
  int is_main = 0;
  MPI_Is_thread_main(&is_main);
  EXPECT_EQ(is_main, 1);
}

TEST(ProgressThread, a_sender_that_computes_serves_a_receiver_that_needs_it) {
  for (const std::size_t bytes : {std::size_t{4096}, large_bytes}) {
    SharedFlag received;
    const Buffer buffer(MemoryKind::async_pool, bytes, rank() == 0 ? bytes : 0);
    if (rank() == 0) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
      received.await();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank() == 1) {
      MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      received.raise();
      EXPECT_EQ(buffer.read(), payload(bytes, bytes));
    }
  }
}

TEST(ProgressThread, a_receiver_that_computes_pulls) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::async_pool, MemoryKind::pageable}) {
    SCOPED_TRACE(name_of(kind));
    SharedFlag sent;
    const Buffer buffer(kind, large_bytes, rank() == 1 ? 0 : 10);
    if (rank() == 1) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
      MPI_Barrier(MPI_COMM_WORLD);
      sent.await();
      EXPECT_EQ(buffer.read(), payload(large_bytes, 10));  // a synchronous send is over when all has arrived
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      const Buffer device(MemoryKind::device, large_bytes, 10);
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank() == 0) {
        MPI_Ssend(device.data(), device.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        sent.raise();
      }
    }
  }
}

TEST(ProgressThread, serves_persistent_operations_at_each_start) {
  Buffer buffer(MemoryKind::async_pool, large_bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank() == 0) MPI_Send_init(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
  for (std::uint64_t round = 0; round < 3; ++round) {
    SharedFlag received;
    if (rank() == 0) {
      buffer.write(payload(large_bytes, 20 + round));
      MPI_Start(&request);
      received.await();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank() == 1) {
      MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      received.raise();
      EXPECT_EQ(buffer.read(), payload(large_bytes, 20 + round));
    }
  }
  if (rank() == 0) MPI_Request_free(&request);
}

TEST(ProgressThread, a_receive_whose_request_is_freed_fills_its_buffer_without_another_call) {
  const Buffer buffer(MemoryKind::device, large_bytes, rank() == 0 ? 30 : 0);
  if (rank() == 1) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) {
    MPI_Ssend(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  } else if (rank() == 1) {
    while (buffer.read() != payload(large_bytes, 30)) ::usleep(1000);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

std::atomic<int> errors_raised{0};
std::atomic<int> errors_raised_elsewhere{0};  ///< in another thread than the program's
std::atomic<std::thread::id> programs_thread;
void note_error(MPI_Comm* /*communicator*/, int* /*code*/, ...) {
  if (std::this_thread::get_id() != programs_thread) ++errors_raised_elsewhere;
  ++errors_raised;
  ::usleep(20'000);  // as one that writes a log; the progress thread goes on meanwhile
}

/// Notes errors on the world while one lives.
class ErrorsNoted {
 public:
  ErrorsNoted() {
    errors_raised = 0;
    errors_raised_elsewhere = 0;
    programs_thread = std::this_thread::get_id();
    MPI_Comm_create_errhandler(note_error, &handler_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler_);
  }
  ~ErrorsNoted() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler_);
  }
  ErrorsNoted(const ErrorsNoted&) = delete;
  ErrorsNoted& operator=(const ErrorsNoted&) = delete;

 private:
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

/// Each of rank 0's `messages` is longer than the room that rank 1 has for it. `post` is what rank 1 does,
/// for each, before it computes, `after` what it does then.
template <typename Post, typename After>
void truncate(int messages, Post post, After after) {
  SharedFlag sent;
  const ErrorsNoted noted;
  const Buffer buffer(MemoryKind::device, large_bytes, rank() == 0 ? 40 : 0);
  if (rank() == 1)
    for (int i = 0; i < messages; ++i) post(buffer);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) {
    for (int i = 0; i < messages; ++i)
      MPI_Ssend(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    sent.raise();
  } else if (rank() == 1) {
    sent.await();
    EXPECT_EQ(errors_raised, 0);
    after();
    EXPECT_EQ(errors_raised, messages);
    EXPECT_EQ(errors_raised_elsewhere, 0);
  }
}

TEST(ProgressThread, leaves_the_error_of_a_receive_to_the_call_that_completes_it) {
  MPI_Request request = MPI_REQUEST_NULL;
  truncate(
      1,
      [&](const Buffer& buffer) {
        MPI_Irecv(buffer.data(), 100'000, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
      },
      [&] { EXPECT_EQ(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE); });
}

TEST(ProgressThread, leaves_the_errors_of_freed_receives_to_a_later_call) {
  constexpr int receives = 4;
  truncate(
      receives,
      [](const Buffer& buffer) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(buffer.data(), 100'000, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
      },
      [] {
        while (errors_raised < receives) {
          int flag = 0;
          MPI_Iprobe(0, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        }
      });
}

#if PENSTOCK_HAS_MPI_4
TEST(ProgressThread, leaves_the_error_of_an_exchange_to_the_call_that_completes_it) {
  MPI_Request request = MPI_REQUEST_NULL;
  truncate(
      1,
      [&](const Buffer& buffer) {
        MPI_Isendrecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 1, buffer.data(), 100'000, MPI_BYTE, 0, 1,
                      MPI_COMM_WORLD, &request);
      },
      [&] { EXPECT_EQ(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE); });
}
#endif

TEST(ProgressThread, sleeps_when_nothing_is_pending) {
  const auto thread = progress_thread();
  ASSERT_TRUE(thread.has_value());
  // it goes to sleep for good after a while; awake, it sleeps for at most a millisecond at a time
  for (long before = -1, now = sleeps_of(*thread); before != now;) {
    before = now;
    ::usleep(50'000);
    now = sleeps_of(*thread);
  }
}

TEST(ProgressThread, a_forked_child_is_without_it_and_may_exit) {
  const Buffer buffer(MemoryKind::device, large_bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &request);
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      int flag = 0;
      MPI_Initialized(&flag);
      ::_exit(flag == 1 && !progress_thread().has_value() ? 0 : 1);
    }
    int state = -1;
    EXPECT_EQ(::waitpid(child, &state, 0), child);
    EXPECT_EQ(state, 0);
  }
  EXPECT_TRUE(progress_thread().has_value());
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

TEST(ProgressThread, works_beside_an_application_that_calls_MPI_all_the_time) {
  if (rank() > 1) return;
  constexpr int messages = 200;
  for (int i = 0; i < messages; ++i) {
    const std::size_t bytes = std::size_t{1} << (i % 20);
    const Buffer sent(MemoryKind::async_pool, bytes, static_cast<std::uint64_t>(50 + rank()));
    const Buffer received(MemoryKind::device, bytes);
    MPI_Request requests[2];
    MPI_Irecv(received.data(), received.count(), MPI_BYTE, 1 - rank(), i, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent.data(), sent.count(), MPI_BYTE, 1 - rank(), i, MPI_COMM_WORLD, &requests[1]);
    for (int done = 0; done == 0;) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    ASSERT_EQ(received.read(), payload(bytes, static_cast<std::uint64_t>(51 - rank()))) << "message " << i;
  }
}

TEST(ProgressThread, MPI_Finalize_delivers_what_is_pending) {
  // that MPI_Finalize returns is seen by the program's end
  static const Buffer buffer(MemoryKind::async_pool, large_bytes, 60);
  if (rank() == 0) {
    MPI_Request dropped = MPI_REQUEST_NULL;
    MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 5, MPI_COMM_WORLD, &dropped);
  } else if (rank() == 1) {
    const Buffer received(MemoryKind::device, large_bytes);
    MPI_Recv(received.data(), received.count(), MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(received.read(), payload(large_bytes, 60));
  }
}

}  // namespace
}  // namespace penstock::programs
