// Queries of requests, which complete none of them. MPI-4.1's, of several requests, may be newer than the MPI
// library of the build. A library that has them is queried for requests without pending work of Penstock's.
#include <vector>

#include "interpose/binding/function_names.hpp"
#include "interpose/binding/mpi_binding.hpp"
#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/user_request.hpp"

namespace penstock::interpose {
namespace {

enum class State : unsigned char { inactive, pending, complete };

/// Queries the MPI library. Writes `local` if the request is complete. Returns a PMPI code.
int ask_library(MPI_Request request, State& state, MPI_Status& local) {
  int flag = 0;
  int index = MPI_UNDEFINED;
  if (has_function(Function::Request_get_status_any)) {
    // for a single request, this distinguishes an inactive one from one that is complete
    const int code = PMPI_Request_get_status_any(1, &request, &index, &flag, &local);
    if (flag != 0) state = index == MPI_UNDEFINED ? State::inactive : State::complete;
    return code;
  }
  const int code = PMPI_Request_get_status(request, &flag, &local);
  if (flag != 0) state = State::complete;
  return code;
}

int ask(MPI_Request request, State& state, MPI_Status& local) {
  state = State::inactive;
  if (request == MPI_REQUEST_NULL) return MPI_SUCCESS;
  state = State::pending;
  RequestEntry* const entry = find_entry(request);
  if (entry == nullptr) return ask_library(request, state, local);
  const RequestTable::Lock lock(request_table());
  if (!entry->active) {
    state = State::inactive;
  } else if (RequestTable::advance(*entry)) {
    state = State::complete;
    copy_without_error(entry->status, local);
    if (entry->operation.pending != nullptr) entry->operation.pending->fix_status(local);
  }
  return MPI_SUCCESS;
}

/// Returns true if the library alone answers.
bool is_left_to_library(const CallScope& scope, Function function, int count, const MPI_Request* requests) {
  if (scope.stands_aside() || count < 0 || (count > 0 && requests == nullptr)) return true;
  return request_table().is_empty() && has_function(function);
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

PENSTOCK_EXPORT int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) try {
  CallScope scope(Function::Request_get_status, __builtin_return_address(0));
  RequestEntry* entry = scope.stands_aside() ? nullptr : find_entry(request);
  if (entry == nullptr) {
    const int code = PMPI_Request_get_status(request, flag, status);
    // a program that polls makes progress, whatever it polls for
    if (!scope.stands_aside() && code == MPI_SUCCESS && *flag == 0) progress();
    return code;
  }
  progress();
  const RequestTable::Lock lock(request_table());
  *flag = (!entry->active || RequestTable::advance(*entry)) ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  MPI_Status local = local_copy_of(status);
  copy_without_error(entry->active ? entry->status : empty_status(), local);
  if (entry->active && entry->operation.pending != nullptr) entry->operation.pending->fix_status(local);
  copy_status(local, status);
  return MPI_SUCCESS;
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag,
                                               MPI_Status statuses[]) try {
  CallScope scope(Function::Request_get_status_all, __builtin_return_address(0));
  if (is_left_to_library(scope, Function::Request_get_status_all, count, requests)) {
    return PMPI_Request_get_status_all(count, requests, flag, statuses);
  }
  progress();
  *flag = 1;
  std::vector<MPI_Status> local(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    MPI_Status& status = local[static_cast<std::size_t>(i)];
    status = local_copy_of_at(statuses, i);
    State state{};
    if (const int code = ask(requests[i], state, status); code != MPI_SUCCESS) return code;
    if (state == State::inactive) copy_without_error(empty_status(), status);
    if (state == State::pending) *flag = 0;
  }
  if (*flag == 0 || statuses == MPI_STATUSES_IGNORE) return MPI_SUCCESS;
  for (int i = 0; i < count; ++i) statuses[i] = local[static_cast<std::size_t>(i)];
  return MPI_SUCCESS;
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag,
                                               MPI_Status* status) try {
  CallScope scope(Function::Request_get_status_any, __builtin_return_address(0));
  if (is_left_to_library(scope, Function::Request_get_status_any, count, requests)) {
    return PMPI_Request_get_status_any(count, requests, index, flag, status);
  }
  progress();
  *index = MPI_UNDEFINED;
  *flag = 1;
  MPI_Status local = local_copy_of(status);
  bool any_pending = false;
  for (int i = 0; i < count && *index == MPI_UNDEFINED; ++i) {
    State state{};
    if (const int code = ask(requests[i], state, local); code != MPI_SUCCESS) return code;
    if (state == State::complete) *index = i;
    any_pending = any_pending || state == State::pending;
  }
  if (*index == MPI_UNDEFINED && any_pending) {
    *flag = 0;
    return MPI_SUCCESS;
  }
  if (*index == MPI_UNDEFINED) copy_without_error(empty_status(), local);
  copy_status(local, status);
  return MPI_SUCCESS;
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Request_get_status_some(int count, const MPI_Request requests[], int* complete_count,
                                                int indices[], MPI_Status statuses[]) try {
  CallScope scope(Function::Request_get_status_some, __builtin_return_address(0));
  if (is_left_to_library(scope, Function::Request_get_status_some, count, requests)) {
    return PMPI_Request_get_status_some(count, requests, complete_count, indices, statuses);
  }
  progress();
  *complete_count = 0;
  bool any_active = false;
  for (int i = 0; i < count; ++i) {
    MPI_Status local = local_copy_of_at(statuses, *complete_count);
    State state{};
    if (const int code = ask(requests[i], state, local); code != MPI_SUCCESS) return code;
    any_active = any_active || state != State::inactive;
    if (state != State::complete) continue;
    indices[*complete_count] = i;
    if (statuses != MPI_STATUSES_IGNORE) statuses[*complete_count] = local;
    ++*complete_count;
  }
  if (!any_active) *complete_count = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)
