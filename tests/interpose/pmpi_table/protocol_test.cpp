// What becomes of a message when one of the MPI library's functions fails that Penstock calls for its sake.
#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "interpose/calls/call_scope.hpp"
#include "tests/interpose/pmpi_table/replaced_functions.hpp"
#include "tests/support/memory.hpp"

extern "C" int MPIX_Query_cuda_support();

namespace penstock::test {
namespace {

using test_support::Memory;
using test_support::MemoryKind;

constexpr int message_bytes = 100'000;

Memory device_memory(std::byte content) {
  Memory memory(MemoryKind::device, message_bytes);
  const std::vector<std::byte> bytes(message_bytes, content);
  memory.write(0, bytes.data(), bytes.size());
  return memory;
}

bool holds(const Memory& memory, std::byte content) {
  std::vector<std::byte> bytes(message_bytes);
  memory.read(0, bytes.data(), bytes.size());
  return bytes == std::vector<std::byte>(message_bytes, content);
}

/// A message from a device to another place on it, by which all is well again.
void expect_messages_arrive() {
  const Memory source = device_memory(std::byte{1});
  const Memory destination = device_memory(std::byte{2});
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Irecv(destination.data(), message_bytes, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &request),
            MPI_SUCCESS);
  ASSERT_EQ(MPI_Send(source.data(), message_bytes, MPI_BYTE, 0, 9, MPI_COMM_WORLD), MPI_SUCCESS);
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_TRUE(holds(destination, std::byte{1}));
}

TEST(FailingFunctions, an_envelope_that_cannot_be_sent_is_an_error_of_the_send_and_takes_no_slot_for_good) {
  const Memory source = device_memory(std::byte{1});
  {
    const Replaced isend(penstock_pmpi_Isend, fail);
    for (int i = 0; i < 1'000; ++i) {
      ASSERT_EQ(MPI_Send(source.data(), message_bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD), failure);
    }
  }
  expect_messages_arrive();
}

/// Of a communicator that no collective has used yet.
void expect_allgather_arrives(MPI_Comm communicator) {
  const Memory source = device_memory(std::byte{1});
  const Memory destination = device_memory(std::byte{2});
  EXPECT_EQ(MPI_Allgather(source.data(), message_bytes, MPI_BYTE, destination.data(), message_bytes, MPI_BYTE,
                          communicator),
            MPI_SUCCESS);
  EXPECT_TRUE(holds(destination, std::byte{1}));
}

TEST(FailingFunctions, a_collective_is_staged_where_its_messages_can_have_no_communicator) {
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_SELF, 0, 0, &communicator);
  {
    const Replaced split(penstock_pmpi_Comm_split, fail);
    expect_allgather_arrives(communicator);
  }
  expect_allgather_arrives(communicator);
  MPI_Comm_free(&communicator);
}

/// Then it is over a public copy.
TEST(FailingFunctions, a_window_is_the_librarys_where_members_have_no_handle_for_one_of_ours) {
  std::array<int, 4> on_host{};
  MPI_Win plain = MPI_WIN_NULL;
  if (MPI_Win_create(on_host.data(), sizeof on_host, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &plain) != MPI_SUCCESS)
    GTEST_SKIP() << "Open MPI (4.1) makes none over given memory here";
  MPI_Win_free(&plain);
  const Memory exposed = device_memory(std::byte{1});
  const Memory source = device_memory(std::byte{2});
  const Replaced allocate(penstock_pmpi_Win_allocate, fail);
  MPI_Win window = MPI_WIN_NULL;
  ASSERT_EQ(MPI_Win_create(exposed.data(), message_bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window),
            MPI_SUCCESS);
  MPI_Win_fence(0, window);
  MPI_Put(source.data(), message_bytes, MPI_BYTE, 0, 0, message_bytes, MPI_BYTE, window);
  MPI_Win_fence(0, window);
  EXPECT_TRUE(holds(exposed, std::byte{2}));
  MPI_Win_free(&window);
  MPI_Win dynamic = MPI_WIN_NULL;
  ASSERT_EQ(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic), MPI_SUCCESS);
  MPI_Win_free(&dynamic);
}

TEST(FailingFunctions, a_collective_needs_no_error_handler) {
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_SELF, 0, 0, &communicator);
  const Replaced handler(penstock_pmpi_Comm_get_errhandler, fail);
  expect_allgather_arrives(communicator);
  MPI_Comm_free(&communicator);
}

TEST(FailingFunctions, a_message_of_a_collective_that_cannot_be_sent_is_an_error_of_the_call) {
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_SELF, 0, 0, &communicator);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  expect_allgather_arrives(communicator);
  const Memory source = device_memory(std::byte{1});
  std::vector<std::byte> host(message_bytes);  // so that a rank's own block is a message, too
  {
    const Replaced isend(penstock_pmpi_Isend, fail);
    const Replaced irecv(penstock_pmpi_Irecv, fail);
    EXPECT_EQ(MPI_Allgather(source.data(), message_bytes, MPI_BYTE, host.data(), message_bytes, MPI_BYTE,
                            communicator),
              failure);
  }
  expect_allgather_arrives(communicator);
  MPI_Comm_free(&communicator);
}

TEST(FailingFunctions, a_receive_that_cannot_be_posted_is_an_error_of_the_call) {
  const Memory destination = device_memory(std::byte{1});
  {
    const Replaced irecv(penstock_pmpi_Irecv, fail);
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Irecv(destination.data(), message_bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request),
              failure);
    EXPECT_EQ(MPI_Recv(destination.data(), message_bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              failure);
  }
  expect_messages_arrive();
}

/// A message that waits to be received.
class SentMessage {
 public:
  SentMessage() { MPI_Isend(source_.data(), message_bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request_); }
  ~SentMessage() {
    const Memory destination = device_memory(std::byte{2});
    EXPECT_EQ(MPI_Recv(destination.data(), message_bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&request_, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_TRUE(holds(destination, std::byte{1}));
  }
  SentMessage(const SentMessage&) = delete;
  SentMessage& operator=(const SentMessage&) = delete;

 private:
  Memory source_ = device_memory(std::byte{1});
  MPI_Request request_ = MPI_REQUEST_NULL;
};

TEST(FailingFunctions, a_probe_that_fails_is_an_error_of_the_probe_and_the_message_is_still_there) {
  const SentMessage sent;
  int flag = 0;
  MPI_Status status;
  {
    const Replaced iprobe(penstock_pmpi_Iprobe, fail);
    EXPECT_EQ(MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, &status), failure);
    EXPECT_EQ(MPI_Probe(0, 1, MPI_COMM_WORLD, &status), failure);
  }
  {
    const Replaced improbe(penstock_pmpi_Improbe, fail);
    EXPECT_EQ(MPI_Probe(0, 1, MPI_COMM_WORLD, &status), failure);
    MPI_Message message = MPI_MESSAGE_NULL;
    EXPECT_EQ(MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, &status), failure);
  }
}

TEST(FailingFunctions, a_found_message_that_no_handle_can_be_made_for_is_still_there) {
  const SentMessage sent;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  {
    const Replaced isend(penstock_pmpi_Isend, fail);
    EXPECT_NE(MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, &status), MPI_SUCCESS);
  }
  {
    const Replaced mprobe(penstock_pmpi_Mprobe, fail);
    EXPECT_NE(MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, &status), MPI_SUCCESS);
  }
}

TEST(FailingFunctions, a_found_message_is_received_though_its_stand_in_cannot_be) {
  const SentMessage sent;
  const Memory source = device_memory(std::byte{3});
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Isend(source.data(), message_bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &request), MPI_SUCCESS);
  MPI_Message message = MPI_MESSAGE_NULL;
  if (const int code = MPI_Mprobe(0, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE); code != MPI_SUCCESS) {
    MPI_Recv(source.data(), message_bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    GTEST_SKIP() << "no message can be handed out";
  }
  const Memory destination = device_memory(std::byte{2});
  {
    const Replaced mrecv(penstock_pmpi_Mrecv, fail);
    EXPECT_EQ(MPI_Mrecv(destination.data(), message_bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
  }
  EXPECT_EQ(message, MPI_MESSAGE_NULL);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_TRUE(holds(destination, std::byte{3}));
}

/// Two receives on a device for which nothing is sent.
class PostedReceives {
 public:
  PostedReceives() {
    for (MPI_Request& request : requests)
      MPI_Irecv(destination_.data(), message_bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &request);
  }
  std::array<MPI_Request, 2> requests{};

 private:
  Memory destination_ = device_memory(std::byte{1});
};

int fail_to_complete_any(int, MPI_Request*, int* count, int*, MPI_Status*) {
  *count = 0;
  return failure;
}
int fail_without_active_ones(int, MPI_Request*, int* count, int*, MPI_Status*) {
  *count = MPI_UNDEFINED;
  return failure;
}

class FailingTestsome : public testing::TestWithParam<int (*)(int, MPI_Request*, int*, int*, MPI_Status*)> {};

TEST_P(FailingTestsome, ends_MPI_Waitall) {
  {
    PostedReceives posted;
    std::array<MPI_Status, 2> statuses{};
    const Replaced testsome(penstock_pmpi_Testsome, GetParam());
    EXPECT_EQ(MPI_Waitall(2, posted.requests.data(), statuses.data()), MPI_ERR_IN_STATUS);
    EXPECT_EQ(statuses[0].MPI_ERROR, failure);
    EXPECT_EQ(statuses[1].MPI_ERROR, failure);
    EXPECT_EQ(posted.requests[0], MPI_REQUEST_NULL);
  }
  expect_messages_arrive();
}

TEST_P(FailingTestsome, lets_MPI_Waitall_complete_what_has_come_and_ends_the_rest) {
  {
    PostedReceives posted;
    const Memory source = device_memory(std::byte{1});
    MPI_Request sent = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Isend(source.data(), message_bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &sent), MPI_SUCCESS);
    std::array<MPI_Status, 2> statuses{};
    const Replaced testsome(penstock_pmpi_Testsome, GetParam());
    EXPECT_EQ(MPI_Waitall(2, posted.requests.data(), statuses.data()), MPI_ERR_IN_STATUS);
    EXPECT_EQ(statuses[0].MPI_ERROR, MPI_SUCCESS);  // the one that the message was for
    EXPECT_EQ(statuses[1].MPI_ERROR, failure);
    EXPECT_EQ(MPI_Wait(&sent, MPI_STATUS_IGNORE), MPI_SUCCESS);
  }
  expect_messages_arrive();
}

INSTANTIATE_TEST_SUITE_P(Counts, FailingTestsome,
                         testing::Values(fail_to_complete_any, fail_without_active_ones));

TEST(FailingFunctions, a_request_that_cannot_be_asked_about_ends_the_wait_for_it) {
  {
    PostedReceives posted;
    const Replaced get_status(penstock_pmpi_Request_get_status, fail);
    EXPECT_EQ(MPI_Wait(&posted.requests[0], MPI_STATUS_IGNORE), failure);
    int flag = 0;
    EXPECT_EQ(MPI_Test(&posted.requests[1], &flag, MPI_STATUS_IGNORE), failure);
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(posted.requests[1], MPI_REQUEST_NULL);
  }
  expect_messages_arrive();
}

TEST(FailingFunctions, a_send_whose_request_cannot_be_asked_about_ends_with_the_error) {
  const Memory source = device_memory(std::byte{1});
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Issend(source.data(), message_bytes, MPI_BYTE, 0, 6, MPI_COMM_WORLD, &request), MPI_SUCCESS);
  {
    const Replaced get_status(penstock_pmpi_Request_get_status, fail);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), failure);
  }
  expect_messages_arrive();
}

/// Only where payloads go between nodes, or as if they did.
TEST(FailingChunkChannel, ends_the_messages_that_wait_for_a_word_and_the_next_ones_go_whole) {
  if (std::getenv("PENSTOCK_TRANSPORT") == nullptr) GTEST_SKIP() << "no channel";
  const Memory source = device_memory(std::byte{1});
  const Memory destination = device_memory(std::byte{2});
  MPI_Request send = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Issend(source.data(), message_bytes, MPI_BYTE, 0, 6, MPI_COMM_WORLD, &send), MPI_SUCCESS);
  {
    const Replaced test(penstock_pmpi_Test, fail);
    int flag = 0;
    ASSERT_EQ(MPI_Test(&send, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_EQ(flag, 0);
  }
  MPI_Request receive = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Irecv(destination.data(), message_bytes, MPI_BYTE, 0, 6, MPI_COMM_WORLD, &receive),
            MPI_SUCCESS);
  EXPECT_NE(MPI_Wait(&send, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_NE(MPI_Wait(&receive, MPI_STATUS_IGNORE), MPI_SUCCESS);
  expect_messages_arrive();
}

TEST(StandsAside, and_hands_all_calls_on_as_they_are) {
  EXPECT_FALSE(interpose::is_awake());
  int sent = 42;
  int received = 0;
  EXPECT_EQ(
      MPI_Sendrecv(&sent, 1, MPI_INT, 0, 1, &received, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
      MPI_SUCCESS);
  EXPECT_EQ(received, sent);
}

TEST(StandsAside, and_does_not_say_that_device_pointers_may_be_passed) {
  EXPECT_EQ(MPIX_Query_cuda_support(), 0);  // the library's own answer, here
}

}  // namespace
}  // namespace penstock::test
