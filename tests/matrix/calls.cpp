#include "tests/matrix/calls.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <array>

namespace penstock::matrix {

namespace {

int source_argument(const Case& test, int peer) {
  return test.match == Match::any_source || test.match == Match::any_source_any_tag ? MPI_ANY_SOURCE : peer;
}
int tag_argument(const Case& test) {
  return test.match == Match::any_tag || test.match == Match::any_source_any_tag ? MPI_ANY_TAG : test.tag;
}

/// A test for completion in the forms that return at once; true when it is complete.
bool test_once(std::array<MPI_Request, 3>& requests, Completion completion,
               std::array<MPI_Status, 3>& statuses) {
  int flag = 0;
  int index = 0;
  std::array<int, 3> indices{};
  switch (completion) {
    case Completion::test:
      MPI_Test(&requests[1], &flag, &statuses[1]);
      return flag != 0;
    case Completion::testall:
      MPI_Testall(3, requests.data(), &flag, statuses.data());
      return flag != 0;
    case Completion::testany:
      MPI_Testany(3, requests.data(), &index, &flag, &statuses[1]);
      return flag != 0;
    default:
      MPI_Testsome(3, requests.data(), &index, indices.data(), statuses.data());
      statuses[1] = statuses[0];
      return index == 1;
  }
}

}  // namespace

MPI_Status untouched_status() {
  MPI_Status status{};
  status.MPI_SOURCE = status.MPI_TAG = status.MPI_ERROR = untouched;
  return status;
}

std::string tell(const MPI_Status& status, const MessageForm& form) {
  int count = untouched;
  int elements = untouched;
  int cancelled = untouched;
  MPI_Count elements_x = untouched;
  MPI_Get_count(&status, form.datatype(), &count);
  MPI_Get_elements(&status, form.datatype(), &elements);
  MPI_Get_elements_x(&status, form.datatype(), &elements_x);
  MPI_Test_cancelled(&status, &cancelled);
  // MPI-4.0 §3.2.5: only MPI_ERR_IN_STATUS gives the field a meaning; libraries set it to success or leave it
  const int error = status.MPI_ERROR == untouched ? MPI_SUCCESS : status.MPI_ERROR;
  return fmt::format("source={} tag={} error={} count={} elements={}/{} cancelled={}", status.MPI_SOURCE,
                     status.MPI_TAG, error, count, elements, elements_x, cancelled);
}

MPI_Status complete(MPI_Request& request, Completion completion) {
  std::array requests = {MPI_REQUEST_NULL, request, MPI_REQUEST_NULL};
  std::array statuses = {untouched_status(), untouched_status(), untouched_status()};
  int index = 0;
  std::array<int, 3> indices{};
  switch (completion) {
    case Completion::wait:
      MPI_Wait(&requests[1], &statuses[1]);
      break;
    case Completion::waitall:
      MPI_Waitall(3, requests.data(), statuses.data());
      break;
    case Completion::waitany:
      MPI_Waitany(3, requests.data(), &index, &statuses[1]);
      break;
    case Completion::waitsome:
      MPI_Waitsome(3, requests.data(), &index, indices.data(), statuses.data());
      statuses[1] = statuses[0];
      break;
    default:
      while (!test_once(requests, completion, statuses)) ::sched_yield();
  }
  request = requests[1];
  return statuses[1];
}

void start_send(const Case& test, const Endpoint& to, MPI_Request& request) {
  const auto [buffer, form, peer, communicator] = to;
  const int count = form->count();
  const MPI_Datatype type = form->datatype();
  if (is_persistent(test.style)) {
    if (request == MPI_REQUEST_NULL) {
      const auto init = test.style == Style::persistent               ? MPI_Send_init
                        : test.style == Style::synchronous_persistent ? MPI_Ssend_init
                        : test.style == Style::buffered_persistent    ? MPI_Bsend_init
                                                                      : MPI_Rsend_init;
      init(buffer, count, type, peer, test.tag, communicator, &request);
    }
    MPI_Start(&request);
    return;
  }
  switch (test.style) {
    case Style::synchronous:
      MPI_Ssend(buffer, count, type, peer, test.tag, communicator);
      break;
    case Style::buffered:
      MPI_Bsend(buffer, count, type, peer, test.tag, communicator);
      break;
    case Style::ready:
      MPI_Rsend(buffer, count, type, peer, test.tag, communicator);
      break;
    case Style::nonblocking:
      MPI_Isend(buffer, count, type, peer, test.tag, communicator, &request);
      break;
    case Style::synchronous_nonblocking:
      MPI_Issend(buffer, count, type, peer, test.tag, communicator, &request);
      break;
    case Style::buffered_nonblocking:
      MPI_Ibsend(buffer, count, type, peer, test.tag, communicator, &request);
      break;
    case Style::ready_nonblocking:
      MPI_Irsend(buffer, count, type, peer, test.tag, communicator, &request);
      break;
    default:
      MPI_Send(buffer, count, type, peer, test.tag, communicator);
  }
}

bool is_persistent(Style style) {
  return style == Style::persistent || style == Style::synchronous_persistent ||
         style == Style::buffered_persistent || style == Style::ready_persistent;
}

bool receives_in_one_call(const Case& test) {
  return test.style == Style::blocking || test.style == Style::synchronous || test.style == Style::buffered;
}

void start_receive(const Case& test, const Endpoint& from, MPI_Request& request) {
  const auto [buffer, form, peer, communicator] = from;
  const int source = source_argument(test, peer);
  const int tag = tag_argument(test);
  if (!is_persistent(test.style)) {
    MPI_Irecv(buffer, form->count(), form->datatype(), source, tag, communicator, &request);
    return;
  }
  if (request == MPI_REQUEST_NULL) {
    MPI_Recv_init(buffer, form->count(), form->datatype(), source, tag, communicator, &request);
  }
  MPI_Startall(1, &request);
}

MPI_Status receive(const Case& test, const Endpoint& from) {
  MPI_Status status = untouched_status();
  MPI_Recv(from.buffer, from.form->count(), from.form->datatype(), source_argument(test, from.peer),
           tag_argument(test), from.communicator, &status);
  return status;
}

MPI_Status probe_and_receive(const Case& test, const Endpoint& from, MPI_Request& request,
                             MPI_Status& probed) {
  const auto [buffer, form, peer, communicator] = from;
  const int source = test.probes_by_wildcard ? MPI_ANY_SOURCE : peer;
  const int tag = test.probes_by_wildcard ? MPI_ANY_TAG : test.tag;
  MPI_Message message = MPI_MESSAGE_NULL;
  int flag = 0;
  probed = untouched_status();
  switch (test.match) {
    case Match::after_probe:
      MPI_Probe(source, tag, communicator, &probed);
      break;
    case Match::after_iprobe:
      for (; flag == 0; ::sched_yield()) MPI_Iprobe(source, tag, communicator, &flag, &probed);
      break;
    case Match::after_mprobe:
      MPI_Mprobe(source, tag, communicator, &message, &probed);
      break;
    default:
      for (; flag == 0; ::sched_yield()) MPI_Improbe(source, tag, communicator, &flag, &message, &probed);
  }

  MPI_Status status = untouched_status();
  if (message == MPI_MESSAGE_NULL) {
    if (receives_in_one_call(test)) return receive(test, from);
    start_receive(test, from, request);
    return complete(request, test.completion);
  }
  if (receives_in_one_call(test)) {
    MPI_Mrecv(buffer, form->count(), form->datatype(), &message, &status);
    return status;
  }
  MPI_Request matched = MPI_REQUEST_NULL;
  MPI_Imrecv(buffer, form->count(), form->datatype(), &message, &matched);
  return complete(matched, test.completion);
}

}  // namespace penstock::matrix
