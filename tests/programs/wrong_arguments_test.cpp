// Arguments that MPI refuses, beside a device buffer: the call returns the error that it returns beside a
// host buffer, at once, and takes no message.
#include <array>

#include "interpose/binding/mpi_level.hpp"
#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr std::size_t bytes = 20'000;
constexpr int tag = 3;

struct Arguments {
  const char* name;
  int count = static_cast<int>(bytes);
  MPI_Datatype type = MPI_BYTE;
  int rank_off = 0;  ///< added to the other rank
  int tag = 3;
};

/// Makes a call. `request` is for calls that return one.
struct Call {
  const char* name;
  int (*make)(void* buffer, const Arguments& wrong, int other, MPI_Request* request);
};

constexpr std::array calls = {
    Call{"MPI_Send",
         [](void* buffer, const Arguments& wrong, int other, MPI_Request*) {
           return MPI_Send(buffer, wrong.count, wrong.type, other, wrong.tag, MPI_COMM_WORLD);
         }},
    Call{"MPI_Isend",
         [](void* buffer, const Arguments& wrong, int other, MPI_Request* request) {
           return MPI_Isend(buffer, wrong.count, wrong.type, other, wrong.tag, MPI_COMM_WORLD, request);
         }},
    Call{"MPI_Recv",
         [](void* buffer, const Arguments& wrong, int other, MPI_Request*) {
           return MPI_Recv(buffer, wrong.count, wrong.type, other, wrong.tag, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE);
         }},
    Call{"MPI_Irecv",
         [](void* buffer, const Arguments& wrong, int other, MPI_Request* request) {
           return MPI_Irecv(buffer, wrong.count, wrong.type, other, wrong.tag, MPI_COMM_WORLD, request);
         }},
    Call{"MPI_Sendrecv",
         [](void* buffer, const Arguments& wrong, int other, MPI_Request*) {
           return MPI_Sendrecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, tag, buffer, wrong.count, wrong.type,
                               other, wrong.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
         }},
    Call{"MPI_Sendrecv_replace",
         [](void* buffer, const Arguments& wrong, int other, MPI_Request*) {
           return MPI_Sendrecv_replace(buffer, wrong.count, wrong.type, other, wrong.tag, other, wrong.tag,
                                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
         }},
    Call{"MPI_Send_init",
         [](void* buffer, const Arguments& wrong, int other, MPI_Request* request) {
           return MPI_Send_init(buffer, wrong.count, wrong.type, other, wrong.tag, MPI_COMM_WORLD, request);
         }},
    Call{"MPI_Recv_init",
         [](void* buffer, const Arguments& wrong, int other, MPI_Request* request) {
           return MPI_Recv_init(buffer, wrong.count, wrong.type, other, wrong.tag, MPI_COMM_WORLD, request);
         }},
#if PENSTOCK_HAS_MPI_4
    Call{"MPI_Isendrecv",
         [](void* buffer, const Arguments& wrong, int other, MPI_Request* request) {
           return MPI_Isendrecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, tag, buffer, wrong.count, wrong.type,
                                other, wrong.tag, MPI_COMM_WORLD, request);
         }},
    Call{"MPI_Isendrecv_replace",
         [](void* buffer, const Arguments& wrong, int other, MPI_Request* request) {
           return MPI_Isendrecv_replace(buffer, wrong.count, wrong.type, other, wrong.tag, other, wrong.tag,
                                        MPI_COMM_WORLD, request);
         }},
#endif
};

std::array<Arguments, 4> wrong_arguments() {
  return {Arguments{.name = "count", .count = -1}, Arguments{.name = "datatype", .type = MPI_DATATYPE_NULL},
          Arguments{.name = "rank", .rank_off = 1000}, Arguments{.name = "tag", .tag = -77}};
}

/// Returns the class of the error.
int outcome_of(const Call& call, const Arguments& wrong, const Buffer& buffer) {
  MPI_Request request = MPI_REQUEST_NULL;
  return class_of(call.make(buffer.data(), wrong, 1 - rank() + wrong.rank_off, &request));
}

TEST(WrongArguments, are_refused_beside_a_device_buffer_as_beside_a_host_buffer) {
  const ErrorsReturned returned;
  const Buffer on_host(MemoryKind::pageable, bytes);
  for (const Call& call : calls) {
    for (const Arguments& wrong : wrong_arguments()) {
      SCOPED_TRACE(call.name);
      SCOPED_TRACE(wrong.name);
      test_support::progress("%s, %s", call.name, wrong.name);
      const Buffer sent(MemoryKind::device, bytes, 10);
      const Buffer received(MemoryKind::device, bytes);
      // there is a message that the call must leave alone
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(sent.data(), sent.count(), MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD, &request);
      const int on_device = outcome_of(call, wrong, received);
      EXPECT_NE(on_device, MPI_SUCCESS);
      EXPECT_EQ(on_device, outcome_of(call, wrong, on_host));
      MPI_Recv(received.data(), received.count(), MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      EXPECT_TRUE(received.read() == payload(bytes, 10));
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
}

}  // namespace
}  // namespace penstock::programs
