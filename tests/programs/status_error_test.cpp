// MPI_ERROR of a status: calls that complete or find one operation leave it as the user had it, and those
// that return several statuses set it only when they return MPI_ERR_IN_STATUS (MPI-4.0 §3.2.5, §3.7.5).
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr int sentinel = 0x5a5a;
constexpr int tag = 3;

MPI_Status marked() {
  MPI_Status status{};
  status.MPI_ERROR = sentinel;
  return status;
}

/// The two messages of a round: one is sent to the other rank, the other received from it.
struct Round {
  const Buffer& sent;
  const Buffer& received;
  int other = 1 - rank();

  [[nodiscard]] MPI_Request post_receive(MPI_Comm communicator = MPI_COMM_WORLD) const {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(received.data(), received.count(), MPI_BYTE, other, tag, communicator, &request);
    return request;
  }
  void receive() const {
    MPI_Recv(received.data(), received.count(), MPI_BYTE, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
};

/// A way to receive a message that has been sent. `status` is the one that the call under test writes.
struct Receiving {
  const char* name;
  std::function<void(const Round&, MPI_Status* status)> call;
  bool sends = false;  ///< it sends the rank's own message, too
};

template <typename Call>
void until_true(Call call) {
  for (int flag = 0; flag == 0;) call(&flag);
}

std::vector<Receiving> ways_to_receive_one() {
  return {
    {"MPI_Recv",
     [](const Round& round, MPI_Status* status) {
       MPI_Recv(round.received.data(), round.received.count(), MPI_BYTE, round.other, tag, MPI_COMM_WORLD,
                status);
     }},
        {"MPI_Wait",
         [](const Round& round, MPI_Status* status) {
           MPI_Request request = round.post_receive();
           MPI_Wait(&request, status);
         }},
        {"MPI_Test",
         [](const Round& round, MPI_Status* status) {
           MPI_Request request = round.post_receive();
           until_true([&](int* flag) { MPI_Test(&request, flag, status); });
         }},
        {"MPI_Waitany",
         [](const Round& round, MPI_Status* status) {
           std::array requests{MPI_REQUEST_NULL, round.post_receive()};
           int index = 0;
           MPI_Waitany(2, requests.data(), &index, status);
           EXPECT_EQ(index, 1);
         }},
        {"MPI_Testany",
         [](const Round& round, MPI_Status* status) {
           std::array requests{MPI_REQUEST_NULL, round.post_receive()};
           int index = 0;
           until_true([&](int* flag) { MPI_Testany(2, requests.data(), &index, flag, status); });
           EXPECT_EQ(index, 1);
         }},
        {"MPI_Request_get_status",
         [](const Round& round, MPI_Status* status) {
           MPI_Request request = round.post_receive();
           until_true([&](int* flag) { MPI_Request_get_status(request, flag, status); });
           MPI_Wait(&request, MPI_STATUS_IGNORE);
         }},
        {"MPI_Wait, persistent",
         [](const Round& round, MPI_Status* status) {
           MPI_Request request = MPI_REQUEST_NULL;
           MPI_Recv_init(round.received.data(), round.received.count(), MPI_BYTE, round.other, tag,
                         MPI_COMM_WORLD, &request);
           MPI_Start(&request);
           MPI_Wait(&request, status);
           MPI_Request_free(&request);
         }},
        {"MPI_Probe",
         [](const Round& round, MPI_Status* status) {
           MPI_Probe(round.other, tag, MPI_COMM_WORLD, status);
           round.receive();
         }},
        {"MPI_Iprobe",
         [](const Round& round, MPI_Status* status) {
           until_true([&](int* flag) { MPI_Iprobe(round.other, tag, MPI_COMM_WORLD, flag, status); });
           round.receive();
         }},
        {"MPI_Mprobe",
         [](const Round& round, MPI_Status* status) {
           MPI_Message message = MPI_MESSAGE_NULL;
           MPI_Mprobe(round.other, tag, MPI_COMM_WORLD, &message, status);
           MPI_Mrecv(round.received.data(), round.received.count(), MPI_BYTE, &message, MPI_STATUS_IGNORE);
         }},
        {"MPI_Improbe",
         [](const Round& round, MPI_Status* status) {
           MPI_Message message = MPI_MESSAGE_NULL;
           until_true(
               [&](int* flag) { MPI_Improbe(round.other, tag, MPI_COMM_WORLD, flag, &message, status); });
           MPI_Mrecv(round.received.data(), round.received.count(), MPI_BYTE, &message, MPI_STATUS_IGNORE);
         }},
        {"MPI_Mrecv",
         [](const Round& round, MPI_Status* status) {
           MPI_Message message = MPI_MESSAGE_NULL;
           MPI_Mprobe(round.other, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
           MPI_Mrecv(round.received.data(), round.received.count(), MPI_BYTE, &message, status);
         }},
        {"MPI_Imrecv and MPI_Wait",
         [](const Round& round, MPI_Status* status) {
           MPI_Message message = MPI_MESSAGE_NULL;
           MPI_Request request = MPI_REQUEST_NULL;
           MPI_Mprobe(round.other, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
           MPI_Imrecv(round.received.data(), round.received.count(), MPI_BYTE, &message, &request);
           MPI_Wait(&request, status);
         }},
        {"MPI_Sendrecv",
         [](const Round& round, MPI_Status* status) {
           MPI_Sendrecv(round.sent.data(), round.sent.count(), MPI_BYTE, round.other, tag,
                        round.received.data(), round.received.count(), MPI_BYTE, round.other, tag,
                        MPI_COMM_WORLD, status);
         },
         true},
        {"MPI_Sendrecv_replace",
         [](const Round& round, MPI_Status* status) {
           MPI_Sendrecv_replace(round.received.data(), round.received.count(), MPI_BYTE, round.other, tag,
                                round.other, tag, MPI_COMM_WORLD, status);
         },
         true},
#if PENSTOCK_HAS_MPI_4
        {"MPI_Isendrecv and MPI_Wait",
         [](const Round& round, MPI_Status* status) {
           MPI_Request request = MPI_REQUEST_NULL;
           MPI_Isendrecv(round.sent.data(), round.sent.count(), MPI_BYTE, round.other, tag,
                         round.received.data(), round.received.count(), MPI_BYTE, round.other, tag,
                         MPI_COMM_WORLD, &request);
           MPI_Wait(&request, status);
         },
         true},
#endif
  };
}

/// The calls that return several statuses, here of one request; `status` is its.
std::vector<Receiving> ways_to_receive_several() {
  return {
      {"MPI_Waitall",
       [](const Round& round, MPI_Status* status) {
         MPI_Request request = round.post_receive();
         MPI_Waitall(1, &request, status);
       }},
      {"MPI_Testall",
       [](const Round& round, MPI_Status* status) {
         MPI_Request request = round.post_receive();
         until_true([&](int* flag) { MPI_Testall(1, &request, flag, status); });
       }},
      {"MPI_Waitsome",
       [](const Round& round, MPI_Status* status) {
         MPI_Request request = round.post_receive();
         int count = 0;
         int index = 0;
         MPI_Waitsome(1, &request, &count, &index, status);
       }},
      {"MPI_Testsome",
       [](const Round& round, MPI_Status* status) {
         MPI_Request request = round.post_receive();
         int index = 0;
         until_true([&](int* flag) { MPI_Testsome(1, &request, flag, &index, status); });
       }},
  };
}

void expect_mark_to_stay(const std::vector<Receiving>& ways, MemoryKind kind, std::size_t bytes) {
  for (const Receiving& way : ways) {
    SCOPED_TRACE(testing::Message() << way.name << ", " << bytes << " bytes");
    test_support::progress("%s, %zu bytes", way.name, bytes);
    const Buffer sent(kind, bytes, 1 + static_cast<std::uint64_t>(rank()));
    // what MPI_Sendrecv_replace sends, too
    const Buffer received(kind, bytes, 1 + static_cast<std::uint64_t>(rank()));
    MPI_Request sending = MPI_REQUEST_NULL;
    if (!way.sends) {
      MPI_Isend(sent.data(), sent.count(), MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD, &sending);
    }
    MPI_Status status = marked();
    way.call({sent, received}, &status);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    EXPECT_EQ(status.MPI_ERROR, sentinel);
    EXPECT_EQ(status.MPI_SOURCE, 1 - rank());
    EXPECT_EQ(status.MPI_TAG, tag);
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, received.count());
    EXPECT_TRUE(received.read() == payload(bytes, 1 + static_cast<std::uint64_t>(1 - rank())));
  }
}

constexpr std::array<std::size_t, 3> sizes = {8, 64, 200'000};

// The order matters: the first tests run before any rank uses a GPU, so that most calls go to the MPI
// library.
TEST(StatusError, stays_as_it_was_in_a_program_without_a_gpu) {
  if (rank() > 1) return;
  for (const std::size_t bytes : sizes) {
    expect_mark_to_stay(ways_to_receive_one(), MemoryKind::pageable, bytes);
  }
}

TEST(StatusError, stays_as_it_was_for_device_messages) {
  if (rank() > 1) return;
  for (const std::size_t bytes : sizes) {
    expect_mark_to_stay(ways_to_receive_one(), MemoryKind::device, bytes);
    expect_mark_to_stay(ways_to_receive_several(), MemoryKind::device, bytes);
  }
}

TEST(StatusError, stays_as_it_was_for_host_messages_beside_device_messages) {
  if (rank() > 1) return;
  const Buffer pending(MemoryKind::device, 100'000);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(pending.data(), pending.count(), MPI_BYTE, rank(), 99, MPI_COMM_WORLD, &request);
  for (const std::size_t bytes : sizes) {
    expect_mark_to_stay(ways_to_receive_one(), MemoryKind::pageable, bytes);
    expect_mark_to_stay(ways_to_receive_several(), MemoryKind::pageable, bytes);
  }
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

TEST(StatusError, stays_as_it_was_where_there_is_nothing_to_receive) {
  const ErrorsReturned returned;
  MPI_Status status = marked();
  MPI_Recv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, tag, MPI_COMM_WORLD, &status);
  EXPECT_EQ(status.MPI_ERROR, sentinel) << "MPI_Recv";
  MPI_Probe(MPI_PROC_NULL, tag, MPI_COMM_WORLD, &status);
  EXPECT_EQ(status.MPI_ERROR, sentinel) << "MPI_Probe";
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Mprobe(MPI_PROC_NULL, tag, MPI_COMM_WORLD, &message, &status);
  EXPECT_EQ(status.MPI_ERROR, sentinel) << "MPI_Mprobe";
  MPI_Mrecv(nullptr, 0, MPI_BYTE, &message, &status);
  EXPECT_EQ(status.MPI_ERROR, sentinel) << "MPI_Mrecv";
  int flag = 0;
  MPI_Iprobe(MPI_PROC_NULL, tag, MPI_COMM_WORLD, &flag, &status);
  EXPECT_EQ(status.MPI_ERROR, sentinel) << "MPI_Iprobe";
  MPI_Improbe(MPI_PROC_NULL, tag, MPI_COMM_WORLD, &flag, &message, &status);
  EXPECT_EQ(status.MPI_ERROR, sentinel) << "MPI_Improbe";
  MPI_Mrecv(nullptr, 0, MPI_BYTE, &message, MPI_STATUS_IGNORE);
}

/// More than there is room for. `receive` returns the call's code.
template <typename Receive>
void expect_mark_to_stay_when_truncated(MemoryKind kind, Receive receive) {
  const Buffer sent(kind, 3000, 7);
  const Buffer received(kind, 1000);
  MPI_Request sending = MPI_REQUEST_NULL;
  MPI_Isend(sent.data(), sent.count(), MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD, &sending);
  MPI_Status status = marked();
  EXPECT_EQ(class_of(receive(received, &status)), MPI_ERR_TRUNCATE);
  EXPECT_EQ(status.MPI_ERROR, sentinel);
  MPI_Wait(&sending, MPI_STATUS_IGNORE);
}

TEST(StatusError, stays_as_it_was_when_a_call_for_one_message_fails) {
  if (rank() > 1) return;
  const ErrorsReturned returned;
  for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::device}) {
    SCOPED_TRACE(kind == MemoryKind::device ? "device" : "host");
    expect_mark_to_stay_when_truncated(kind, [](const Buffer& buffer, MPI_Status* status) {
      return MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD, status);
    });
    expect_mark_to_stay_when_truncated(kind, [](const Buffer& buffer, MPI_Status* status) {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 1 - rank(), tag, MPI_COMM_WORLD, &request);
      return MPI_Wait(&request, status);
    });
  }
}

TEST(StatusError, tells_each_operations_code_when_a_call_for_several_fails) {
  if (rank() > 1) return;
  const ErrorsReturned returned;
  const Buffer sent(MemoryKind::device, 3000, 7);
  const Buffer whole(MemoryKind::device, 3000);
  const Buffer too_small(MemoryKind::device, 1000);
  std::array<MPI_Request, 4> requests{};
  std::array<MPI_Status, 4> statuses{marked(), marked(), marked(), marked()};
  const auto world = MPI_COMM_WORLD;
  MPI_Irecv(whole.data(), whole.count(), MPI_BYTE, 1 - rank(), 1, world, &requests[0]);
  MPI_Irecv(too_small.data(), too_small.count(), MPI_BYTE, 1 - rank(), 2, world, &requests[1]);
  MPI_Isend(sent.data(), sent.count(), MPI_BYTE, 1 - rank(), 1, world, &requests[2]);
  MPI_Isend(sent.data(), sent.count(), MPI_BYTE, 1 - rank(), 2, world, &requests[3]);
  EXPECT_EQ(class_of(MPI_Waitall(4, requests.data(), statuses.data())), MPI_ERR_IN_STATUS);
  EXPECT_EQ(class_of(statuses[0].MPI_ERROR), MPI_SUCCESS);
  EXPECT_EQ(class_of(statuses[1].MPI_ERROR), MPI_ERR_TRUNCATE);
  EXPECT_EQ(class_of(statuses[2].MPI_ERROR), MPI_SUCCESS);
  EXPECT_EQ(class_of(statuses[3].MPI_ERROR), MPI_SUCCESS);
}

}  // namespace
}  // namespace penstock::programs
