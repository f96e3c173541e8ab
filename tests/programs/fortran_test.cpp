// A C++ program whose messages are received by a Fortran part of it.
#include <dlfcn.h>

#include <array>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

/// As if the program were linked to the bindings: loaded before MPI_Init.
void* const bindings = [] {
  for (const char* name : {
#ifdef OPEN_MPI
           "libmpi_mpifh.so.40", "libmpi_mpifh.so"
#else
           "libmpifort.so.12", "libmpichfort.so.12", "libmpifort.so"
#endif
       }) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_GLOBAL)) return library;
  }
  return static_cast<void*>(nullptr);
}();

using Receive = void(void* buffer, const MPI_Fint* count, const MPI_Fint* datatype, const MPI_Fint* source,
                     const MPI_Fint* tag, const MPI_Fint* communicator, MPI_Fint* status, MPI_Fint* error);

TEST(Fortran, mpi_recv_gets_the_payload_of_a_device_message) {
  if (bindings == nullptr) GTEST_SKIP() << "no Fortran bindings";
  constexpr std::size_t bytes = 5000;
  if (rank() == 0) {
    const Buffer sent(MemoryKind::device, bytes, 30);
    MPI_Send(sent.data(), sent.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  } else if (rank() == 1) {
    auto* const receive = reinterpret_cast<Receive*>(dlsym(bindings, "mpi_recv_"));
    ASSERT_NE(receive, nullptr);
    const Buffer received(MemoryKind::pageable, bytes);
    const MPI_Fint count = received.count();
    const MPI_Fint datatype = MPI_Type_c2f(MPI_BYTE);
    const MPI_Fint source = 0;
    const MPI_Fint tag = 1;
    const MPI_Fint communicator = MPI_Comm_c2f(MPI_COMM_WORLD);
    std::array<MPI_Fint, 64> status{};
    MPI_Fint error = -1;
    receive(received.data(), &count, &datatype, &source, &tag, &communicator, status.data(), &error);
    EXPECT_EQ(error, MPI_SUCCESS);
    EXPECT_EQ(received.read(), payload(bytes, 30));
  }
}

TEST(Fortran, a_host_message_of_zeros_as_long_as_an_envelope_is_no_envelope) {
  constexpr std::size_t bytes = 64;
  Buffer buffer(MemoryKind::pageable, bytes, 31);
  if (rank() == 0) {
    buffer.write(Bytes(bytes));
    MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  } else if (rank() == 1) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(buffer.read(), Bytes(bytes));
  }
}

}  // namespace
}  // namespace penstock::programs
