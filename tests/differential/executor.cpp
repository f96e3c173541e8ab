#include "tests/differential/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/differential/planted_errors.hpp"
#include "tests/support/random.hpp"
#include "tests/support/watchdog.hpp"

namespace penstock::differential {

namespace {

template <typename T>
auto& at(std::vector<T>& list, int index) {
  return list[static_cast<std::size_t>(index)];
}

/// Fault-finding by the status alone: the fields that do not depend on which call completed the receive.
std::string tell_status(const MPI_Status& status, MPI_Datatype type) {
  int count = 0;
  int elements = 0;
  int cancelled = 0;
  MPI_Get_count(&status, type, &count);
  MPI_Get_elements(&status, type, &elements);
  MPI_Test_cancelled(&status, &cancelled);
  return fmt::format("source={} tag={} count={} elements={} cancelled={}", status.MPI_SOURCE, status.MPI_TAG,
                     count, elements, cancelled);
}

/// What a message's buffer is filled from.
std::uint64_t value_of(const Program& program, int message) {
  return program.seed * 4096 + static_cast<std::uint64_t>(message);
}

MPI_Comm make_ring(MPI_Comm communicator) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  if (size == 1) return MPI_COMM_NULL;
  const int neighbours[] = {(rank + size - 1) % size, (rank + 1) % size};
  const int count = size == 2 ? 1 : 2;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(communicator, count, neighbours, MPI_UNWEIGHTED, count, neighbours,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  return ring;
}

Blocking blocking_form_of(Forms forms) {
  switch (forms) {
    case Forms::persistent_collectives:
      return Blocking::by_persistent_request;
    case Forms::nonblocking_collectives:
      return Blocking::by_nonblocking_call;
    case Forms::persistent_messages:
      break;
  }
  return Blocking::at_once;
}

/// Before non-blocking collectives of device memory go by messages, one has been called, and blocking ones
/// after it.
void let_ranks_agree(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  const test_support::Memory memory(test_support::MemoryKind::device, 4096, rank % test_support::gpu_count());
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibcast(memory.data(), 4096, MPI_BYTE, 0, communicator, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(communicator);
  MPI_Barrier(communicator);
}

}  // namespace

Executor::Executor(const Program& program, MPI_Comm world, Arenas& arenas, Forms forms)
    : program_(program),
      world_(world),
      arenas_(arenas),
      forms_(forms),
      send_requests_(program.messages.size(), MPI_REQUEST_NULL),
      receive_requests_(program.messages.size(), MPI_REQUEST_NULL),
      collective_requests_(program.collectives.size(), MPI_REQUEST_NULL),
      unmatched_requests_(program.unmatched.size(), MPI_REQUEST_NULL),
      collectives_(program.collectives.size()),
      freed_(program.freed.size()),
      message_lines_(program.messages.size()),
      collective_lines_(program.collectives.size()),
      race_lines_(program.races.size()),
      unmatched_lines_(program.unmatched.size()),
      freed_lines_(program.freed.size()),
      error_lines_(program.errors.size()) {
  MPI_Comm_rank(world, &rank_);
  make_communicators();
  attach_buffer();
}

Executor::~Executor() {
  void* buffer = nullptr;
  int bytes = 0;
  MPI_Buffer_detach(&buffer, &bytes);
  for (auto* requests : {&send_requests_, &receive_requests_}) {
    for (MPI_Request& request : *requests) {
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);  // idle persistent ones
    }
  }
  for (MPI_Comm& ring : rings_) {
    if (ring != MPI_COMM_NULL) MPI_Comm_free(&ring);
  }
  for (MPI_Comm& made : communicators_) {
    if (made != world_) MPI_Comm_free(&made);
  }
  MPI_Comm_free(&race_communicator_);
}

void Executor::make_communicators() {
  MPI_Comm_dup(world_, &race_communicator_);
  communicators_.push_back(world_);
  for (std::size_t i = 1; i < program_.communicators.size(); ++i) {
    const Communicator& plan = program_.communicators[i];
    MPI_Comm made = MPI_COMM_NULL;
    if (plan.is_duplicate) {
      MPI_Comm_dup(world_, &made);
    } else {
      MPI_Comm_split(world_, plan.color_of_rank[rank_], plan.key_of_rank[rank_], &made);
    }
    communicators_.push_back(made);
  }
  for (const MPI_Comm made : communicators_) rings_.push_back(make_ring(made));
}

void Executor::use_gpu() {
  arenas_.use_gpu();
  if (forms_ != Forms::nonblocking_collectives || test_support::gpu_count() == 0) return;
  for (const MPI_Comm made : communicators_) let_ranks_agree(made);
}

void Executor::attach_buffer() {
  std::size_t bytes = 4096;
  for (const Message& message : program_.messages) {
    if (message.source == rank_) {
      bytes +=
          static_cast<std::size_t>(message.send.elements()) * size_of(message.base) + MPI_BSEND_OVERHEAD + 64;
    }
  }
  attached_.resize(bytes);
  MPI_Buffer_attach(attached_.data(), static_cast<int>(bytes));
}

int Executor::rank_in(int communicator, int rank) const {
  const auto& members = program_.communicators[static_cast<std::size_t>(communicator)].members;
  return static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
}

void Executor::run() {
  int done = 0;
  for (const Action& action : program_.actions[static_cast<std::size_t>(rank_)]) {
    test_support::progress("seed %llu, action %d of kind %d, operation %d",
                           static_cast<unsigned long long>(program_.seed), done++,
                           static_cast<int>(action.kind), action.index);
    perform(action);
  }
  // sends whose requests were freed are over when their receivers are
  MPI_Barrier(world_);
}

void Executor::perform(const Action& action) {
  if (!action.inside) {
    perform_here(action);
  } else if (!run_in(*action.inside, test_support::Caller::rank, [&] { perform_here(action); })) {
    fmt::print(stderr, "FAILED seed {} on rank {}: MPI has not called the {} once\n", program_.seed, rank_,
               name_of(*action.inside));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

void Executor::perform_here(const Action& action) {
  const bool may_be_persistent = forms_ != Forms::persistent_collectives;
  using enum ActionKind;
  switch (action.kind) {
    case send:
    case ssend:
    case rsend:
    case bsend:
    case isend:
    case issend:
    case irsend:
    case ibsend:
    case start_send:
      perform_send(action.kind, action.index);
      break;
    case recv:
    case irecv:
    case start_receive:
    case probe_recv:
    case iprobe_irecv:
    case mprobe_mrecv:
    case improbe_imrecv:
      perform_receive(action.kind, action.index);
      break;
    case meet:
      MPI_Barrier(world_);
      break;
    case ActionKind::use_gpu:
      Executor::use_gpu();
      break;
    case sendrecv:
      perform_sendrecv(action.index, action.other);
      break;
    case collective:
      perform_collective(action.index);
      break;
    case race:
      perform_race(action.index);
      break;
    case ActionKind::unmatched_receive:
      post_unmatched(action.index);
      break;
    case ActionKind::unmatched_cancel:
      cancel_unmatched(action.index);
      break;
    case freed_start:
      at(freed_, action.index) = std::make_unique<FreedRun>(
          program_.freed[static_cast<std::size_t>(action.index)], world_, arenas_, may_be_persistent);
      break;
    case freed_finish:
      at(freed_lines_, action.index) = at(freed_, action.index)->finish();
      at(freed_, action.index).reset();
      break;
    case planted_errors:
      at(error_lines_, action.index) = plant_errors(program_.errors[static_cast<std::size_t>(action.index)],
                                                    world_, arenas_, may_be_persistent);
      break;
    case pause:
      std::this_thread::sleep_for(std::chrono::microseconds(action.index));
      break;
    default:
      complete(action);
  }
}

void Executor::perform_collective(int index) {
  const Collective& collective = program_.collectives[static_cast<std::size_t>(index)];
  auto& run = at(collectives_, index);
  const MPI_Comm where = is_of_neighbours(collective.call) ? at(rings_, collective.communicator)
                                                           : communicator(collective.communicator);
  run = std::make_unique<CollectiveRun>(collective, arenas_, where, affine_.get());
  run->start(at(collective_requests_, index), blocking_form_of(forms_));
  if (collective.blocking) {
    finish_collective(index);
  } else {
    leave_pending(OperationKind::collective, index);
  }
}

void Executor::finish_collective(int index) {
  const Collective& collective = program_.collectives[static_cast<std::size_t>(index)];
  at(collectives_, index).reset();
  if (collective.call == CollectiveCall::barrier) return;
  const auto member = static_cast<std::size_t>(rank_in(collective.communicator, rank_));
  const Region& receive = collective.members[member].receive;
  arenas_.forget(receive, CollectiveRun::defined_bytes(collective, member));
  if (is_reduction(collective.call))
    arenas_.forget(receive, gap_of(collective.reduction), element_bytes(collective.reduction));
  at(collective_lines_, index) = fmt::format("digest={:016x}", arenas_.digest(receive));
  if (collective.members[member].receive_is_absolute) {
    at(collective_lines_, index) +=
        fmt::format("/{:016x}", arenas_.digest(collective.members[member].receive_rest));
  }
}

void Executor::post_unmatched(int index) {
  const Unmatched& unmatched = program_.unmatched[static_cast<std::size_t>(index)];
  MPI_Irecv(arenas_.address(unmatched.region), static_cast<int>(unmatched.region.bytes), MPI_BYTE,
            MPI_ANY_SOURCE, unmatched.tag, communicator(unmatched.communicator),
            &at(unmatched_requests_, index));
}

void Executor::cancel_unmatched(int index) {
  const Unmatched& unmatched = program_.unmatched[static_cast<std::size_t>(index)];
  MPI_Status status{};
  int cancelled = 0;
  MPI_Cancel(&at(unmatched_requests_, index));
  MPI_Wait(&at(unmatched_requests_, index), &status);
  MPI_Test_cancelled(&status, &cancelled);
  at(unmatched_lines_, index) =
      fmt::format("cancelled={} digest={:016x}", cancelled, arenas_.digest(unmatched.region));
}

void Executor::prepare(int message) {
  const Message& sent = message_at(message);
  if (sent.fills_late) {
    for (const Region& region : regions_of(sent.send)) {
      arenas_.fill_in_stream_order(region, value_of(program_, message) + region.offset);
    }
  }
}

void Executor::finish_send(int message) {
  // from here on the buffer is the program's again: what it writes must not reach the receiver
  for (const Region& region : regions_of(message_at(message).send)) {
    arenas_.fill(region, ~(value_of(program_, message) + region.offset));
  }
}

void Executor::finish_receive(int message, const MPI_Status& status) {
  const Message& received = message_at(message);
  const Datatype type(received.receive, received.base, arenas_);
  std::string& line = at(message_lines_, message);
  line = tell_status(status, type.get());
  if (received.checks_at_once) line += digest_of(received.receive);
}

std::string Executor::digest_of(const Place& place) const {
  std::string digests = " digest=";
  for (const Region& region : regions_of(place)) {
    digests += fmt::format("{}{:016x}", digests.back() == '=' ? "" : "/", arenas_.digest(region));
  }
  return digests;
}

std::vector<std::string> Executor::tell() {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < program_.messages.size(); ++i) {
    const Message& message = program_.messages[i];
    if (message.destination != rank_) continue;
    if (!message.checks_at_once) {
      message_lines_[i] += digest_of(message.receive);
    }
    lines.push_back(fmt::format("message {}: {}", i, message_lines_[i]));
  }
  const auto tell_all = [&](const char* what, const std::vector<std::string>& told) {
    for (std::size_t i = 0; i < told.size(); ++i) {
      if (!told[i].empty()) lines.push_back(fmt::format("{} {}: {}", what, i, told[i]));
    }
  };
  tell_all("collective", collective_lines_);
  tell_all("race", race_lines_);
  tell_all("unmatched receive", unmatched_lines_);
  tell_all("freed handles", freed_lines_);
  tell_all("planted errors", error_lines_);
  for (const MemoryKind kind : test_support::memory_kinds) {
    if (program_.arena_bytes[rank_][static_cast<std::size_t>(kind)] == 0) continue;
    lines.push_back(fmt::format("all {} memory: digest={:016x}", name_of(kind), arenas_.digest(kind)));
  }
  return lines;
}

}  // namespace penstock::differential
