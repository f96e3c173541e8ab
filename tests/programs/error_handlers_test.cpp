// Which error handler hears of a receive that is too short, and how often: that of the call's communicator
// where the call blocks; one handler, once, in any case. Questions that Penstock asks the MPI library
// meanwhile reach none.
#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr int tag = 5;
constexpr int never_sent = 6;

std::array<int, 2> heard{};  // by the handlers of MPI_COMM_WORLD, and of the communicator

void hear_on_world(MPI_Comm*, int*, ...) {
  ++heard[0];
}
void hear_on_copy(MPI_Comm*, int*, ...) {
  ++heard[1];
}

/// An error handler of a communicator while it lives.
class Handler {
 public:
  Handler(MPI_Comm communicator, MPI_Comm_errhandler_function* function) : communicator_(communicator) {
    MPI_Comm_get_errhandler(communicator, &before_);
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(function, &handler);
    MPI_Comm_set_errhandler(communicator, handler);
    MPI_Errhandler_free(&handler);
  }
  ~Handler() {
    MPI_Comm_set_errhandler(communicator_, before_);
    MPI_Errhandler_free(&before_);
  }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

 private:
  MPI_Comm communicator_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

/// Ends a receive of `count` bytes in `data`; returns the call's code.
struct Receiving {
  const char* name;
  bool blocks;
  std::function<int(void* data, int count, MPI_Comm communicator)> call;
};

MPI_Request posted(void* data, int count, MPI_Comm communicator) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(data, count, MPI_BYTE, 0, tag, communicator, &request);
  return request;
}

/// The code of one operation of a call about several.
int code_of(int code, const MPI_Status& status) {
  return class_of(code) == MPI_ERR_IN_STATUS ? status.MPI_ERROR : code;
}

std::vector<Receiving> all_ways() {
  return {{"MPI_Recv", true,
           [](void* data, int count, MPI_Comm communicator) {
             return MPI_Recv(data, count, MPI_BYTE, 0, tag, communicator, MPI_STATUS_IGNORE);
           }},
          {"MPI_Sendrecv", true,
           [](void* data, int count, MPI_Comm communicator) {
             return MPI_Sendrecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, data, count, MPI_BYTE, 0, tag,
                                 communicator, MPI_STATUS_IGNORE);
           }},
          {"MPI_Wait", false,
           [](void* data, int count, MPI_Comm communicator) {
             MPI_Request request = posted(data, count, communicator);
             return MPI_Wait(&request, MPI_STATUS_IGNORE);
           }},
          {"MPI_Test", false,
           [](void* data, int count, MPI_Comm communicator) {
             MPI_Request request = posted(data, count, communicator);
             int code = MPI_SUCCESS;
             while (request != MPI_REQUEST_NULL && code == MPI_SUCCESS) {
               int flag = 0;
               code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
             }
             return code;
           }},
          {"MPI_Waitall", false,
           [](void* data, int count, MPI_Comm communicator) {
             MPI_Request request = posted(data, count, communicator);
             MPI_Status status;
             const int code = MPI_Waitall(1, &request, &status);
             return code_of(code, status);
           }},
          {"MPI_Waitany", false,
           [](void* data, int count, MPI_Comm communicator) {
             MPI_Request request = posted(data, count, communicator);
             int index = 0;
             return MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
           }},
          {"MPI_Waitsome", false,
           [](void* data, int count, MPI_Comm communicator) {
             MPI_Request request = posted(data, count, communicator);
             int done = 0;
             int index = 0;
             MPI_Status status;
             const int code = MPI_Waitsome(1, &request, &done, &index, &status);
             return code_of(code, status);
           }},
          {"MPI_Wait of a persistent receive", false, [](void* data, int count, MPI_Comm communicator) {
             MPI_Request request = MPI_REQUEST_NULL;
             MPI_Recv_init(data, count, MPI_BYTE, 0, tag, communicator, &request);
             MPI_Start(&request);
             const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
             MPI_Request_free(&request);
             return code;
           }}};
}

using Parameters = std::tuple<MemoryKind, MemoryKind, int>;

class ErrorHandlers : public testing::TestWithParam<Parameters> {
 protected:
  void SetUp() override {
    MPI_Comm_dup(MPI_COMM_WORLD, &copy_);
    // a GPU is in use, and something is pending, so that receives are stepped
    const Buffer used(MemoryKind::device, 4096, 1);
    MPI_Request receive = MPI_REQUEST_NULL;
    const Buffer received(MemoryKind::device, 4096, 2);
    MPI_Irecv(received.data(), 4096, MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD, &receive);
    MPI_Send(used.data(), 4096, MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    if (std::get<2>(GetParam()) != 0)
      MPI_Irecv(idle_.data(), 100, MPI_BYTE, 1 - rank(), never_sent, MPI_COMM_WORLD, &pending_);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void TearDown() override {
    if (pending_ != MPI_REQUEST_NULL) {
      MPI_Cancel(&pending_);
      MPI_Wait(&pending_, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&copy_);
  }

  /// Rank 0 sends twice what rank 1 receives by that way; the next message arrives.
  int truncate(const Receiving& way, std::size_t bytes) const {
    const auto [sender_kind, receiver_kind, pending] = GetParam();
    heard = {};
    int code = MPI_SUCCESS;
    if (rank() == 0) {
      const Buffer buffer(sender_kind, 2 * bytes, 1);
      MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, tag, copy_);
    } else if (rank() == 1) {
      Buffer buffer(receiver_kind, bytes, 2);
      code = way.call(buffer.data(), buffer.count(), copy_);
      EXPECT_TRUE(buffer.guard_is_intact());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return class_of(code);
  }

  MPI_Comm copy_ = MPI_COMM_NULL;

 private:
  Buffer idle_{MemoryKind::pageable, 100, 3};
  MPI_Request pending_ = MPI_REQUEST_NULL;
};

constexpr std::array<std::size_t, 5> sizes = {10, 100, 5000, 50000, 500000};

TEST_P(ErrorHandlers, of_the_communicator_alone_hears_of_a_blocking_call_that_is_too_short) {
  MPI_Comm_set_errhandler(copy_, MPI_ERRORS_RETURN);  // while MPI_COMM_WORLD's ends the job
  for (const Receiving& way : all_ways()) {
    if (!way.blocks) continue;
    for (const std::size_t bytes : sizes) {
      SCOPED_TRACE(testing::Message() << way.name << " of " << bytes);
      const int error = truncate(way, bytes);
      if (rank() == 1) {
        EXPECT_EQ(error, MPI_ERR_TRUNCATE);
      }
    }
  }
}

TEST_P(ErrorHandlers, of_the_program_hear_of_each_error_once) {
  const Handler of_world(MPI_COMM_WORLD, hear_on_world);
  const Handler of_copy(copy_, hear_on_copy);
  for (const Receiving& way : all_ways()) {
    for (const std::size_t bytes : sizes) {
      SCOPED_TRACE(testing::Message() << way.name << " of " << bytes);
      const int error = truncate(way, bytes);
      if (rank() != 1) continue;
      EXPECT_EQ(error, MPI_ERR_TRUNCATE);
      EXPECT_EQ(heard[0] + heard[1], 1);
      // MPICH raises those of completions on MPI_COMM_WORLD
      if (way.blocks) {
        EXPECT_EQ(heard[1], 1);
      }
    }
  }
}

bool has_thread_multiple() {
  int provided = 0;
  MPI_Query_thread(&provided);
  return provided == MPI_THREAD_MULTIPLE;
}

/// Returns the handler of a communicator, which the caller must not free: that communicator holds it.
MPI_Errhandler handler_of(MPI_Comm communicator) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(communicator, &handler);
  const MPI_Errhandler found = handler;
  MPI_Errhandler_free(&handler);
  return found;
}

/// While it lives, another thread of rank 0 tests receives; at its end rank 1 sends what they wait for.
class AnotherThreadTests {
 public:
  AnotherThreadTests() : thread_([this] { test(); }) {}
  ~AnotherThreadTests() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 1) {
      const Buffer on_device(MemoryKind::device, 4096, 1);
      for (int each = 0; each < 2; ++each)
        MPI_Send(on_device.data(), 4096, MPI_BYTE, 0, tag + each, MPI_COMM_WORLD);
    }
    thread_.join();
  }
  AnotherThreadTests(const AnotherThreadTests&) = delete;
  AnotherThreadTests& operator=(const AnotherThreadTests&) = delete;
  [[nodiscard]] int times() const { return times_; }

 private:
  void test() {
    if (rank() != 0) return;
    const Buffer on_device(MemoryKind::device, 4096, 2);
    const Buffer on_host(MemoryKind::pageable, 4096, 2);
    std::array<MPI_Request, 2> requests{};
    MPI_Irecv(on_device.data(), 4096, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(on_host.data(), 4096, MPI_BYTE, 1, tag + 1, MPI_COMM_WORLD, &requests[1]);
    for (int done = 0; done == 0; ++times_) MPI_Testall(2, requests.data(), &done, MPI_STATUSES_IGNORE);
  }

  std::atomic<int> times_ = 0;
  std::thread thread_;
};

TEST(HandlersWhileAnotherThreadTests, are_the_programs) {
  if (!has_thread_multiple()) GTEST_SKIP() << "no MPI_THREAD_MULTIPLE";
  MPI_Errhandler own = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(hear_on_world, &own);
  const MPI_Errhandler before = handler_of(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  {
    const AnotherThreadTests others;
    int wrong = 0;
    while (rank() == 0 && others.times() < 300) wrong += handler_of(MPI_COMM_WORLD) == own ? 0 : 1;
    EXPECT_EQ(wrong, 0);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&own);
}

/// Returns whether MPI_COMM_SELF looks as if it had the default handler, and uses MPI_COMM_WORLD's.
bool self_follows_world() {
  const Handler of_world(MPI_COMM_WORLD, hear_on_world);
  heard = {};
  MPI_Send(nullptr, 0, MPI_BYTE, 1'000'000, tag, MPI_COMM_SELF);
  return handler_of(MPI_COMM_SELF) == MPI_ERRORS_ARE_FATAL && heard[0] == 1;
}

/// MPICH's way. Penstock sets a handler there for a moment when it makes a communicator for messages that
/// have been probed, and may do so when the program makes one.
TEST(HandlerOfSelf, is_that_of_world_as_long_as_the_program_sets_none) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  MPI_Get_library_version(version.data(), &length);
  if (std::string(version.data()).starts_with("Open MPI")) GTEST_SKIP() << "Open MPI's is its own";
  const Buffer sent(MemoryKind::device, 100'000, 1);
  const Buffer received(MemoryKind::device, 100'000, 2);
  MPI_Comm copy_of_self = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &copy_of_self);
  MPI_Comm_free(&copy_of_self);
  EXPECT_TRUE(self_follows_world());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(sent.data(), sent.count(), MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD, &request);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Mprobe(1 - rank(), tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(received.data(), received.count(), MPI_BYTE, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_TRUE(self_follows_world());
}

std::string name_of_case(const testing::TestParamInfo<Parameters>& parameters) {
  const auto [sender, receiver, pending] = parameters.param;
  return std::string("from_") + name_of(sender) + "_to_" + name_of(receiver) +
         (pending != 0 ? "_beside_others" : "");
}

INSTANTIATE_TEST_SUITE_P(Kinds, ErrorHandlers,
                         testing::Combine(testing::Values(MemoryKind::pageable, MemoryKind::device),
                                          testing::Values(MemoryKind::pageable, MemoryKind::device),
                                          testing::Values(0, 1)),
                         name_of_case);

}  // namespace
}  // namespace penstock::programs
