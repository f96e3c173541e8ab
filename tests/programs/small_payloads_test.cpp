// Payloads from a device that are smaller than an envelope, sent without waiting: they arrive in receives of
// any size and kind, and nothing else is written.
#include <algorithm>
#include <array>
#include <string>

#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

constexpr std::array<std::size_t, 5> sizes = {1, 8, 24, 56, 63};

/// By rank 0, one after the other, from one buffer on its device.
class Sent {
 public:
  Sent() : buffer_(MemoryKind::device, 64, 1) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      MPI_Isend(buffer_.data(), static_cast<int>(sizes[i]), MPI_BYTE, 1, 4, MPI_COMM_WORLD, &requests_[i]);
    }
  }
  ~Sent() {
    EXPECT_EQ(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
              MPI_SUCCESS);
  }
  Sent(const Sent&) = delete;
  Sent& operator=(const Sent&) = delete;

 private:
  Buffer buffer_;
  std::array<MPI_Request, sizes.size()> requests_{};
};

/// So many of the bytes that rank 0 sends, and behind them what was there before.
Bytes arrived(std::size_t bytes, const Bytes& before) {
  Bytes content = before;
  const Bytes sent = payload(64, 1);
  std::copy_n(sent.begin(), bytes, content.begin());
  return content;
}

void expect_count(const MPI_Status& status, std::size_t bytes) {
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT_EQ(count, static_cast<int>(bytes));
}

class SmallPayloadsInto : public testing::TestWithParam<MemoryKind> {};

/// The first ones of these may come through the MPI library, so there are several rounds.
TEST_P(SmallPayloadsInto, receives_of_any_size_leave_the_rest_of_them_alone) {
  for (int round = 0; round < 4; ++round) {
    for (const std::size_t room : {std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{1000}}) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank() == 0) {
        const Sent sent;
        continue;
      }
      for (const std::size_t bytes : sizes) {
        const Buffer buffer(GetParam(), room, 3);
        MPI_Status status;
        MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        expect_count(status, bytes);
        EXPECT_EQ(buffer.read(), arrived(bytes, payload(room, 3))) << bytes << " bytes in " << room;
        EXPECT_TRUE(buffer.guard_is_intact());
      }
    }
  }
}

TEST_P(SmallPayloadsInto, receives_of_just_their_size_however_they_are_completed) {
  for (int round = 0; round < 4; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) {
      const Sent sent;
      continue;
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const Buffer buffer(GetParam(), sizes[i], 3);
      MPI_Status status;
      if (i % 2 == 0) {
        MPI_Probe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
        expect_count(status, sizes[i]);
      }
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &request);
      for (int is_done = 0; is_done == 0;) MPI_Test(&request, &is_done, &status);
      expect_count(status, sizes[i]);
      EXPECT_EQ(buffer.read(), arrived(sizes[i], payload(sizes[i], 3)));
      EXPECT_TRUE(buffer.guard_is_intact());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, SmallPayloadsInto,
                         testing::Values(MemoryKind::pageable, MemoryKind::pinned, MemoryKind::device),
                         [](const auto& parameters) { return std::string(name_of(parameters.param)); });

/// By MPI_BOTTOM and a datatype with the address.
TEST(SmallPayloads, leave_the_rest_alone_of_a_receive_at_an_absolute_address) {
  for (int round = 0; round < 6; ++round) {
    for (const bool is_blocking : {true, false}) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank() == 0) {
        const Sent sent;
        continue;
      }
      for (const std::size_t bytes : sizes) {
        const Buffer buffer(MemoryKind::pageable, 1000, 3);
        MPI_Aint address = 0;
        MPI_Get_address(buffer.data(), &address);
        const int length = buffer.count();
        MPI_Datatype absolute = MPI_DATATYPE_NULL;
        MPI_Type_create_hindexed(1, &length, &address, MPI_BYTE, &absolute);
        MPI_Type_commit(&absolute);
        MPI_Status status;
        if (is_blocking) {
          MPI_Recv(MPI_BOTTOM, 1, absolute, 0, 4, MPI_COMM_WORLD, &status);
        } else {
          MPI_Request request = MPI_REQUEST_NULL;
          MPI_Irecv(MPI_BOTTOM, 1, absolute, 0, 4, MPI_COMM_WORLD, &request);
          MPI_Wait(&request, &status);
        }
        MPI_Type_free(&absolute);
        expect_count(status, bytes);
        EXPECT_EQ(buffer.read(), arrived(bytes, payload(1000, 3)));
        EXPECT_TRUE(buffer.guard_is_intact());
      }
    }
  }
}

/// Every second number of the receive's memory, from 24 to 160 bytes of them: nothing between.
TEST(SmallPayloads, arrive_in_pieces_of_host_memory) {
  for (int round = 0; round < 4; ++round) {
    for (const int numbers : {3, 8, 20}) {
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank() == 0) {
        const Buffer buffer(MemoryKind::device, 64, 1);
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(buffer.data(), 24, MPI_BYTE, 1, 6, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        continue;
      }
      MPI_Datatype every_second = MPI_DATATYPE_NULL;
      MPI_Type_vector(numbers, 8, 16, MPI_BYTE, &every_second);
      MPI_Type_commit(&every_second);
      const std::size_t all = static_cast<std::size_t>(numbers) * 16;
      Bytes memory = payload(all, 3);
      Bytes expected = memory;
      const Bytes sent = payload(64, 1);
      for (std::ptrdiff_t i = 0; i < 3; ++i) std::copy_n(sent.begin() + i * 8, 8, expected.begin() + i * 16);
      MPI_Recv(memory.data(), 1, every_second, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(memory, expected) << numbers << " numbers";
      MPI_Type_free(&every_second);
    }
  }
}

}  // namespace
}  // namespace penstock::programs
