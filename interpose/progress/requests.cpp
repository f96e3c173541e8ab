#include "interpose/progress/requests.hpp"

#include <new>
#include <utility>

#include "interpose/calls/quiet_errors.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/progress/tokens.hpp"

namespace penstock::interpose {
namespace {

/// Returns true if other operations may have the same handle.
bool may_be_shared(MPI_Request handle) {
  if (handle == MPI_REQUEST_NULL) return true;
  int complete = 0;
  const QuietErrors quiet;
  return PMPI_Request_get_status(handle, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS && complete != 0;
}

/// Enters an operation that the MPI library has begun. Errors: std::bad_alloc; what the operation owns is
/// then kept for ever, as the library works on it.
void enter(MPI_Request handle, Operation operation, Handle kind) try {
  if (handle == MPI_REQUEST_NULL) throw std::bad_alloc();  // no token
  request_table().insert(handle, std::move(operation), kind);
} catch (const std::bad_alloc&) {
  static_cast<void>(operation.pending.release());
  throw;
}

}  // namespace

void attach(MPI_Request* request, std::unique_ptr<Pending> pending, Asked asked, const void* in_turn_on) {
  const bool needs_token = asked == Asked::by_test || may_be_shared(*request);
  const MPI_Request handle = needs_token ? make_token() : *request;
  Operation operation{.request = *request,
                      .pending = std::move(pending),
                      .unique_handle = true,
                      .asked = asked,
                      .in_turn_on = in_turn_on};
  enter(handle, std::move(operation), needs_token ? Handle::token : Handle::own);
  *request = handle;
}

void attach(Operation operation, MPI_Request* request) {
  *request = operation.request;
  if (operation.pending == nullptr) return;
  if (operation.unique_handle && *request != MPI_REQUEST_NULL) {
    enter(*request, std::move(operation), Handle::own);
  } else {
    attach(request, std::move(operation.pending));
  }
}

void attach_persistent(MPI_Request handle, std::unique_ptr<Recipe> recipe) {
  request_table().insert(handle, {}, Handle::persistent, std::move(recipe));
}

}  // namespace penstock::interpose
