#include "tests/matrix/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>

#include "tests/support/random.hpp"

namespace penstock::matrix {

namespace {

constexpr std::size_t guard_bytes = 256;
constexpr std::size_t alignments = 512;  ///< of doubles, from the start of the allocation

/// Persistent requests are started twice, with another payload in the same buffer.
int rounds_of(Style style) {
#ifdef OPEN_MPI
  // later starts of a buffered request send what the buffer held before, on host memory too:
  // open-mpi/ompi#14366
  if (style == Style::buffered_persistent) return 1;
#endif
  return is_persistent(style) ? 2 : 1;
}

bool is_buffered(Style style) {
  return style == Style::buffered || style == Style::buffered_nonblocking ||
         style == Style::buffered_persistent;
}

/// The buffer that MPI keeps buffered sends in. Detaching waits until they are on their way.
class AttachedBuffer {
 public:
  explicit AttachedBuffer(std::size_t bytes) : bytes_(bytes) {
    MPI_Buffer_attach(bytes_.data(), static_cast<int>(bytes_.size()));
  }
  ~AttachedBuffer() {
    void* buffer = nullptr;
    int bytes = 0;
    MPI_Buffer_detach(&buffer, &bytes);
  }
  AttachedBuffer(const AttachedBuffer&) = delete;
  AttachedBuffer& operator=(const AttachedBuffer&) = delete;

 private:
  std::vector<std::byte> bytes_;
};

/// Long enough for the other rank to enter its blocking call, most of the time; nothing depends on it.
void give_other_a_start() {
  std::this_thread::sleep_for(std::chrono::microseconds(150));
}

}  // namespace

/// One side's buffer: guard, the call's span, guard.
struct Exchange::Side {
  Side(Form form_kind, std::size_t bytes, Room room, Bytes& kept_image)
      : form(form_kind, bytes, room), image(kept_image) {}

  MessageForm form;
  test_support::Memory* memory = nullptr;
  std::size_t offset = 0;  ///< of the first guard byte
  Bytes& image;            ///< what the buffer, guards included, should hold at the end
  Endpoint endpoint{};
  MPI_Request request = MPI_REQUEST_NULL;
};

Exchange::Exchange(bool host_only) : host_only_(host_only), gpus_(host_only ? 0 : test_support::gpu_count()) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_dup(MPI_COMM_WORLD, &data_);
  MPI_Comm_dup(MPI_COMM_WORLD, &to_self_);
  MPI_Comm_dup(MPI_COMM_WORLD, &control_);
}

Exchange::~Exchange() {
  MPI_Comm_free(&control_);
  MPI_Comm_free(&to_self_);
  MPI_Comm_free(&data_);
}

test_support::Memory& Exchange::memory(const Case& test, Role role, std::size_t span_bytes) {
  const MemoryKind asked = role == Role::sender ? test.sender_kind : test.receiver_kind;
  const MemoryKind kind = host_only_ ? MemoryKind::pageable : asked;
  // send and receive in place share a buffer
  const Role owner = test.style == Style::sendrecv_replace ? Role::sender : role;
  int device = 0;
  if (gpus_ > 1 && test.placement == Placement::two_devices) device = rank_ % 2;
  if (gpus_ > 1 && test.placement == Placement::self) device = owner == Role::receiver ? 1 : 0;
  auto& memory = memories_[{kind, device, owner}];
  const std::size_t bytes = span_bytes + 2 * guard_bytes + alignments * sizeof(double);
  if (memory.size() < bytes || test.fresh_memory) {
    memory = test_support::Memory();  // freed first, so that the address may come again
    memory = test_support::Memory(kind, bytes * 5 / 4, device);
  }
  return memory;
}

void Exchange::fill_sender(const Case& test, Side& side, int round) {
  test_support::Random random(test.seed ^ static_cast<std::uint64_t>(1 + round * 2 + rank_));
  payload_.resize(test.bytes);
  random.fill(payload_.data(), payload_.size());
  side.image.resize(side.form.span_bytes() + 2 * guard_bytes);
  random.fill(side.image.data(), side.image.size());
  side.form.scatter(payload_, side.image.data() + guard_bytes);
  side.memory->write(side.offset, side.image.data(), side.image.size());
}

void Exchange::fill_receiver(const Case& test, Side& side, int round) {
  const int sender = side.endpoint.peer;
  test_support::Random payload_random(test.seed ^ static_cast<std::uint64_t>(1 + round * 2 + sender));
  payload_.resize(test.bytes);
  payload_random.fill(payload_.data(), payload_.size());
  if (test.style == Style::sendrecv_replace) {
    // fill_sender wrote the buffer; the gaps keep what it wrote
    side.image.resize(side.form.span_bytes() + 2 * guard_bytes);
    side.memory->read(side.offset, side.image.data(), side.image.size());
  } else {
    test_support::Random random(~test.seed + static_cast<std::uint64_t>(round));
    side.image.resize(side.form.span_bytes() + 2 * guard_bytes);
    random.fill(side.image.data(), side.image.size());
    side.memory->write(side.offset, side.image.data(), side.image.size());
  }
  side.form.scatter(payload_, side.image.data() + guard_bytes);
}

void Exchange::tell_other() {
  MPI_Send(nullptr, 0, MPI_BYTE, 1 - rank_, 0, control_);
}
void Exchange::await_other() {
  MPI_Recv(nullptr, 0, MPI_BYTE, 1 - rank_, 0, control_, MPI_STATUS_IGNORE);
}

void Exchange::scribble(Side& side) {
  std::memset(side.image.data(), 0xa5, side.image.size());
  side.memory->write(side.offset, side.image.data(), side.image.size());
}

void Exchange::send(const Case& test, Side& side) {
  if (test.arrival == Arrival::receiver_first) {
    await_other();
    if (receives_in_one_call(test)) give_other_a_start();
  }
  if (test.arrival == Arrival::sender_first) tell_other();
  start_send(test, side.endpoint, side.request);
  if (side.request != MPI_REQUEST_NULL) (void)complete(side.request, test.completion);
}

std::string Exchange::receive(const Case& test, Side& side) {
  if (test.arrival == Arrival::sender_first) {
    await_other();
    give_other_a_start();
  }
  if (test.probes()) {
    if (test.arrival == Arrival::receiver_first) tell_other();
    MPI_Status probed;
    const MPI_Status status = probe_and_receive(test, side.endpoint, side.request, probed);
    return "probe: " + tell(probed, side.form) + " receive: " + tell(status, side.form);
  }
  if (receives_in_one_call(test)) {
    if (test.arrival == Arrival::receiver_first) tell_other();
    return tell(matrix::receive(test, side.endpoint), side.form);
  }
  start_receive(test, side.endpoint, side.request);
  if (test.arrival == Arrival::receiver_first) tell_other();
  return tell(complete(side.request, test.completion), side.form);
}

std::string Exchange::send_to_self(const Case& test, Side& sender, Side& receiver) {
  std::string seen;
  if (test.arrival == Arrival::receiver_first) {
    start_receive(test, receiver.endpoint, receiver.request);
    start_send(test, sender.endpoint, sender.request);
    seen = tell(complete(receiver.request, test.completion), receiver.form);
  } else {
    start_send(test, sender.endpoint, sender.request);
    if (test.probes()) {
      MPI_Status probed;
      const MPI_Status status = probe_and_receive(test, receiver.endpoint, receiver.request, probed);
      seen = "probe: " + tell(probed, receiver.form) + " receive: " + tell(status, receiver.form);
    } else if (receives_in_one_call(test)) {
      seen = tell(matrix::receive(test, receiver.endpoint), receiver.form);
    } else {
      start_receive(test, receiver.endpoint, receiver.request);
      seen = tell(complete(receiver.request, test.completion), receiver.form);
    }
  }
  if (sender.request != MPI_REQUEST_NULL) (void)complete(sender.request, test.completion);
  return seen;
}

std::string Exchange::exchange(const Case& test, Side& sender, Side& receiver) {
  MPI_Status status = untouched_status();
  const auto [buffer, form, peer, communicator] = receiver.endpoint;
  const bool any_source = test.match == Match::any_source || test.match == Match::any_source_any_tag;
  const bool any_tag = test.match == Match::any_tag || test.match == Match::any_source_any_tag;
  const int source = any_source ? MPI_ANY_SOURCE : peer;
  const int tag = any_tag ? MPI_ANY_TAG : test.tag;
  if (test.style == Style::sendrecv) {
    MPI_Sendrecv(sender.endpoint.buffer, sender.form.count(), sender.form.datatype(), peer, test.tag, buffer,
                 form->count(), form->datatype(), source, tag, communicator, &status);
  } else {
    MPI_Sendrecv_replace(buffer, form->count(), form->datatype(), peer, test.tag, source, tag, communicator,
                         &status);
  }
  return tell(status, *form);
}

void Exchange::judge(const Side& receiver, Outcome& outcome) {
  found_.resize(receiver.image.size());
  receiver.memory->read(receiver.offset, found_.data(), found_.size());
  outcome.seen += fmt::format(" digest={:016x}", test_support::digest(found_.data(), found_.size()));
  if (std::memcmp(found_.data(), receiver.image.data(), found_.size()) == 0) return;
  const auto [wrong, right] = std::mismatch(found_.begin(), found_.end(), receiver.image.begin());
  const auto at = static_cast<std::size_t>(wrong - found_.begin());
  const bool before = at < guard_bytes;
  const bool after = at >= guard_bytes + receiver.form.span_bytes();
  outcome.fault +=
      before || after
          ? fmt::format(" byte {} {} the receive buffer was overwritten",
                        before ? guard_bytes - at : at - guard_bytes - receiver.form.span_bytes(),
                        before ? "before" : "after")
          : fmt::format(" byte {} of the receive buffer is {:#04x} and should be {:#04x}", at - guard_bytes,
                        static_cast<unsigned>(*wrong), static_cast<unsigned>(*right));
}

/// A wildcard or a matched probe ends for good what Penstock does with posted receives on a communicator.
void Exchange::renew_communicator() {
  constexpr int most_cases = 4;
  if (++cases_ % most_cases != 0) return;
  MPI_Comm_free(&data_);
  MPI_Comm_dup(MPI_COMM_WORLD, &data_);
}

Outcome Exchange::run(const Case& test) {
  renew_communicator();
  const bool to_self = test.placement == Placement::self;
  const bool sends = to_self || test.exchanges() || rank_ == 0;
  const bool receives = to_self || test.exchanges() || rank_ == 1;
  const int peer = to_self ? rank_ : 1 - rank_;

  Side sender(test.sender_form, test.bytes, Room::exact, sender_image_);
  Side receiver(test.receiver_form, test.bytes, test.room, receiver_image_);
  const auto place = [&](Side& side, Role role) {
    side.memory = &memory(test, role, side.form.span_bytes());
    // any alignment that the element type allows
    side.offset = test_support::mix(test.seed + (role == Role::sender ? 1 : 0)) % alignments * sizeof(double);
    if (test.style == Style::sendrecv_replace) side.offset = 0;
    side.endpoint = {side.memory->data() + side.offset + guard_bytes, &side.form, peer,
                     to_self ? to_self_ : data_};
    if (role == Role::sender ? !test.sender_is_absolute : !test.receiver_is_absolute) return;
    side.form.make_absolute(side.endpoint.buffer);
    side.endpoint.buffer = MPI_BOTTOM;
  };
  if (sends) place(sender, Role::sender);
  if (receives) place(receiver, Role::receiver);

  std::optional<AttachedBuffer> attached;
  if (is_buffered(test.style)) attached.emplace(2 * (test.bytes + MPI_BSEND_OVERHEAD + 1024));

  Outcome outcome;
  for (int round = 0; round < rounds_of(test.style); ++round) {
    if (sends) fill_sender(test, sender, round);
    if (receives) fill_receiver(test, receiver, round);
    if (to_self && !test.exchanges()) {
      outcome.seen += send_to_self(test, sender, receiver);
    } else if (test.exchanges()) {
      outcome.seen += exchange(test, sender, receiver);
    } else if (sends) {
      send(test, sender);
    } else {
      outcome.seen += receive(test, receiver);
    }
    // a completed send must not care what becomes of its buffer
    if (sends && test.style != Style::sendrecv_replace) scribble(sender);
    if (receives) judge(receiver, outcome);
  }
  if (sender.request != MPI_REQUEST_NULL) MPI_Request_free(&sender.request);
  if (receiver.request != MPI_REQUEST_NULL) MPI_Request_free(&receiver.request);
  return outcome;
}

}  // namespace penstock::matrix
