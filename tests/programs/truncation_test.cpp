// Messages larger than their receives: MPI_ERR_TRUNCATE as from a plain MPI, nothing written past the
// receive, and the messages that follow arrive.
#include <array>
#include <tuple>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

struct Sizes {
  std::size_t sent;
  std::size_t received;
};
/// Below and above the size of an envelope on both sides, eager and not.
constexpr std::array sizes = {
    Sizes{100, 80},    Sizes{100, 64},    Sizes{100, 10},      Sizes{5000, 0},
    Sizes{70000, 64},  Sizes{70000, 80},  Sizes{1 << 20, 100}, Sizes{1 << 20, (1 << 20) - 1},
    Sizes{64, 63},     Sizes{63, 62},     Sizes{16, 8},        Sizes{40, 0},
    Sizes{1 << 20, 0}, Sizes{1 << 20, 10}};

/// Rank 0 sends too much, rank 1 does something about it; then a message of the right size follows.
class Truncation : public testing::TestWithParam<std::tuple<MemoryKind, MemoryKind>> {
 protected:
  /// `receive` meets a message that is too large, `receive_next` one that just fits.
  template <typename Receive, typename ReceiveNext>
  void run(Receive receive, ReceiveNext receive_next) {
    const auto [sender_kind, receiver_kind] = GetParam();
    const ErrorsReturned returned;
    for (const Sizes& size : sizes) {
      SCOPED_TRACE(testing::Message() << size.sent << " bytes into " << size.received);
      if (rank() == 0) {
        const Buffer buffer(sender_kind, size.sent, 1);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, 1, 5, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Send(buffer.data(), static_cast<int>(size.received), MPI_BYTE, 1, 5, MPI_COMM_WORLD);
      } else if (rank() == 1) {
        Buffer buffer(receiver_kind, size.received, 2);
        receive(buffer);
        EXPECT_TRUE(buffer.guard_is_intact());
        receive_next(buffer);
        const Bytes sent = payload(size.sent, 1);
        EXPECT_EQ(buffer.read(),
                  Bytes(sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(size.received)));
      }
    }
  }

  template <typename Receive>
  void run(Receive receive) {
    run(receive, [](Buffer& buffer) {
      EXPECT_EQ(MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                MPI_SUCCESS);
    });
  }
};

TEST_P(Truncation, MPI_Recv_returns_MPI_ERR_TRUNCATE) {
  run([](Buffer& buffer) {
    const int code =
        MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
  });
}

TEST_P(Truncation, MPI_Wait_for_an_MPI_Irecv_returns_MPI_ERR_TRUNCATE) {
  run([](Buffer& buffer) {
    MPI_Request request = MPI_REQUEST_NULL;
    EXPECT_EQ(MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 5, MPI_COMM_WORLD, &request),
              MPI_SUCCESS);
    EXPECT_EQ(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
  });
}

TEST_P(Truncation, MPI_Test_for_an_MPI_Irecv_returns_MPI_ERR_TRUNCATE) {
  run([](Buffer& buffer) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 5, MPI_COMM_WORLD, &request);
    int code = MPI_SUCCESS;
    for (int flag = 0; flag == 0 && code == MPI_SUCCESS;) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
  });
}

TEST_P(Truncation, MPI_Waitall_says_which_request_failed) {
  run([](Buffer& buffer) {
    std::array<MPI_Request, 3> requests{};
    std::array<MPI_Status, 3> statuses{};
    int sent = 7;
    int received = 0;
    MPI_Irecv(&received, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&sent, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 5, MPI_COMM_WORLD, &requests[2]);
    EXPECT_EQ(class_of(MPI_Waitall(3, requests.data(), statuses.data())), MPI_ERR_IN_STATUS);
    EXPECT_EQ(class_of(statuses[2].MPI_ERROR), MPI_ERR_TRUNCATE);
    for (const int i : {0, 1}) {  // may be left pending by the error, and then complete
      if (statuses[static_cast<std::size_t>(i)].MPI_ERROR == MPI_ERR_PENDING) {
        EXPECT_EQ(MPI_Wait(&requests[static_cast<std::size_t>(i)], MPI_STATUS_IGNORE), MPI_SUCCESS);
      } else {
        EXPECT_EQ(statuses[static_cast<std::size_t>(i)].MPI_ERROR, MPI_SUCCESS);
      }
    }
    EXPECT_EQ(received, 7);
  });
}

TEST_P(Truncation, MPI_Mrecv_of_a_probed_message_returns_MPI_ERR_TRUNCATE) {
  run([](Buffer& buffer) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(0, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    const int code = MPI_Mrecv(buffer.data(), buffer.count(), MPI_BYTE, &message, MPI_STATUS_IGNORE);
    EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
  });
}

TEST_P(Truncation, MPI_Recv_after_MPI_Probe_returns_MPI_ERR_TRUNCATE) {
  run([](Buffer& buffer) {
    MPI_Probe(0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const int code =
        MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
  });
}

TEST_P(Truncation, a_persistent_receive_returns_MPI_ERR_TRUNCATE_and_can_be_started_again) {
  MPI_Request request = MPI_REQUEST_NULL;
  run(
      [&](Buffer& buffer) {
        MPI_Recv_init(buffer.data(), buffer.count(), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                      &request);
        MPI_Start(&request);
        EXPECT_EQ(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE);
      },
      [&](Buffer&) {
        MPI_Start(&request);
        EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
        MPI_Request_free(&request);
      });
}

INSTANTIATE_TEST_SUITE_P(Kinds, Truncation,
                         testing::Combine(testing::Values(MemoryKind::pageable, MemoryKind::device),
                                          testing::Values(MemoryKind::pageable, MemoryKind::device,
                                                          MemoryKind::managed)),
                         [](const auto& parameters) {
                           return std::string("from_") + name_of(std::get<0>(parameters.param)) + "_to_" +
                                  name_of(std::get<1>(parameters.param));
                         });

}  // namespace
}  // namespace penstock::programs
