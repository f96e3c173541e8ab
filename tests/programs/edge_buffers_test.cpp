// Buffers at the edge of what MPI allows, and beyond: none at all, absolute addresses, memory that is gone,
// host memory that looks like Penstock's own messages.
#include <cuda_runtime.h>

#include <array>

#include "interpose/binding/mpi_level.hpp"
#include "tests/programs/test_messages.hpp"

namespace penstock::programs {
namespace {

TEST(EdgeBuffers, an_empty_message_needs_no_buffer) {
  if (rank() == 0) {
    EXPECT_EQ(MPI_Send(nullptr, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD), MPI_SUCCESS);
    EXPECT_EQ(MPI_Ssend(nullptr, 0, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD), MPI_SUCCESS);
  } else if (rank() == 1) {
    MPI_Status status{};
    int count = -1;
    EXPECT_EQ(MPI_Recv(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, 0);
    const Buffer buffer(MemoryKind::device, 100, 3);
    EXPECT_EQ(MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 2, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    MPI_Get_count(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, 0);
    EXPECT_EQ(buffer.read(), payload(100, 3));
  }
  EXPECT_EQ(MPI_Bcast(nullptr, 0, MPI_BYTE, 0, MPI_COMM_WORLD), MPI_SUCCESS);
}

/// Sent without waiting, after messages by which the receiver has told that small payloads may come.
TEST(EdgeBuffers, an_empty_datatype_is_sent_as_an_empty_message) {
  MPI_Datatype empty = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_BYTE, &empty);
  MPI_Type_commit(&empty);
  for (const MemoryKind sender : {MemoryKind::pageable, MemoryKind::device}) {
    for (const MemoryKind receiver : {MemoryKind::pageable, MemoryKind::device}) {
      const Buffer sent(sender, 100, 1);
      const Buffer received(receiver, 100, 2);
      for (int round = 0; round < 5; ++round) {
        MPI_Request request = MPI_REQUEST_NULL;
        if (rank() == 0) {
          MPI_Isend(sent.data(), 10, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
          MPI_Isend(sent.data(), 7, empty, 1, 3, MPI_COMM_WORLD, &request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
          continue;
        }
        if (rank() != 1) continue;
        MPI_Recv(received.data(), 10, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Status status;
        const int room = round == 4 ? 100 : 0;
        if (round % 2 == 0) {
          EXPECT_EQ(MPI_Recv(received.data(), room, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &status), MPI_SUCCESS);
        } else {
          MPI_Irecv(received.data(), 3, empty, 0, 3, MPI_COMM_WORLD, &request);
          EXPECT_EQ(MPI_Wait(&request, &status), MPI_SUCCESS);
        }
        int count = -1;
        MPI_Get_count(&status, MPI_BYTE, &count);
        EXPECT_EQ(count, 0);
      }
    }
  }
  MPI_Type_free(&empty);
}

TEST(EdgeBuffers, messages_to_and_from_MPI_PROC_NULL_touch_nothing) {
  const Buffer buffer(MemoryKind::device, 70000, 4);
  MPI_Status status{};
  MPI_Request request = MPI_REQUEST_NULL;
  int count = -1;
  EXPECT_EQ(MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(MPI_Isend(buffer.data(), buffer.count(), MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request),
            MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status),
            MPI_SUCCESS);
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
  EXPECT_EQ(count, 0);
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status);
  EXPECT_EQ(message, MPI_MESSAGE_NO_PROC);
  EXPECT_EQ(MPI_Mrecv(buffer.data(), buffer.count(), MPI_BYTE, &message, &status), MPI_SUCCESS);
  EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  EXPECT_EQ(buffer.read(), payload(70000, 4));
}

#if PENSTOCK_HAS_MPI_4
TEST(EdgeBuffers, an_exchange_behind_a_request_with_MPI_PROC_NULL_tells_it_as_the_source) {
  const Buffer sent(MemoryKind::device, 5'000);
  const Buffer received(MemoryKind::device, 5'000);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isendrecv(sent.data(), sent.count(), MPI_BYTE, MPI_PROC_NULL, 1, received.data(), received.count(),
                MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request);
  MPI_Status status{};
  status.MPI_SOURCE = 5;
  status.MPI_TAG = 5;
  MPI_Wait(&request, &status);
  int count = -1;
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  EXPECT_EQ(status.MPI_TAG, MPI_ANY_TAG);
  EXPECT_EQ(count, 0);
}
#endif

TEST(EdgeBuffers, MPI_Sendrecv_with_MPI_PROC_NULL_on_one_side_delivers_the_other) {
  // a chain: everyone sends to the next rank, the last to nobody
  const Buffer sent(MemoryKind::device, 70000, 10 + static_cast<std::uint64_t>(rank()));
  const Buffer received(MemoryKind::device, 70000, 5);
  const int next = rank() == 0 ? 1 : MPI_PROC_NULL;
  const int previous = rank() == 1 ? 0 : MPI_PROC_NULL;
  MPI_Status status{};
  MPI_Sendrecv(sent.data(), sent.count(), MPI_BYTE, next, 1, received.data(), received.count(), MPI_BYTE,
               previous, 1, MPI_COMM_WORLD, &status);
  EXPECT_EQ(status.MPI_SOURCE, previous);
  EXPECT_EQ(received.read(), payload(70000, rank() == 1 ? 10 : 5));
}

/// A type that holds absolute addresses, to be used with MPI_BOTTOM.
class AbsoluteType {
 public:
  explicit AbsoluteType(std::initializer_list<const Buffer*> parts) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> addresses;
    for (const Buffer* part : parts) {
      lengths.push_back(part->count());
      MPI_Get_address(part->data(), &addresses.emplace_back());
    }
    MPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(), addresses.data(), MPI_BYTE,
                             &type_);
    MPI_Type_commit(&type_);
  }
  ~AbsoluteType() { MPI_Type_free(&type_); }
  AbsoluteType(const AbsoluteType&) = delete;
  AbsoluteType& operator=(const AbsoluteType&) = delete;
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

TEST(EdgeBuffers, MPI_BOTTOM_with_an_absolute_type_delivers_from_device_to_device) {
  for (const std::size_t bytes : {10u, 5000u, 300000u}) {
    SCOPED_TRACE(bytes);
    const Buffer buffer(MemoryKind::device, bytes, 20 + static_cast<std::uint64_t>(rank()));
    const AbsoluteType type({&buffer});
    if (rank() == 0) {
      MPI_Send(MPI_BOTTOM, 1, type.get(), 1, 1, MPI_COMM_WORLD);
    } else if (rank() == 1) {
      MPI_Recv(MPI_BOTTOM, 1, type.get(), 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(buffer.read(), payload(bytes, 20));
      EXPECT_TRUE(buffer.guard_is_intact());
    }
  }
}

TEST(EdgeBuffers, an_absolute_type_over_two_allocations_is_delivered_or_refused_but_never_wrong) {
  const ErrorsReturned returned;
  for (const MemoryKind second_kind : {MemoryKind::device, MemoryKind::pageable}) {
    SCOPED_TRACE(name_of(second_kind));
    const auto seed = static_cast<std::uint64_t>(30 + rank());
    const Buffer first(MemoryKind::device, 5000, seed);
    const Buffer second(second_kind, 7000, seed + 100);
    const AbsoluteType type({&first, &second});
    int code = MPI_SUCCESS;
    if (rank() == 0) {
      code = MPI_Send(MPI_BOTTOM, 1, type.get(), 1, 1, MPI_COMM_WORLD);
      EXPECT_TRUE(code == MPI_SUCCESS || class_of(code) == MPI_ERR_BUFFER);
      MPI_Send(&code, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    } else if (rank() == 1) {
      Buffer landing(MemoryKind::device, 12000, 40);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Irecv(landing.data(), landing.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
      MPI_Recv(&code, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (code != MPI_SUCCESS) MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (code == MPI_SUCCESS) {
        Bytes both = payload(5000, 30);
        const Bytes rest = payload(7000, 130);
        both.insert(both.end(), rest.begin(), rest.end());
        EXPECT_EQ(landing.read(), both);
      }
    }
  }
}

TEST(EdgeBuffers, a_freed_device_pointer_gives_an_error_and_the_job_goes_on) {
  const ErrorsReturned returned;
  if (rank() == 0) {
    void* gone = nullptr;
    ASSERT_EQ(cudaSetDevice(own_device()), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&gone, 32 << 20), cudaSuccess);
    ASSERT_EQ(cudaFree(gone), cudaSuccess);
    EXPECT_NE(MPI_Send(gone, 1 << 20, MPI_BYTE, 1, 1, MPI_COMM_WORLD), MPI_SUCCESS);
    const Buffer buffer(MemoryKind::device, 1 << 20, 50);
    EXPECT_EQ(MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD), MPI_SUCCESS);
  } else if (rank() == 1) {
    const Buffer buffer(MemoryKind::device, 1 << 20, 51);
    EXPECT_EQ(MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    EXPECT_EQ(buffer.read(), payload(1 << 20, 50));
  }
}

TEST(EdgeBuffers, a_probed_message_refused_for_a_freed_pointer_can_still_be_received) {
  const ErrorsReturned returned;
  if (rank() == 0) {
    const Buffer buffer(MemoryKind::device, 1 << 20, 52);
    EXPECT_EQ(MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD), MPI_SUCCESS);
  } else if (rank() == 1) {
    const Buffer buffer(MemoryKind::device, 1 << 20, 53);
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    void* gone = nullptr;
    ASSERT_EQ(cudaMalloc(&gone, 32 << 20), cudaSuccess);
    ASSERT_EQ(cudaFree(gone), cudaSuccess);
    EXPECT_NE(MPI_Mrecv(gone, 1 << 20, MPI_BYTE, &message, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_NE(message, MPI_MESSAGE_NULL);
    EXPECT_EQ(MPI_Mrecv(buffer.data(), buffer.count(), MPI_BYTE, &message, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(message, MPI_MESSAGE_NULL);
    EXPECT_EQ(buffer.read(), payload(1 << 20, 52));
  }
}

TEST(EdgeBuffers, memory_allocated_again_at_the_same_address_is_sent_anew) {
  for (std::uint64_t round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    const Buffer buffer(MemoryKind::device, 200000, 60 + round * 2 + static_cast<std::uint64_t>(rank()));
    if (rank() == 0) {
      MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    } else if (rank() == 1) {
      MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(buffer.read(), payload(200000, 60 + round * 2));
    }
  }
}

/// What really travels for a device message, taken off the wire below Penstock, and then sent on so that the
/// message completes as usual. Empty if messages to oneself travel otherwise.
Bytes catch_envelope() {
  const Buffer source(MemoryKind::device, 5000, 70);
  const Buffer destination(MemoryKind::device, 5000, 71);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(source.data(), source.count(), MPI_BYTE, rank(), 7, MPI_COMM_WORLD, &request);
  Bytes wire(5000);
  MPI_Status status{};
  int bytes = 0;
  PMPI_Recv(wire.data(), 5000, MPI_BYTE, rank(), 7, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  wire.resize(static_cast<std::size_t>(bytes));
  MPI_Request again = MPI_REQUEST_NULL;
  PMPI_Isend(wire.data(), bytes, MPI_BYTE, rank(), 7, MPI_COMM_WORLD, &again);
  MPI_Recv(destination.data(), destination.count(), MPI_BYTE, rank(), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  PMPI_Wait(&again, MPI_STATUS_IGNORE);
  EXPECT_EQ(destination.read(), payload(5000, 70));
  return bytes == 5000 ? Bytes() : wire;
}

/// What comes first of such a message is no whole number of elements, at which an MPI library may take
/// offence.
TEST(EdgeBuffers, a_device_message_to_oneself_may_end_in_host_memory_with_gaps) {
  constexpr int pairs = 5000;
  struct Pair {
    double value;
    int location;
  };
  std::vector<Pair> expected(pairs);
  for (int i = 0; i < pairs; ++i) expected[static_cast<std::size_t>(i)] = {i * 0.5, i};
  Memory sent(MemoryKind::device, pairs * sizeof(Pair));
  sent.write(0, expected.data(), sent.size());
  for (const int source : {rank(), int{MPI_ANY_SOURCE}}) {
    std::vector<Pair> received(pairs, Pair{-1, -1});
    ASSERT_EQ(MPI_Sendrecv(sent.data(), pairs, MPI_DOUBLE_INT, rank(), 7, received.data(), pairs,
                           MPI_DOUBLE_INT, source, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              MPI_SUCCESS);
    for (std::size_t i = 0; i < pairs; ++i) {
      ASSERT_EQ(received[i].value, expected[i].value) << "pair " << i;
      ASSERT_EQ(received[i].location, expected[i].location) << "pair " << i;
    }
  }
}

TEST(EdgeBuffers, a_message_that_equals_an_envelope_is_delivered_as_itself) {
  const Bytes envelope = catch_envelope();
  ASSERT_FALSE(envelope.empty())
      << "device messages to oneself no longer travel as envelopes: catch one elsewhere";
  const int bytes = static_cast<int>(envelope.size());
  for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::device}) {
    SCOPED_TRACE(name_of(kind));
    if (rank() == 0) {
      MPI_Send(envelope.data(), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Isend(envelope.data(), bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Send_init(envelope.data(), bytes, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      // twice each, as how they go may depend on where the first one went
      int tag = 4;
      for (const MemoryKind source : {MemoryKind::device, MemoryKind::async_pool}) {
        Buffer on_device(source, envelope.size());
        on_device.write(envelope);
        for (int again = 0; again < 2; ++again)
          MPI_Send(on_device.data(), bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
        ++tag;
      }
      // what rank 1 expects: each rank caught another envelope
      PMPI_Send(envelope.data(), bytes, MPI_BYTE, 1, 99, MPI_COMM_WORLD);
    } else if (rank() == 1) {
      std::vector<Bytes> seen;
      for (const int tag : {1, 2, 3, 4, 4, 5, 5}) {
        const Buffer buffer(kind, envelope.size(), 72);
        MPI_Status status{};
        int count = 0;
        MPI_Recv(buffer.data(), bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        EXPECT_EQ(count, bytes);
        EXPECT_TRUE(buffer.guard_is_intact());
        seen.push_back(buffer.read());
      }
      Bytes sent(envelope.size());
      PMPI_Recv(sent.data(), bytes, MPI_BYTE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], sent) << "message " << i + 1;
    }
  }
}

}  // namespace
}  // namespace penstock::programs
