// The program's own functions that MPI calls inside of a call: callbacks of attributes, error handlers,
// functions of generalised requests. What they ask of MPI is the program's, too: device buffers move, and
// what was posted outside is completed.
#include <array>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr std::size_t bytes = 300'000;
constexpr int tag = 5;
constexpr bool of_one_alone = true;

/// What the next callback does, once.
std::function<void()> work;

void do_work() {
  const std::function<void()> now = std::exchange(work, nullptr);
  if (now) now();
}

int delete_attribute(MPI_Comm, int, void*, void*) {
  do_work();
  return MPI_SUCCESS;
}
int copy_attribute(MPI_Comm, int, void*, void*, void*, int* is_copied) {
  do_work();
  *is_copied = 0;
  return MPI_SUCCESS;
}
void hear_of_error(MPI_Comm*, int*, ...) {
  do_work();
}
int query_request(void*, MPI_Status* status) {
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
int free_request(void*) {
  do_work();
  return MPI_SUCCESS;
}
int cancel_request(void*, int) {
  return MPI_SUCCESS;
}

/// A duplicate of the world with an attribute.
MPI_Comm duplicate_with_attribute(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(copy, remove, &key, nullptr);
  MPI_Comm_set_attr(made, key, nullptr);
  MPI_Comm_free_keyval(&key);
  return made;
}

void in_delete_callback_of_own() {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  MPI_Comm_delete_attr(MPI_COMM_SELF, key);
  MPI_Comm_free_keyval(&key);
}
void in_delete_callback() {
  MPI_Comm made = duplicate_with_attribute(MPI_COMM_NULL_COPY_FN, delete_attribute);
  MPI_Comm_free(&made);
}
void in_copy_callback() {
  MPI_Comm made = duplicate_with_attribute(copy_attribute, MPI_COMM_NULL_DELETE_FN);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(made, &copy);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&made);
}
MPI_Comm duplicate_with_handler() {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(hear_of_error, &handler);
  MPI_Comm_set_errhandler(made, handler);
  MPI_Errhandler_free(&handler);
  return made;
}
void in_handler_of_the_library() {
  MPI_Comm made = duplicate_with_handler();
  EXPECT_NE(MPI_Send(nullptr, 0, MPI_BYTE, 1000, 0, made), MPI_SUCCESS) << "there is no such rank";
  MPI_Comm_free(&made);
}
void in_called_handler() {
  MPI_Comm made = duplicate_with_handler();
  MPI_Comm_call_errhandler(made, MPI_ERR_OTHER);
  MPI_Comm_free(&made);
}
void in_generalised_request() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Grequest_start(query_request, free_request, cancel_request, nullptr, &request);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

struct Callback {
  const char* name;
  void (*run)();
  bool is_of_all = false;  ///< in a call in which the ranks wait for each other
};
constexpr std::array callbacks = {
    Callback{"delete callback", in_delete_callback_of_own},
    Callback{"delete callback of a communicator that is freed", in_delete_callback},
    Callback{"copy callback", in_copy_callback, true},
    Callback{"error handler, by the library", in_handler_of_the_library},
    Callback{"error handler, called", in_called_handler},
    Callback{"generalised request", in_generalised_request},
};

/// Has `what` done in each callback, or in those only that one rank can be in alone.
template <typename What>
void in_each_callback(bool can_be_alone, What what) {
  for (const Callback& callback : callbacks) {
    if (can_be_alone && callback.is_of_all) continue;
    SCOPED_TRACE(callback.name);
    test_support::progress("%s", callback.name);
    what([&](std::function<void()> body) {
      work = std::move(body);
      callback.run();
      EXPECT_FALSE(work) << "it was not called";
    });
  }
}

std::uint64_t seed_of(int sender) {
  return 40 + static_cast<std::uint64_t>(sender);
}

TEST(Callbacks, exchange_device_buffers) {
  in_each_callback(!of_one_alone, [](const auto& in_callback) {
    const Buffer sent(MemoryKind::device, bytes, seed_of(rank()));
    const Buffer received(MemoryKind::device, bytes);
    const int other = 1 - rank();
    in_callback([&] {
      MPI_Sendrecv(sent.data(), sent.count(), MPI_BYTE, other, tag, received.data(), received.count(),
                   MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_TRUE(received.read() == payload(bytes, seed_of(other))) << "in the callback";
    });
    EXPECT_TRUE(received.guard_is_intact());
  });
}

TEST(Callbacks, receive_in_host_memory_what_a_device_sent) {
  in_each_callback(of_one_alone, [](const auto& in_callback) {
    const Buffer sent(MemoryKind::device, bytes, seed_of(0));
    const Buffer received(MemoryKind::pageable, bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank() == 0) MPI_Isend(sent.data(), sent.count(), MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
    in_callback([&] {
      if (rank() != 1) return;
      MPI_Status status;
      MPI_Recv(received.data(), received.count(), MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status);
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      EXPECT_EQ(count, received.count());
      EXPECT_TRUE(received.read() == payload(bytes, seed_of(0)));
    });
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
}

TEST(Callbacks, complete_what_was_posted_outside) {
  in_each_callback(of_one_alone, [](const auto& in_callback) {
    const Buffer sent(MemoryKind::device, bytes, seed_of(rank()));
    const Buffer received(MemoryKind::device, bytes);
    const int other = 1 - rank();
    std::array<MPI_Request, 2> requests{};
    MPI_Irecv(received.data(), received.count(), MPI_BYTE, other, tag, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent.data(), sent.count(), MPI_BYTE, other, tag, MPI_COMM_WORLD, &requests[1]);
    in_callback([&] {
      MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
      EXPECT_TRUE(received.read() == payload(bytes, seed_of(other)));
    });
    EXPECT_EQ(requests[0], MPI_REQUEST_NULL);
    EXPECT_EQ(requests[1], MPI_REQUEST_NULL);
  });
}

/// One rank is in a callback, the other calls the same itself.
TEST(Callbacks, take_part_in_collectives) {
  constexpr std::size_t count = 5'000;
  Memory own(MemoryKind::device, count * sizeof(int), own_device());
  const Memory sum(MemoryKind::device, count * sizeof(int), own_device());
  const std::vector<int> ones(count, 1);
  own.write(0, ones.data(), count * sizeof(int));
  const auto expect_sum = [&] {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(own.data(), sum.data(), static_cast<int>(count), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    std::vector<int> found(count);
    sum.read(0, found.data(), count * sizeof(int));
    EXPECT_EQ(std::accumulate(found.begin(), found.end(), 0), 2 * static_cast<int>(count));
  };
  in_each_callback(of_one_alone, [&](const auto& in_callback) {
    in_callback([&] {
      if (rank() == 1) expect_sum();
    });
    if (rank() == 0) expect_sum();
    expect_sum();
  });
}

MPI_Comm inner = MPI_COMM_NULL;

/// As libraries cache a communicator of theirs on the program's: persistent requests on it live longer.
TEST(Callbacks, free_a_communicator_that_requests_still_need) {
  const Buffer sent(MemoryKind::device, bytes, seed_of(rank()));
  Buffer received(MemoryKind::device, bytes);
  const int other = 1 - rank();
  for (int round = 0; round < 3; ++round) {
    std::array<MPI_Request, 2> requests{};
    MPI_Comm_dup(MPI_COMM_WORLD, &inner);
    MPI_Recv_init(received.data(), received.count(), MPI_BYTE, other, tag, inner, &requests[0]);
    MPI_Send_init(sent.data(), sent.count(), MPI_BYTE, other, tag, inner, &requests[1]);
    work = [] { MPI_Comm_free(&inner); };
    in_delete_callback();
    EXPECT_EQ(inner, MPI_COMM_NULL);
    received.write(Bytes(bytes));
    MPI_Startall(2, requests.data());
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    EXPECT_TRUE(received.read() == payload(bytes, seed_of(other)));
    for (MPI_Request& request : requests) MPI_Request_free(&request);
  }
}

}  // namespace
}  // namespace penstock::programs
