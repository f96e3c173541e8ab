#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <map>

#include "tests/differential/executor.hpp"
#include "tests/support/random.hpp"

namespace penstock::differential {

void Executor::perform_send(ActionKind kind, int index) {
  const Message& message = message_at(index);
  const Datatype type(message.send, message.base, arenas_);
  const void* buffer = buffer_of(message.send, arenas_);
  const int count = type.count();
  const int peer = rank_in(message.communicator, message.destination);
  const MPI_Comm where = communicator(message.communicator);
  MPI_Request& request = request_of({OperationKind::send, index});
  prepare(index);
  using enum ActionKind;
  switch (kind) {
    case send:
      MPI_Send(buffer, count, type.get(), peer, message.tag, where);
      break;
    case ssend:
      MPI_Ssend(buffer, count, type.get(), peer, message.tag, where);
      break;
    case rsend:
      MPI_Rsend(buffer, count, type.get(), peer, message.tag, where);
      break;
    case bsend:
      MPI_Bsend(buffer, count, type.get(), peer, message.tag, where);
      break;
    case isend:
      MPI_Isend(buffer, count, type.get(), peer, message.tag, where, &request);
      break;
    case issend:
      MPI_Issend(buffer, count, type.get(), peer, message.tag, where, &request);
      break;
    case irsend:
      MPI_Irsend(buffer, count, type.get(), peer, message.tag, where, &request);
      break;
    case ibsend:
      MPI_Ibsend(buffer, count, type.get(), peer, message.tag, where, &request);
      break;
    default:
      if (forms_ == Forms::persistent_collectives) {
        MPI_Isend(buffer, count, type.get(), peer, message.tag, where, &request);
        break;
      }
      if (request == MPI_REQUEST_NULL) {
        const auto init = message.send_request % 2 == 0 ? MPI_Send_init : MPI_Ssend_init;
        init(buffer, count, type.get(), peer, message.tag, where, &request);
      }
      MPI_Start(&request);
  }
  if (kind == send || kind == ssend || kind == rsend || kind == bsend) {
    finish_send(index);
  } else if (message.frees_request) {
    MPI_Request_free(&request);
  } else {
    leave_pending(OperationKind::send, index);
  }
}

void Executor::perform_receive(ActionKind kind, int index) {
  const Message& message = message_at(index);
  const Datatype type(message.receive, message.base, arenas_);
  void* buffer = buffer_of(message.receive, arenas_);
  const int count = type.count();
  const int source = message.any_source ? MPI_ANY_SOURCE : rank_in(message.communicator, message.source);
  const int tag = message.any_tag ? MPI_ANY_TAG : message.tag;
  const MPI_Comm where = communicator(message.communicator);
  MPI_Request& request = request_of({OperationKind::receive, index});
  MPI_Status status{};
  MPI_Message matched = MPI_MESSAGE_NULL;
  int flag = 0;
  using enum ActionKind;
  switch (kind) {
    case probe_recv:
      MPI_Probe(source, tag, where, &status);
      [[fallthrough]];
    case recv:
      MPI_Recv(buffer, count, type.get(), source, tag, where, &status);
      break;
    case iprobe_irecv:
      for (; flag == 0; ::sched_yield()) MPI_Iprobe(source, tag, where, &flag, &status);
      [[fallthrough]];
    case irecv:
      MPI_Irecv(buffer, count, type.get(), source, tag, where, &request);
      break;
    case mprobe_mrecv:
      MPI_Mprobe(source, tag, where, &matched, &status);
      MPI_Mrecv(buffer, count, type.get(), &matched, &status);
      break;
    case improbe_imrecv:
      for (; flag == 0; ::sched_yield()) MPI_Improbe(source, tag, where, &flag, &matched, &status);
      MPI_Imrecv(buffer, count, type.get(), &matched, &request);
      break;
    default:
      if (forms_ == Forms::persistent_collectives) {
        MPI_Irecv(buffer, count, type.get(), source, tag, where, &request);
        break;
      }
      if (request == MPI_REQUEST_NULL) {
        MPI_Recv_init(buffer, count, type.get(), source, tag, where, &request);
      }
      MPI_Start(&request);
  }
  if (kind == recv || kind == probe_recv || kind == mprobe_mrecv) {
    finish_receive(index, status);
  } else {
    leave_pending(OperationKind::receive, index);
  }
}

void Executor::perform_sendrecv(int sent, int received) {
  const Message& out = message_at(sent);
  const Message& in = message_at(received);
  const Datatype out_type(out.send, out.base, arenas_);
  const Datatype in_type(in.receive, in.base, arenas_);
  MPI_Status status{};
  prepare(sent);
  MPI_Sendrecv(buffer_of(out.send, arenas_), out_type.count(), out_type.get(),
               rank_in(out.communicator, out.destination), out.tag, buffer_of(in.receive, arenas_),
               in_type.count(), in_type.get(),
               in.any_source ? MPI_ANY_SOURCE : rank_in(in.communicator, in.source),
               in.any_tag ? MPI_ANY_TAG : in.tag, communicator(in.communicator), &status);
  finish_send(sent);
  finish_receive(received, status);
}

/// Everyone sends its part; the destination receives by wildcards. Which source comes next is open, so what
/// was received is told source by source.
void Executor::perform_race(int index) {
  const Race& race = program_.races[static_cast<std::size_t>(index)];
  // no message of this race may meet a receive of the one before
  MPI_Barrier(race_communicator_);
  std::vector<MPI_Request> requests;
  for (std::size_t i = 0; i < race.sources.size(); ++i) {
    if (race.sources[i] != rank_) continue;
    requests.push_back(MPI_REQUEST_NULL);
    MPI_Isend(arenas_.address(race.sends[i]), static_cast<int>(race.sends[i].bytes), MPI_BYTE,
              race.destination, static_cast<int>(i), race_communicator_, &requests.back());
  }
  if (race.destination == rank_) receive_race(race, static_cast<std::size_t>(index));
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void Executor::receive_race(const Race& race, std::size_t index) {
  const std::size_t count = race.receives.size();
  std::vector<MPI_Status> statuses(count);
  std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
  const bool is_persistent = race.how == Race::How::persistent && forms_ != Forms::persistent_collectives;
  const Race::How how =
      race.how == Race::How::persistent && !is_persistent ? Race::How::receives_first : race.how;
  for (std::size_t i = 0; i < count; ++i) {
    void* buffer = arenas_.address(race.receives[i]);
    const int bytes = static_cast<int>(race.receives[i].bytes);
    MPI_Message matched = MPI_MESSAGE_NULL;
    switch (how) {
      case Race::How::receives_first:
        MPI_Irecv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, race_communicator_, &requests[i]);
        break;
      case Race::How::probe:
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, race_communicator_, &statuses[i]);
        MPI_Recv(buffer, bytes, MPI_BYTE, statuses[i].MPI_SOURCE, statuses[i].MPI_TAG, race_communicator_,
                 &statuses[i]);
        break;
      case Race::How::matched_probe:
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, race_communicator_, &matched, &statuses[i]);
        MPI_Mrecv(buffer, bytes, MPI_BYTE, &matched, &statuses[i]);
        break;
      case Race::How::persistent:
        MPI_Recv_init(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, race_communicator_, &requests[i]);
    }
  }
  if (is_persistent) MPI_Startall(static_cast<int>(count), requests.data());
  if (how == Race::How::receives_first || is_persistent) {
    MPI_Waitall(static_cast<int>(count), requests.data(), statuses.data());
  }
  for (MPI_Request& request : requests) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

  std::map<int, std::string> by_source;
  for (std::size_t i = 0; i < count; ++i) {
    int bytes = 0;
    MPI_Get_count(&statuses[i], MPI_BYTE, &bytes);
    // guards are checked by the digest of all memory; which receive got which message is open
    const std::vector<std::byte> content = arenas_.read(race.receives[i]);
    by_source[statuses[i].MPI_SOURCE] +=
        fmt::format(" {}:{}:{:016x}", statuses[i].MPI_TAG, bytes,
                    test_support::digest(content.data(), static_cast<std::size_t>(bytes)));
    arenas_.forget(race.receives[i]);
  }
  for (const auto& [source, seen] : by_source)
    race_lines_[index] += fmt::format("source {}:{} ", source, seen);
}

}  // namespace penstock::differential
