// The MPI calls of a case's style, match and completion. Knows no memory and judges nothing.
#pragma once

#include <mpi.h>

#include <string>

#include "tests/matrix/case.hpp"
#include "tests/matrix/message_form.hpp"

namespace penstock::matrix {

/// One side of a message: what a call takes.
struct Endpoint {
  void* buffer = nullptr;
  const MessageForm* form = nullptr;
  int peer = 0;
  MPI_Comm communicator = MPI_COMM_NULL;
};

/// What a field holds that no call has written.
inline constexpr int untouched = -77;

/// A status no call has written yet; what MPI leaves alone stays recognisable.
[[nodiscard]] MPI_Status untouched_status();

/// All that a status tells about a receive of the form, as text.
[[nodiscard]] std::string tell(const MPI_Status& status, const MessageForm& form);

/// Completes one request in the case's way, among null requests where the call takes several.
[[nodiscard]] MPI_Status complete(MPI_Request& request, Completion completion);

/// Starts the send. Blocking styles are over when it returns and leave `request` null; persistent requests
/// are made at the first call and started again at later ones.
void start_send(const Case& test, const Endpoint& to, MPI_Request& request);

[[nodiscard]] bool is_persistent(Style style);
[[nodiscard]] bool receives_in_one_call(const Case& test);

/// Posts the receive without waiting (also for styles that receive in one blocking call).
void start_receive(const Case& test, const Endpoint& from, MPI_Request& request);
/// Receives in the style's blocking call.
[[nodiscard]] MPI_Status receive(const Case& test, const Endpoint& from);

/// Probes as the case says, then receives what was found; `probed` is what the probe told.
[[nodiscard]] MPI_Status probe_and_receive(const Case& test, const Endpoint& from, MPI_Request& request,
                                           MPI_Status& probed);

}  // namespace penstock::matrix
