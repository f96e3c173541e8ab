// Messages whose bytes lie in several allocations of different kinds (MPI_BOTTOM and absolute addresses): no
// transport reaches them in one piece. A plain host computation says what has to arrive.
#include <functional>

#include "interpose/binding/mpi_level.hpp"
#include "tests/programs/scattered_payload.hpp"

namespace penstock::programs {
namespace {

const MPI_Comm world = MPI_COMM_WORLD;

/// Two blocks of any two kinds; some equally long, some of an envelope's size in all.
std::vector<Shape> pairs(const std::vector<std::vector<int>>& sizes) {
  std::vector<Shape> shapes;
  for (const BlockKind& first : block_kinds()) {
    for (const BlockKind& second : block_kinds()) {
      for (const std::vector<int>& bytes : sizes) shapes.push_back({{first, second}, bytes});
    }
  }
  return shapes;
}
std::vector<Shape> triples(const std::vector<std::vector<int>>& sizes) {
  std::vector<Shape> shapes;
  std::size_t next = 0;
  for (const BlockKind& first : block_kinds()) {
    for (const BlockKind& second : block_kinds()) {
      for (const BlockKind& third : block_kinds())
        shapes.push_back({{first, second, third}, sizes[next++ % sizes.size()]});
    }
  }
  return shapes;
}

Shape in_one_block(MemoryKind kind, std::size_t bytes) {
  return {{{kind}}, {static_cast<int>(bytes)}};
}
/// The same kinds the other way round, and cut elsewhere.
Shape reversed(const Shape& shape) {
  return {
      {shape.kinds.rbegin(), shape.kinds.rend()}, {shape.bytes.rbegin(), shape.bytes.rend()}, shape.elements};
}

using Send = std::function<void(const Scattered&)>;
using Receive = std::function<void(const Scattered&, MPI_Status*)>;

/// From rank 0 to rank 1.
void expect_to_arrive(const Shape& source, const Shape& destination, const Send& send,
                      const Receive& receive) {
  SCOPED_TRACE("from " + source.name() + " to " + destination.name());
  static std::uint64_t seed = 0;
  const Bytes content = payload(source.size(), ++seed);
  if (rank() == 0) {
    Scattered sent(0, source);
    sent.fill(content);
    send(sent);
    EXPECT_TRUE(sent.holds(content));
  } else {
    const Scattered received(1, destination);
    MPI_Status status{};
    receive(received, &status);
    int count = -1;
    MPI_Get_elements(&status, MPI_BYTE, &count);
    EXPECT_EQ(count, static_cast<int>(content.size()));
    EXPECT_TRUE(received.holds(content));
  }
}

void send_blocking(const Scattered& sent) {
  MPI_Send(MPI_BOTTOM, sent.count(), sent.type(), 1, 7, world);
}
void send_synchronously(const Scattered& sent) {
  MPI_Ssend(MPI_BOTTOM, sent.count(), sent.type(), 1, 7, world);
}
void send_later(const Scattered& sent) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(MPI_BOTTOM, sent.count(), sent.type(), 1, 7, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
void send_buffered(const Scattered& sent) {
  int size = 0;
  MPI_Pack_size(sent.count(), sent.type(), world, &size);
  Bytes buffer(static_cast<std::size_t>(size) + MPI_BSEND_OVERHEAD);
  MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
  MPI_Bsend(MPI_BOTTOM, sent.count(), sent.type(), 1, 7, world);
  void* address = nullptr;
  MPI_Buffer_detach(static_cast<void*>(&address), &size);
}
void send_persistently(const Scattered& sent) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Send_init(MPI_BOTTOM, sent.count(), sent.type(), 1, 7, world, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}
void receive_blocking(const Scattered& received, MPI_Status* status) {
  MPI_Recv(MPI_BOTTOM, received.count(), received.type(), 0, 7, world, status);
}
void receive_later(const Scattered& received, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(MPI_BOTTOM, received.count(), received.type(), MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request);
  MPI_Wait(&request, status);
}
void receive_probed(const Scattered& received, MPI_Status* status) {
  MPI_Probe(0, 7, world, status);
  MPI_Recv(MPI_BOTTOM, received.count(), received.type(), 0, 7, world, status);
}
void receive_matched(const Scattered& received, MPI_Status* status) {
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &message, status);
  MPI_Mrecv(MPI_BOTTOM, received.count(), received.type(), &message, status);
}
void receive_persistently(const Scattered& received, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Recv_init(MPI_BOTTOM, received.count(), received.type(), 0, 7, world, &request);
  MPI_Start(&request);
  MPI_Wait(&request, status);
  MPI_Request_free(&request);
}

const std::vector<std::vector<int>> small_and_large = {
    {1, 1}, {4, 12}, {32, 32}, {24, 40}, {5, 200}, {1000, 1000}, {100'000, 30'000}, {65'536, 65'536}};

TEST(ScatteredPayloads, of_two_allocations_are_sent_to_a_device) {
  for (const Shape& shape : pairs(small_and_large))
    expect_to_arrive(shape, in_one_block(MemoryKind::device, shape.size()), send_blocking, receive_blocking);
}

TEST(ScatteredPayloads, of_two_allocations_are_received_from_a_device) {
  for (const Shape& shape : pairs(small_and_large))
    expect_to_arrive(in_one_block(MemoryKind::device, shape.size()), shape, send_blocking, receive_blocking);
}

TEST(ScatteredPayloads, of_two_allocations_are_received_from_the_host) {
  for (const Shape& shape : pairs({{1, 3}, {32, 32}, {40'000, 40'000}}))
    expect_to_arrive(in_one_block(MemoryKind::pageable, shape.size()), shape, send_later, receive_later);
}

TEST(ScatteredPayloads, of_three_allocations_go_to_three_others) {
  for (const Shape& shape : triples({{1, 2, 3}, {16, 24, 24}, {500, 500, 500}, {30'000, 100, 20'000}}))
    expect_to_arrive(shape, reversed(shape), send_later, receive_later);
}

TEST(ScatteredPayloads, of_elements_that_alternate_between_allocations_arrive) {
  for (Shape shape : pairs({{4, 4}, {3, 8}})) {
    shape.elements = 500;
    expect_to_arrive(shape, reversed(shape), send_blocking, receive_blocking);
    expect_to_arrive(shape, in_one_block(MemoryKind::device, shape.size()), send_blocking, receive_blocking);
    expect_to_arrive(in_one_block(MemoryKind::device, shape.size()), shape, send_blocking, receive_blocking);
  }
}

TEST(ScatteredPayloads, are_sent_and_received_by_every_call) {
  const std::vector<Send> sends = {send_blocking, send_synchronously, send_later, send_buffered,
                                   send_persistently};
  const std::vector<Receive> receives = {receive_blocking, receive_later, receive_probed, receive_matched,
                                         receive_persistently};
  std::size_t turn = 0;
  const std::vector<std::vector<int>> sizes = {{32, 32}, {3000, 3000}, {70'000, 1000}};
  std::size_t next = 0;
  for (Shape shape : pairs({{}})) {
    shape.bytes = sizes[next++ % sizes.size()];
    for (const Send& send : sends) {
      const Receive& receive = receives[turn++ % receives.size()];
      expect_to_arrive(shape, reversed(shape), send, receive);
      expect_to_arrive(in_one_block(MemoryKind::device, shape.size()), shape, send, receive);
    }
    ++turn;
  }
}

TEST(ScatteredPayloads, that_are_shorter_than_the_receive_leave_the_rest_as_it_is) {
  for (const Shape& shape : pairs({{100, 100}, {20'000, 20'000}})) {
    for (const std::size_t bytes : {std::size_t{10}, shape.size() / 2, shape.size() / 2 + 7}) {
      expect_to_arrive(in_one_block(MemoryKind::device, bytes), shape, send_blocking, receive_later);
      expect_to_arrive(in_one_block(MemoryKind::pageable, bytes), shape, send_blocking, receive_blocking);
    }
  }
}

TEST(ScatteredPayloads, that_are_longer_than_the_receive_are_truncated) {
  const ErrorsReturned errors_returned;
  for (const Shape& shape : pairs({{100, 100}, {20'000, 20'000}})) {
    SCOPED_TRACE(shape.name());
    for (const MemoryKind kind : {MemoryKind::pageable, MemoryKind::device}) {
      if (rank() == 0) {
        Scattered sent(0, in_one_block(kind, shape.size() + 1000));
        MPI_Send(MPI_BOTTOM, 1, sent.type(), 1, 7, world);
      } else {
        const Scattered received(1, shape);
        const int code = MPI_Recv(MPI_BOTTOM, 1, received.type(), 0, 7, world, MPI_STATUS_IGNORE);
        EXPECT_EQ(class_of(code), MPI_ERR_TRUNCATE);
      }
    }
    expect_to_arrive(shape, shape, send_blocking, receive_blocking);
  }
}

TEST(ScatteredPayloads, are_exchanged_both_ways_at_once) {
  for (const Shape& shape : pairs({{32, 32}, {9000, 9000}})) {
    SCOPED_TRACE(shape.name());
    const auto of = [&](int from) { return payload(shape.size(), 100 + static_cast<std::uint64_t>(from)); };
    const int other = 1 - rank();
    Scattered sent(0, shape);
    const Scattered received(1, reversed(shape));
    sent.fill(of(rank()));
    MPI_Sendrecv(MPI_BOTTOM, 1, sent.type(), other, 1, MPI_BOTTOM, 1, received.type(), other, 1, world,
                 MPI_STATUS_IGNORE);
    EXPECT_TRUE(received.holds(of(other)));
    MPI_Sendrecv_replace(MPI_BOTTOM, 1, sent.type(), other, 2, other, 2, world, MPI_STATUS_IGNORE);
    EXPECT_TRUE(sent.holds(of(other)));
#if PENSTOCK_HAS_MPI_4
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isendrecv_replace(MPI_BOTTOM, 1, sent.type(), other, 3, other, 3, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_TRUE(sent.holds(of(rank())));
#endif
  }
}

TEST(ScatteredPayloads, are_sent_after_what_was_queued_on_their_GPUs) {
  for (const Shape& shape : pairs({{200'000, 200'000}})) {
    const Bytes content = payload(shape.size(), 5);
    if (rank() == 0) {
      Scattered sent(0, shape);
      sent.fill_in_stream_order(content);
      MPI_Send(MPI_BOTTOM, 1, sent.type(), 1, 7, world);
    } else {
      const Scattered received(1, reversed(shape));
      MPI_Recv(MPI_BOTTOM, 1, received.type(), 0, 7, world, MPI_STATUS_IGNORE);
      EXPECT_TRUE(received.holds(content)) << shape.name();
    }
  }
}

}  // namespace
}  // namespace penstock::programs
