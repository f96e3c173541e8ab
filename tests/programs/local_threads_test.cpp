// Several threads of one rank, each with a GPU of its own, send to one another: to their own rank, under
// MPI_THREAD_MULTIPLE. By the transport `local`, which threads_to_themselves.sh sees to.
#include <thread>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr int threads = 4;
constexpr std::size_t sizes[] = {64, 65, 3000, 65536, 65537, 200'000, 1'300'000};

int next_of(int thread) {
  return (thread + 1) % threads;
}
int previous_of(int thread) {
  return (thread + threads - 1) % threads;
}
std::uint64_t seed_of(int thread, int message) {
  return static_cast<std::uint64_t>(thread * 1000 + message);
}
int count(std::size_t bytes) {
  return static_cast<int>(bytes);
}

/// Memory on a thread's GPU.
Memory on_gpu_of(int thread, std::size_t bytes) {
  return Memory(MemoryKind::device, bytes, thread % test_support::gpu_count());
}
Memory filled_on_gpu_of(int thread, const Bytes& content) {
  Memory memory = on_gpu_of(thread, content.size());
  memory.write(0, content.data(), content.size());
  return memory;
}
Bytes content_of(const Memory& memory) {
  Bytes content(memory.size());
  memory.read(0, content.data(), content.size());
  return content;
}

class LocalThreads : public testing::Test {
 protected:
  void SetUp() override {
    int provided = 0;
    MPI_Query_thread(&provided);
    if (provided != MPI_THREAD_MULTIPLE) GTEST_SKIP() << "no MPI_THREAD_MULTIPLE";
    for (MPI_Comm& each : to_) MPI_Comm_dup(MPI_COMM_SELF, &each);
  }
  void TearDown() override {
    for (MPI_Comm& each : to_) {
      if (each != MPI_COMM_NULL) MPI_Comm_free(&each);
    }
  }

  /// A communicator of this rank alone on which only messages to that thread travel.
  [[nodiscard]] MPI_Comm to(int thread) const { return to_[static_cast<std::size_t>(thread)]; }

  template <typename Body>
  static void on_threads(Body body) {
    std::vector<std::thread> all;
    for (int thread = 0; thread < threads; ++thread) all.emplace_back(body, thread);
    for (std::thread& each : all) each.join();
  }

 private:
  MPI_Comm to_[threads] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
};

TEST_F(LocalThreads, blocking_messages_pass_round_the_ring) {
  on_threads([&](int thread) {
    int message = 0;
    for (const std::size_t bytes : sizes) {
      const Memory sent = filled_on_gpu_of(thread, payload(bytes, seed_of(thread, ++message)));
      const Memory received = on_gpu_of(thread, bytes);
      const auto send = [&] {
        MPI_Send(sent.data(), count(bytes), MPI_BYTE, rank(), next_of(thread), MPI_COMM_WORLD);
      };
      if (thread % 2 == 0) send();
      MPI_Recv(received.data(), count(bytes), MPI_BYTE, rank(), thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (thread % 2 != 0) send();
      EXPECT_TRUE(content_of(received) == payload(bytes, seed_of(previous_of(thread), message)))
          << "thread " << thread << ", " << bytes << " bytes";
    }
  });
}

TEST_F(LocalThreads, windows_of_messages_pass_round_the_ring) {
  constexpr int window = 32;
  on_threads([&](int thread) {
    for (const std::size_t bytes : sizes) {
      std::vector<Memory> sent;
      std::vector<Memory> received;
      std::vector<MPI_Request> requests(2 * window);
      for (int i = 0; i < window; ++i) {
        received.push_back(on_gpu_of(thread, bytes));
        MPI_Irecv(received.back().data(), count(bytes), MPI_BYTE, 0, i, to(thread),
                  &requests[static_cast<std::size_t>(i)]);
      }
      for (int i = 0; i < window; ++i) {
        sent.push_back(filled_on_gpu_of(thread, payload(bytes, seed_of(thread, i))));
        MPI_Isend(sent.back().data(), count(bytes), MPI_BYTE, 0, i, to(next_of(thread)),
                  &requests[static_cast<std::size_t>(window + i)]);
      }
      MPI_Waitall(2 * window, requests.data(), MPI_STATUSES_IGNORE);
      for (int i = 0; i < window; ++i) {
        EXPECT_TRUE(content_of(received[static_cast<std::size_t>(i)]) ==
                    payload(bytes, seed_of(previous_of(thread), i)))
            << "thread " << thread << ", message " << i << " of " << bytes << " bytes";
      }
    }
  });
}

TEST_F(LocalThreads, wildcards_take_messages_of_one_sender_in_order) {
  constexpr int messages = 20;
  on_threads([&](int thread) {
    std::vector<Memory> sent;
    std::vector<MPI_Request> requests(messages);
    for (int i = 0; i < messages; ++i) {
      sent.push_back(filled_on_gpu_of(thread, payload(sizes[i % 6], seed_of(thread, i))));
      MPI_Isend(sent.back().data(), count(sizes[i % 6]), MPI_BYTE, 0, i, to(next_of(thread)),
                &requests[static_cast<std::size_t>(i)]);
    }
    for (int i = 0; i < messages; ++i) {
      const Memory received = on_gpu_of(thread, sizes[i % 6]);
      MPI_Status status;
      MPI_Recv(received.data(), count(sizes[i % 6]), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, to(thread),
               &status);
      EXPECT_EQ(status.MPI_TAG, i);
      EXPECT_TRUE(content_of(received) == payload(sizes[i % 6], seed_of(previous_of(thread), i)))
          << "thread " << thread << ", message " << i;
    }
    MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
  });
}

TEST_F(LocalThreads, one_thread_takes_what_all_others_send_as_it_comes) {
  constexpr int messages = 15;  ///< of each
  on_threads([&](int thread) {
    if (thread != 0) {
      for (int i = 0; i < messages; ++i) {
        const Memory sent = filled_on_gpu_of(thread, payload(sizes[i % 7], seed_of(thread, i)));
        MPI_Send(sent.data(), count(sizes[i % 7]), MPI_BYTE, 0, thread * 100 + i, to(0));
      }
      return;
    }
    int next[threads] = {};
    for (int taken = 0; taken < (threads - 1) * messages; ++taken) {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, to(0), &message, &status);
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      const int sender = status.MPI_TAG / 100;
      const int i = status.MPI_TAG % 100;
      EXPECT_EQ(i, next[sender]++) << "of thread " << sender;
      const Memory received = on_gpu_of(0, static_cast<std::size_t>(bytes));
      MPI_Mrecv(received.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
      EXPECT_TRUE(content_of(received) == payload(static_cast<std::size_t>(bytes), seed_of(sender, i)))
          << "message " << i << " of thread " << sender;
    }
  });
}

}  // namespace
}  // namespace penstock::programs
