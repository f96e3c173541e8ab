#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tests/differential/executor.hpp"
#include "tests/support/busy_gpu.hpp"
#include "tests/support/watchdog.hpp"

namespace penstock::differential {

MPI_Request& Executor::request_of(const Operation& operation) {
  const auto index = static_cast<std::size_t>(operation.index);
  const auto shared = [](int request, std::size_t own) {
    return request < 0 ? own : static_cast<std::size_t>(request);
  };
  switch (operation.kind) {
    case OperationKind::send:
      return send_requests_[shared(program_.messages[index].send_request, index)];
    case OperationKind::receive:
      return receive_requests_[shared(program_.messages[index].receive_request, index)];
    default:
      return collective_requests_[index];
  }
}

void Executor::leave_pending(OperationKind kind, int index) {
  pending_.push_back({kind, index});
}

bool Executor::is_pending(const Operation& operation) const {
  return std::find(pending_.begin(), pending_.end(), operation) != pending_.end();
}

void Executor::finish(const Operation& operation, const MPI_Status& status) {
  pending_.erase(std::find(pending_.begin(), pending_.end(), operation));
  switch (operation.kind) {
    case OperationKind::send:
      finish_send(operation.index);
      break;
    case OperationKind::receive:
      finish_receive(operation.index, status);
      break;
    case OperationKind::collective:
      finish_collective(operation.index);
      break;
  }
}

void Executor::complete(const Action& action) {
  std::string targets;
  for (const Operation& target : action.targets) {
    constexpr std::array kinds = {"send", "receive", "collective"};
    if (is_pending(target)) {
      targets += fmt::format(" {} {}", kinds[static_cast<std::size_t>(target.kind)], target.index);
    }
  }
  test_support::progress("seed %llu, completion by action kind %d of%s",
                         static_cast<unsigned long long>(program_.seed), static_cast<int>(action.kind),
                         targets.c_str());
  using enum ActionKind;
  switch (action.kind) {
    case poke:
      step(poke);
      break;
    case waitall:
    case testall:
    case wait_each:
      test_or_wait_for_all(action);
      break;
    default:
      // the calls that complete some of everything outstanding, until the targets are among the completed
      while (std::any_of(action.targets.begin(), action.targets.end(),
                         [this](const Operation& target) { return is_pending(target); })) {
        step(action.kind);
        if (action.kind == testsome || action.kind == testany) ::sched_yield();
      }
  }
}

void Executor::test_or_wait_for_all(const Action& action) {
  std::vector<Operation> operations;
  for (const Operation& target : action.targets) {
    if (is_pending(target)) operations.push_back(target);
  }
  if (action.kind == ActionKind::wait_each) {
    for (const Operation& operation : operations) {
      MPI_Status status{};
      MPI_Wait(&request_of(operation), &status);
      finish(operation, status);
    }
    return;
  }
  std::vector<MPI_Request> requests;
  for (const Operation& operation : operations) requests.push_back(request_of(operation));
  requests.push_back(MPI_REQUEST_NULL);
  std::vector<MPI_Status> statuses(requests.size());
  const int count = static_cast<int>(requests.size());
  if (action.kind == ActionKind::waitall) {
    MPI_Waitall(count, requests.data(), statuses.data());
  } else {
    for (int flag = 0; flag == 0; ::sched_yield()) {
      MPI_Testall(count, requests.data(), &flag, statuses.data());
    }
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    request_of(operations[i]) = requests[i];
    finish(operations[i], statuses[i]);
  }
}

void Executor::step(ActionKind kind) {
  if (pending_.empty()) return;
  const std::vector<Operation> operations = pending_;
  std::vector<MPI_Request> requests;
  for (const Operation& operation : operations) requests.push_back(request_of(operation));
  const int count = static_cast<int>(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  std::vector<int> indices(requests.size());
  int completed = 0;
  int flag = 0;
  // what keeps the GPU busy ends only after the call, which returns all the same
  std::optional<test_support::BusyGpu> work;
  if (kind == ActionKind::poke && arenas_.uses_gpu()) work.emplace();
  switch (kind) {
    case ActionKind::waitany:
      MPI_Waitany(count, requests.data(), indices.data(), statuses.data());
      completed = 1;
      break;
    case ActionKind::testany:
      MPI_Testany(count, requests.data(), indices.data(), &flag, statuses.data());
      completed = flag;
      break;
    case ActionKind::waitsome:
      MPI_Waitsome(count, requests.data(), &completed, indices.data(), statuses.data());
      break;
    default:
      MPI_Testsome(count, requests.data(), &completed, indices.data(), statuses.data());
  }
  work.reset();
  for (std::size_t i = 0; i < static_cast<std::size_t>(completed); ++i) {
    const auto which = static_cast<std::size_t>(indices[i]);
    request_of(operations[which]) = requests[which];
    finish(operations[which], statuses[i]);
  }
}

}  // namespace penstock::differential
