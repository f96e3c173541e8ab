// Requests of the MPI library that do nothing: user's handles for operations whose own request may be shared.
// Knows no operation.
#pragma once

#include <mpi.h>

namespace penstock::interpose {

/// Returns a new token, which no other request has as its handle; MPI_REQUEST_NULL if the MPI library fails.
/// Ownership: the caller's, until end_token(). Thread: any.
[[nodiscard]] MPI_Request make_token() noexcept;
void end_token(MPI_Request token) noexcept;

}  // namespace penstock::interpose
