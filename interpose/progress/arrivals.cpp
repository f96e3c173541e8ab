#include "interpose/progress/arrivals.hpp"

#include <cstddef>

#include "interpose/calls/quiet_errors.hpp"

namespace penstock::interpose {
namespace {

bool is_in_status(int code) noexcept {
  int error_class = MPI_SUCCESS;
  return PMPI_Error_class(code, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_IN_STATUS;
}

}  // namespace

Arrivals::Arrivals(const std::vector<UserRequest>& requests) {
  for (const UserRequest& request : requests) {
    RequestEntry* entry = request.active_entry();
    if (entry == nullptr) continue;
    attended_.emplace_back(entry);
    // without a request it has arrived, and this sets its status
    if (entry->operation.request == MPI_REQUEST_NULL) RequestTable::look_for_arrival(*entry);
    if (entry->arrived) continue;
    if (entry->operation.is_persistent || entry->operation.in_turn_on != nullptr) {
      asked_alone_.push_back(entry);
      continue;
    }
    awaited_.push_back(entry);
    requests_.push_back(entry->operation.request);
  }
  indices_.resize(awaited_.size());
  statuses_.resize(awaited_.size());
}

void Arrivals::look() {
  std::erase_if(asked_alone_, [](RequestEntry* entry) {
    RequestTable::look_for_arrival(*entry);
    return entry->arrived;
  });
  if (awaited_.empty()) return;
  int count = 0;
  const QuietErrors quiet;
  const int code = PMPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                                 indices_.data(), statuses_.data());
  if (count == MPI_UNDEFINED || count == 0) {
    if (code != MPI_SUCCESS) look_one_by_one(code);
    return;
  }
  const bool some_failed = code != MPI_SUCCESS && is_in_status(code);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const auto index = static_cast<std::size_t>(indices_[i]);
    note_arrival(index, statuses_[i], some_failed ? statuses_[i].MPI_ERROR : MPI_SUCCESS);
  }
  drop_noted();
}

void Arrivals::note_arrival(std::size_t index, const MPI_Status& status, int code) {
  RequestEntry& entry = *awaited_[index];
  entry.operation.request = requests_[index] = MPI_REQUEST_NULL;
  entry.status = status;
  entry.code = code;
  entry.arrived = true;
  if (entry.operation.pending != nullptr) entry.operation.pending->arrived(entry.status);
  awaited_[index] = nullptr;
}

void Arrivals::drop_noted() {
  std::erase(requests_, MPI_REQUEST_NULL);
  std::erase(awaited_, nullptr);
}

/// Handles an error that the library reports without naming the request. If no request reports an error of
/// its own, all fail: a wait for them would never end.
void Arrivals::look_one_by_one(int code) {
  bool is_found = false;
  for (std::size_t index = 0; index < requests_.size(); ++index) {
    int is_complete = 0;
    MPI_Status status;
    const int own_code = test_quietly(&requests_[index], &is_complete, &status);
    if (own_code == MPI_SUCCESS && is_complete == 0) continue;
    is_found = true;
    if (own_code == MPI_SUCCESS || is_complete != 0) {
      note_arrival(index, status, own_code);
    } else {
      give_up(index, own_code);
    }
  }
  if (!is_found) {
    for (std::size_t index = 0; index < requests_.size(); ++index) give_up(index, code);
  }
  drop_noted();
}

void Arrivals::give_up(std::size_t index, int code) noexcept {
  awaited_[index]->operation.request = requests_[index];  // null if the library has released it
  RequestTable::fail(*awaited_[index], code);
  requests_[index] = MPI_REQUEST_NULL;
  awaited_[index] = nullptr;
}

}  // namespace penstock::interpose
