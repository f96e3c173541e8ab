#include "interpose/progress/requests.hpp"

#include <utility>

#include "interpose/calls/quiet_errors.hpp"
#include "interpose/progress/request_table.hpp"

namespace penstock::interpose {
namespace {

// A token has no state of its own: completion calls find its entry in the request table.
int query_token(void* /*state*/, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
int free_token(void* /*state*/) {
  return MPI_SUCCESS;
}
int cancel_token(void* /*state*/, int /*complete*/) {
  return MPI_SUCCESS;
}

/// Returns true if other operations may have the same handle.
bool may_be_shared(MPI_Request handle) {
  if (handle == MPI_REQUEST_NULL) return true;
  int complete = 0;
  const QuietErrors quiet;
  return PMPI_Request_get_status(handle, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS && complete != 0;
}

}  // namespace

void attach(MPI_Request* request, std::unique_ptr<Pending> pending, Asked asked, const void* in_turn_on) {
  MPI_Request handle = *request;
  Handle kind = Handle::own;
  if (asked == Asked::by_test || may_be_shared(handle)) {
    PMPI_Grequest_start(query_token, free_token, cancel_token, nullptr, &handle);
    kind = Handle::token;
  }
  Operation operation{.request = *request,
                      .pending = std::move(pending),
                      .unique_handle = true,
                      .asked = asked,
                      .in_turn_on = in_turn_on};
  request_table().insert(handle, std::move(operation), kind);
  *request = handle;
}

void attach(Operation operation, MPI_Request* request) {
  *request = operation.request;
  if (operation.pending == nullptr) return;
  if (operation.unique_handle && *request != MPI_REQUEST_NULL) {
    request_table().insert(*request, std::move(operation), Handle::own);
  } else {
    attach(request, std::move(operation.pending));
  }
}

void attach_persistent(MPI_Request handle, std::unique_ptr<Recipe> recipe) {
  request_table().insert(handle, {}, Handle::persistent, std::move(recipe));
}

}  // namespace penstock::interpose
