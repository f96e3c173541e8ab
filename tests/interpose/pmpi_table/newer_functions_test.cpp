// Functions of newer MPI libraries than the installed ones, which must not hand out envelopes.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

#include "interpose/binding/mpi_header.hpp"
#include "interpose/binding/mpi_level.hpp"
#include "tests/support/memory.hpp"

extern "C" {
#define PENSTOCK_ROW(...)
#define PENSTOCK_NEWER_ROW(owner, waits, name, result, parameters, arguments) result MPI_##name parameters;
#include "interpose/binding/mpi_functions.def"
}

namespace penstock::test {
namespace {

using test_support::Memory;
using test_support::MemoryKind;

constexpr int message_bytes = 100'000;
const std::vector<std::byte> payload(message_bytes, std::byte{7});

Memory sent_memory() {
  Memory memory(MemoryKind::device, message_bytes);
  memory.write(0, payload.data(), payload.size());
  return memory;
}

TEST(NewerFunctions, MPI_Isendrecv_delivers_a_payload_from_a_device) {
  const Memory source = sent_memory();
  std::vector<std::byte> received(message_bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Isendrecv(source.data(), message_bytes, MPI_BYTE, 0, 1, received.data(), message_bytes,
                          MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request),
            MPI_SUCCESS);
  MPI_Status status;
  ASSERT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT_EQ(count, message_bytes);
  EXPECT_EQ(received, payload);
}

TEST(NewerFunctions, MPI_Isendrecv_replace_delivers_a_payload_from_a_device) {
  const Memory source = sent_memory();
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(
      MPI_Isendrecv_replace(source.data(), message_bytes, MPI_BYTE, 0, 1, 0, 1, MPI_COMM_WORLD, &request),
      MPI_SUCCESS);
  ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  std::vector<std::byte> received(message_bytes);
  source.read(0, received.data(), received.size());
  EXPECT_EQ(received, payload);
}

/// A receive in host memory of what a device sends, both under way; and a request that is none.
class Exchange {
 public:
  Exchange() {
    MPI_Irecv(received_.data(), message_bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(source_.data(), message_bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[2]);
  }
  ~Exchange() { EXPECT_EQ(MPI_Waitall(3, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void expect_payload(const MPI_Status& status) const {
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, message_bytes);
    EXPECT_EQ(received_, payload);
  }

  std::array<MPI_Request, 3> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};

 private:
  Memory source_ = sent_memory();
  std::vector<std::byte> received_ = std::vector<std::byte>(message_bytes);
};

TEST(NewerFunctions, MPI_Request_get_status_all_tells_the_payload) {
  Exchange exchange;
  std::array<MPI_Status, 3> statuses{};
  for (int flag = 0; flag == 0;) {
    ASSERT_EQ(MPI_Request_get_status_all(3, exchange.requests.data(), &flag, statuses.data()), MPI_SUCCESS);
  }
  exchange.expect_payload(statuses[0]);
  EXPECT_NE(exchange.requests[0], MPI_REQUEST_NULL);
}

TEST(NewerFunctions, MPI_Request_get_status_any_tells_the_payload) {
  Exchange exchange;
  MPI_Status status;
  int index = 0;
  for (int flag = 0; flag == 0;) {
    ASSERT_EQ(MPI_Request_get_status_any(2, exchange.requests.data(), &index, &flag, &status), MPI_SUCCESS);
  }
  EXPECT_EQ(index, 0);
  exchange.expect_payload(status);
}

TEST(NewerFunctions, MPI_Request_get_status_some_tells_the_payload) {
  Exchange exchange;
  std::array<MPI_Status, 3> statuses{};
  std::array<int, 3> indices{};
  for (int count = 0; count < 2;) {
    ASSERT_EQ(
        MPI_Request_get_status_some(3, exchange.requests.data(), &count, indices.data(), statuses.data()),
        MPI_SUCCESS);
  }
  EXPECT_EQ(indices[0], 0);
  EXPECT_EQ(indices[1], 2);
  exchange.expect_payload(statuses[0]);
}

TEST(NewerFunctions, of_no_active_request_all_three_say_so) {
  const std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<int, 2> indices{};
  int flag = 0;
  int index = 0;
  int count = 0;
  EXPECT_EQ(MPI_Request_get_status_all(2, requests.data(), &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(flag, 1);
  flag = 0;
  EXPECT_EQ(MPI_Request_get_status_any(2, requests.data(), &index, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(index, MPI_UNDEFINED);
  EXPECT_EQ(MPI_Request_get_status_some(2, requests.data(), &count, indices.data(), MPI_STATUSES_IGNORE),
            MPI_SUCCESS);
  EXPECT_EQ(count, MPI_UNDEFINED);
}

}  // namespace
}  // namespace penstock::test
