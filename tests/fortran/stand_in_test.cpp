// A program that receives through a library with the name of MPI's Fortran bindings.
#include "tests/fortran/stand_in_bindings.hpp"
#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

void expect_device_message_by(void (*receive)(void* buffer, int bytes)) {
  for (const std::size_t bytes : {5'000U, 3'000'000U}) {
    if (rank() == 0) {
      const Buffer sent(MemoryKind::device, bytes, 30);
      MPI_Send(sent.data(), sent.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    } else {
      const Buffer received(MemoryKind::pageable, bytes);
      receive(received.data(), received.count());
      EXPECT_EQ(received.read(), payload(bytes, 30));
    }
  }
}

TEST(StandIn, a_blocking_receive_by_the_bindings_gets_a_device_message) {
  expect_device_message_by(stand_in_receive);
}

TEST(StandIn, a_receive_that_the_bindings_wait_for_gets_a_device_message) {
  expect_device_message_by(stand_in_receive_and_wait);
}

}  // namespace
}  // namespace penstock::programs
