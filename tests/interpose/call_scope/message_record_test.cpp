// One rank that sends to itself; what is recorded of its messages.
#include "interpose/messages/message_record.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include "interpose/binding/mpi_binding.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/communicators.hpp"
#include "tests/interpose/recorder_double/recorder_double.hpp"

namespace penstock::interpose {
namespace {

using test::RecorderDouble;

class MessageRecordTest : public testing::Test {
 protected:
  MessageRecordTest() { RecorderDouble::start(); }

  static MessageRecord begin(trace::Direction direction, MPI_Comm communicator, int peer) {
    const CallScope scope(Function::Irecv, nullptr);
    MessageRecord record;
    record.begin(scope, direction, communicator, peer, 5, 100, transports::BufferKind::pageable, false);
    return record;
  }
};

TEST_F(MessageRecordTest,
       a_wildcard_receive_is_recorded_with_what_has_come_though_its_communicator_is_freed) {
  MPI_Comm communicator = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_SELF, &communicator);
  char buffer[100] = {};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
  MessageRecord record = begin(trace::Direction::receive, communicator, MPI_ANY_SOURCE);
  PMPI_Irecv(buffer, 100, MPI_BYTE, MPI_ANY_SOURCE, 5, communicator, &request);
  const char sent[60] = {};
  PMPI_Send(sent, 60, MPI_BYTE, 0, 5, communicator);
  PMPI_Comm_free(&communicator);
  PMPI_Wait(&request, &status);
  record.complete(status);
  const auto messages = RecorderDouble::messages();
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].peer, 0);
  EXPECT_EQ(messages[0].tag, 5);
  EXPECT_EQ(messages[0].bytes, 60u);
}

TEST_F(MessageRecordTest, what_was_cancelled_is_no_message) {
  char buffer[100] = {};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status{};
  PMPI_Irecv(buffer, 100, MPI_BYTE, 0, 5, MPI_COMM_SELF, &request);
  PMPI_Cancel(&request);
  PMPI_Wait(&request, &status);
  for (const auto direction : {trace::Direction::send, trace::Direction::receive}) {
    MessageRecord record = begin(direction, MPI_COMM_SELF, 0);
    record.complete(status);
  }
  EXPECT_EQ(RecorderDouble::messages().size(), 0u);
}

}  // namespace
}  // namespace penstock::interpose

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  MPI_Init(&argc, &argv);
  // what the first wrapped call does; here MPI_Init is the library's own
  if (penstock::interpose::bind_mpi() != penstock::interpose::Binding::bound) return 1;
  penstock::interpose::wake_up();
  penstock::interpose::open_communicators();
  const int failed = RUN_ALL_TESTS();
  penstock::interpose::close_communicators();
  penstock::interpose::fall_asleep();
  MPI_Finalize();
  return failed;
}
