#include "interpose/progress/user_request.hpp"

#include <algorithm>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/quiet_errors.hpp"

namespace penstock::interpose {

RequestEntry* find_entry(MPI_Request request) {
  if (request_table().is_empty() || request == MPI_REQUEST_NULL) return nullptr;
  const RequestTable::Lock lock(request_table());
  return request_table().find(request);
}

bool UserRequest::is_done() const {
  if (entry_ == nullptr) {
    int flag = 1;
    const QuietErrors quiet;  // complete() reports them
    if (*request_ != MPI_REQUEST_NULL) PMPI_Request_get_status(*request_, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
  }
  const RequestTable::Lock lock(request_table());
  return !entry_->active || RequestTable::advance(*entry_);
}

bool UserRequest::is_done_as_arrived() const {
  if (entry_ == nullptr) return is_done();
  const RequestTable::Lock lock(request_table());
  return !entry_->active || RequestTable::advance_pending(*entry_);
}

int UserRequest::complete(MPI_Status& status) {
  if (entry_ == nullptr) return unraised_ = wait_quietly(request_, &status);
  if (!entry_->active) {
    copy_without_error(empty_status(), status);
    return MPI_SUCCESS;
  }
  if (entry_->kind != Handle::persistent) *request_ = MPI_REQUEST_NULL;
  return request_table().release(std::exchange(entry_, nullptr), status, unraised_);
}

UserRequest::Outcome UserRequest::try_complete(MPI_Status& status, int& code) {
  if (*request_ == MPI_REQUEST_NULL) return Outcome::inactive;
  if (entry_ == nullptr) {
    // for a single request, this distinguishes an inactive one from one that is done
    int index = MPI_UNDEFINED;
    int flag = 0;
    const QuietErrors quiet;
    unraised_ = code = PMPI_Testany(1, request_, &index, &flag, &status);
    if (flag == 0) return Outcome::pending;
    return index == MPI_UNDEFINED ? Outcome::inactive : Outcome::completed;
  }
  if (!entry_->active) return Outcome::inactive;
  if (!is_done()) return Outcome::pending;
  code = complete(status);
  return Outcome::completed;
}

std::unique_ptr<Pending> UserRequest::detach() {
  if (entry_ == nullptr || entry_->kind != Handle::own) return nullptr;
  std::unique_ptr<Pending> pending = std::move(entry_->operation.pending);
  if (pending != nullptr) pending->detached();
  request_table().erase(std::exchange(entry_, nullptr));
  return pending;
}

int raise_unraised(const UserRequest& request, int code) {
  raise_quieted(MPI_COMM_WORLD, request.unraised());
  return code;
}

int raise_unraised(const std::vector<UserRequest>& requests, int code) {
  const bool is_unraised = std::ranges::any_of(
      requests, [](const UserRequest& request) { return request.unraised() != MPI_SUCCESS; });
  if (is_unraised) raise_quieted(MPI_COMM_WORLD, code);
  return code;
}

std::vector<UserRequest> user_requests(int count, MPI_Request* requests) {
  std::vector<UserRequest> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) all.emplace_back(&requests[i]);
  return all;
}

}  // namespace penstock::interpose
