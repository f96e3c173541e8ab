#include "tests/soak/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "tests/support/random.hpp"

namespace penstock::soak {
namespace {

using test_support::Memory;
using test_support::MemoryKind;
using Bytes = std::vector<std::byte>;

/// What rank `sender` sends in a round.
Bytes payload(std::uint64_t round, int sender, std::size_t bytes) {
  Bytes content(bytes);
  test_support::Random(round * 2 + static_cast<std::uint64_t>(sender)).fill(content.data(), bytes);
  return content;
}

Memory filled(MemoryKind kind, int rank, const Bytes& content) {
  Memory memory(kind, content.size(), rank % test_support::gpu_count());
  memory.write(0, content.data(), content.size());
  return memory;
}

Memory empty(MemoryKind kind, int rank, std::size_t bytes) {
  return filled(kind, rank, Bytes(bytes));
}

int count(std::size_t bytes) noexcept {
  return static_cast<int>(bytes);
}

/// Completes them by another call each time.
void complete(std::vector<MPI_Request>& requests, std::uint64_t turn) {
  const int all = static_cast<int>(requests.size());
  std::vector<int> indices(requests.size());
  int done = 0;
  switch (turn % 4) {
    case 0:
      MPI_Waitall(all, requests.data(), MPI_STATUSES_IGNORE);
      break;
    case 1:
      for (int some = 0; some != MPI_UNDEFINED;)
        MPI_Waitsome(all, requests.data(), &some, indices.data(), MPI_STATUSES_IGNORE);
      break;
    case 2:
      while (done == 0) MPI_Testall(all, requests.data(), &done, MPI_STATUSES_IGNORE);
      break;
    default:
      for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

}  // namespace

void Traffic::round() {
  ++round_;
  window();
  probed_message();
  message_to_itself();
  if (round_ % 2 == 0) large_message();
  if (round_ % 4 == 0) strided_message();
  if (round_ % 16 == 0) late_messages();
  if (round_ % 16 == 8) forgotten_requests();
  if (round_ % 32 == 4) short_lived_communicator();
  if (round_ % 16 == 12) collective_calls();
}

/// All pairs of kinds come by in 36 turns.
MemoryKind Traffic::kind(std::uint64_t turn) const noexcept {
  return test_support::memory_kinds[turn % test_support::memory_kinds.size()];
}

void Traffic::compare(const Memory& received, std::size_t bytes, int sender, const char* what) {
  Bytes content(bytes);
  received.read(0, content.data(), bytes);
  if (fault_.empty() && content != payload(round_, sender, bytes))
    fault_ = fmt::format("round {}: wrong bytes in {} of {} bytes", round_, what, bytes);
}

/// Many small messages at once, out of one buffer and into one, every other time to receives that take any.
void Traffic::window() {
  constexpr std::array<std::size_t, 5> sizes = {1, 64, 65, 700, 9000};
  const std::size_t bytes = sizes[round_ % sizes.size()];
  const std::size_t all_bytes = bytes * window_messages_;
  const Memory sent = filled(kind(round_), rank_, payload(round_, rank_, all_bytes));
  const Memory received = empty(kind(round_ / 6), rank_, all_bytes);
  const bool any = round_ % 2 == 0;
  std::vector<MPI_Request> requests(2 * window_messages_, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < window_messages_; ++i) {
    MPI_Irecv(received.data() + i * bytes, count(bytes), MPI_BYTE, any ? MPI_ANY_SOURCE : other(),
              any ? MPI_ANY_TAG : static_cast<int>(i), MPI_COMM_WORLD, &requests[i]);
  }
  for (std::size_t i = 0; i < window_messages_; ++i) {
    MPI_Isend(sent.data() + i * bytes, count(bytes), MPI_BYTE, other(), static_cast<int>(i), MPI_COMM_WORLD,
              &requests[window_messages_ + i]);
  }
  complete(requests, round_);
  messages_ += window_messages_;
  compare(received, all_bytes, other(), "a window");
}

void Traffic::large_message() {
  constexpr std::array<std::size_t, 5> sizes = {65537, 200'000, 300'000, 1u << 20, (2u << 20) + 3};
  const std::size_t bytes = sizes[round_ / 2 % sizes.size()];
  const Memory sent = filled(kind(round_ / 2), rank_, payload(round_, rank_, bytes));
  const Memory received = empty(kind(round_ / 12), rank_, bytes);
  // a tag for each kind: where payloads with a tag went is where they are expected to go
  const int tag = static_cast<int>(sent.kind());
  MPI_Sendrecv(sent.data(), count(bytes), MPI_BYTE, other(), tag, received.data(), count(bytes), MPI_BYTE,
               other(), MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  ++messages_;
  compare(received, bytes, other(), "a large message");
}

/// By a datatype that is freed before the message is complete.
void Traffic::strided_message() {
  const int rows = 10 + static_cast<int>(round_ % 90);
  const std::size_t bytes = static_cast<std::size_t>(rows) * 1000;
  Memory sent = empty(kind(round_ / 4), rank_, bytes * 2);
  const Bytes content = payload(round_, rank_, bytes);
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row)
    sent.write(row * 2000, content.data() + row * 1000, 1000);
  const Memory received = empty(kind(round_ / 24), rank_, bytes);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1000, 2000, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  std::vector<MPI_Request> requests(2, MPI_REQUEST_NULL);
  MPI_Irecv(received.data(), count(bytes), MPI_BYTE, other(), 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(sent.data(), 1, type, other(), 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Type_free(&type);
  complete(requests, round_);
  ++messages_;
  compare(received, bytes, other(), "a strided message");
}

void Traffic::probed_message() {
  const std::size_t bytes = 100 + round_ % 3000;
  const Memory sent = filled(MemoryKind::device, rank_, payload(round_, rank_, bytes));
  const Memory received = empty(MemoryKind::device, rank_, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(sent.data(), count(bytes), MPI_BYTE, other(), 2, MPI_COMM_WORLD, &request);
  if (round_ % 2 == 0) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Mprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(received.data(), count(bytes), MPI_BYTE, &message, MPI_STATUS_IGNORE);
  } else {
    MPI_Status status;
    MPI_Probe(other(), MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Recv(received.data(), count(bytes), MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  ++messages_;
  compare(received, bytes, other(), "a probed message");
}

void Traffic::message_to_itself() {
  const std::size_t bytes = 100 + round_ * 37 % 5000;
  const Memory sent = filled(kind(round_), rank_, payload(round_, rank_, bytes));
  const Memory received = empty(kind(round_ / 6), rank_, bytes);
  MPI_Sendrecv(sent.data(), count(bytes), MPI_BYTE, rank_, 3, received.data(), count(bytes), MPI_BYTE, rank_,
               3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  ++messages_;
  compare(received, bytes, rank_, "a message to itself");
}

/// Both ranks send before either receives.
void Traffic::late_messages() {
  constexpr int messages = 40;
  constexpr std::size_t bytes = 2000;
  const Memory sent = filled(MemoryKind::device, rank_, payload(round_, rank_, bytes * messages));
  const Memory received = empty(MemoryKind::device, rank_, bytes * messages);
  for (std::size_t i = 0; i < messages; ++i)
    MPI_Send(sent.data() + i * bytes, count(bytes), MPI_BYTE, other(), 4, MPI_COMM_WORLD);
  for (std::size_t i = 0; i < messages; ++i)
    MPI_Recv(received.data() + i * bytes, count(bytes), MPI_BYTE, other(), 4, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  messages_ += messages;
  compare(received, bytes * messages, other(), "late messages");
}

/// A send whose request is freed at once, a receive that is cancelled, a persistent pair used once.
void Traffic::forgotten_requests() {
  const std::size_t bytes = 3000;
  const Memory sent = filled(MemoryKind::device, rank_, payload(round_, rank_, bytes));
  const Memory received = empty(MemoryKind::device, rank_, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(sent.data(), count(bytes), MPI_BYTE, other(), 5, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Irecv(received.data(), count(bytes), MPI_BYTE, other(), 99, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Recv(received.data(), count(bytes), MPI_BYTE, other(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  compare(received, bytes, other(), "a message whose request was freed");

  std::array<MPI_Request, 2> persistent{};
  MPI_Recv_init(received.data(), count(bytes), MPI_BYTE, other(), 6, MPI_COMM_WORLD, &persistent[0]);
  MPI_Ssend_init(sent.data(), count(bytes), MPI_BYTE, other(), 6, MPI_COMM_WORLD, &persistent[1]);
  MPI_Startall(2, persistent.data());
  MPI_Waitall(2, persistent.data(), MPI_STATUSES_IGNORE);
  for (MPI_Request& each : persistent) MPI_Request_free(&each);
  messages_ += 2;
  compare(received, bytes, other(), "a persistent message");
  // the freed send's buffer must not go before its receiver has it
  MPI_Barrier(MPI_COMM_WORLD);
}

void Traffic::short_lived_communicator() {
  constexpr std::size_t bytes = 500;
  const Memory sent = filled(MemoryKind::device, rank_, payload(round_, rank_, bytes));
  const Memory received = empty(MemoryKind::device, rank_, bytes);
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Sendrecv(sent.data(), count(bytes), MPI_BYTE, other(), 7, received.data(), count(bytes), MPI_BYTE,
               other(), 7, communicator, MPI_STATUS_IGNORE);
  MPI_Comm_free(&communicator);
  ++messages_;
  compare(received, bytes, other(), "a message on a communicator of its own");
}

/// What each rank sends to all, it gets back from the other.
void Traffic::collective_calls() {
  const std::size_t bytes = 1000 + round_ % 50'000;
  Bytes both(2 * bytes);
  const Bytes own = payload(round_, rank_, bytes);
  std::copy(own.begin(), own.end(), both.begin() + static_cast<std::ptrdiff_t>(bytes) * other());
  const Memory sent = filled(kind(round_ / 16), rank_, both);
  const Memory received = empty(kind(round_ / 96), rank_, 2 * bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ialltoall(sent.data(), count(bytes), MPI_BYTE, received.data(), count(bytes), MPI_BYTE, MPI_COMM_WORLD,
                &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Bcast(received.data(), count(bytes), MPI_BYTE, 1, MPI_COMM_WORLD);
  // of rank 1 that is what rank 0 sent to it; rank 0 has its own part there, which is nothing
  compare(received, bytes, 0, "collective calls");
}

}  // namespace penstock::soak
