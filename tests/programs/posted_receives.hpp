// What the tests of posted receives share: counts of what was written, a communicator of their own, messages
// between ranks 0 and 1.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {

inline constexpr int tag = 3;
inline constexpr std::size_t large = 3 << 20;

/// Of this process, so far.
struct Counts {
  long shown;
  long received;  ///< what was written to this rank's receives
  long sent;      ///< what this rank has written to others' receives
};

inline Counts counts() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm_get_info(MPI_COMM_WORLD, &info);
  const auto value_of = [&](const char* key) {
    std::array<char, 32> text{};
    int is_there = 0;
    MPI_Info_get(info, key, static_cast<int>(text.size()) - 1, text.data(), &is_there);
    return is_there != 0 ? std::strtol(text.data(), nullptr, 10) : 0;
  };
  const Counts all{value_of("penstock_receives_shown"), value_of("penstock_receives_written"),
                   value_of("penstock_sends_written")};
  MPI_Info_free(&info);
  return all;
}

/// Each test has a communicator of its own, as some end what this is about on theirs.
class PostedReceives : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
    MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
    before_ = counts();
  }
  void TearDown() override {
    if (communicator_ != MPI_COMM_NULL) MPI_Comm_free(&communicator_);
  }

  /// Sends are written from rank 0 to rank 1 since the last call, or the test's begin.
  void expect_written(long messages) {
    const Counts now = counts();
    if (rank() == 0) {
      EXPECT_EQ(now.sent - before_.sent, messages);
    }
    if (rank() == 1) {
      EXPECT_EQ(now.received - before_.received, messages);
    }
    before_ = now;
  }

  [[nodiscard]] MPI_Request send(const Buffer& buffer, int with_tag = tag) const {
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, with_tag, communicator_, &request),
              MPI_SUCCESS);
    return request;
  }
  [[nodiscard]] MPI_Request receive(const Buffer& buffer, int source = 0, int with_tag = tag) const {
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, source, with_tag, communicator_, &request),
              MPI_SUCCESS);
    return request;
  }
  static void wait(MPI_Request request) { EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS); }
  /// What happens on one rank before it happens before what follows on the other.
  static void meet() { MPI_Barrier(MPI_COMM_WORLD); }

  /// One message whose receive is posted first.
  void exchange(std::size_t bytes, MemoryKind source = MemoryKind::device,
                MemoryKind destination = MemoryKind::device) {
    const Buffer buffer(rank() == 0 ? source : destination, bytes, rank() == 0 ? 1 : 2);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank() == 1) request = receive(buffer);
    meet();
    if (rank() == 0) request = send(buffer);
    wait(request);
    if (rank() == 1) {
      EXPECT_TRUE(buffer.read() == payload(bytes, 1)) << bytes << " bytes";
      EXPECT_TRUE(buffer.guard_is_intact());
    }
  }

  MPI_Comm communicator_ = MPI_COMM_NULL;
  Counts before_{};
};

/// A word that both ranks see without MPI calls.
class SharedWord {
 public:
  SharedWord() {
    int* own = nullptr;
    const MPI_Aint bytes = rank() == 0 ? sizeof(int) : 0;
    MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window_);
    MPI_Aint shared_bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &shared_bytes, &unit, &word_);
    if (rank() == 0) *word_ = 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~SharedWord() { MPI_Win_free(&window_); }
  SharedWord(const SharedWord&) = delete;
  SharedWord& operator=(const SharedWord&) = delete;
  void set(int value) { std::atomic_ref(*word_).store(value); }
  void await(int value) const {
    while (std::atomic_ref(*word_).load() != value) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  int* word_ = nullptr;
};

}  // namespace penstock::programs
