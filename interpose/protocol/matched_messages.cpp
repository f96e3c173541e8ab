#include "interpose/protocol/matched_messages.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "interpose/calls/errors.hpp"
#include "interpose/calls/temporary_error_handler.hpp"

namespace penstock::interpose {
namespace {

struct Held {
  MPI_Message handle;
  std::shared_ptr<CommunicatorInfo> communicator;
  std::optional<StashedMessage> message;
  MPI_Request stand_in = MPI_REQUEST_NULL;  ///< the send of the empty message behind the handle
};

// few handles are in use at a time: a list is enough
std::mutex held_mutex;
std::vector<Held>& held() {
  static auto& list = *new std::vector<Held>;
  return list;
}
/// The caller must hold held_mutex.
std::vector<Held>::iterator find_held(MPI_Message handle) {
  return std::find_if(held().begin(), held().end(), [&](const Held& item) { return item.handle == handle; });
}
// both are set by open_matched_messages(): before, MPI's constants are not bound
MPI_Comm self;
/// Request of an empty message that was sent but could not be probed. Guarded by held_mutex.
MPI_Request unused_stand_in;

/// Creates the communicator at first need: most programs never need it, and an MPI library may have few.
/// Returns false if it has none left.
bool make_self() noexcept {
  const TemporaryErrorHandler errors_returned(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (!errors_returned.is_set()) return false;
  if (PMPI_Comm_dup(MPI_COMM_SELF, &self) != MPI_SUCCESS) {
    self = MPI_COMM_NULL;
    return false;
  }
  PMPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  return true;
}

/// Makes a handle of an empty message and the request of its send. The caller must hold held_mutex. Returns a
/// PMPI code.
int make_stand_in(MPI_Message* handle, MPI_Request* request) {
  if (self == MPI_COMM_NULL && !make_self()) return MPI_ERR_OTHER;
  if (unused_stand_in == MPI_REQUEST_NULL) {
    const int code = PMPI_Isend(nullptr, 0, MPI_BYTE, 0, 0, self, &unused_stand_in);
    if (code != MPI_SUCCESS) {
      unused_stand_in = MPI_REQUEST_NULL;
      return code;
    }
  }
  const int code = PMPI_Mprobe(0, 0, self, handle, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS) *request = std::exchange(unused_stand_in, MPI_REQUEST_NULL);
  return code;
}

}  // namespace

void open_matched_messages() {
  self = MPI_COMM_NULL;
  unused_stand_in = MPI_REQUEST_NULL;
}

void close_matched_messages() {
  if (unused_stand_in != MPI_REQUEST_NULL) {
    MPI_Message handle = MPI_MESSAGE_NULL;
    if (PMPI_Mprobe(0, 0, self, &handle, MPI_STATUS_IGNORE) == MPI_SUCCESS)
      PMPI_Mrecv(nullptr, 0, MPI_BYTE, &handle, MPI_STATUS_IGNORE);
    PMPI_Request_free(&unused_stand_in);
  }
  if (self != MPI_COMM_NULL) PMPI_Comm_free(&self);
}

MPI_Comm communicator_of_this_rank() noexcept {
  const std::lock_guard lock(held_mutex);
  if (self == MPI_COMM_NULL) static_cast<void>(make_self());
  return self;
}

void note_message(MPI_Message handle, MPI_Comm communicator) {
  std::shared_ptr<CommunicatorInfo> info = info_of(communicator);
  const std::lock_guard lock(held_mutex);
  held().push_back({handle, std::move(info), std::nullopt, MPI_REQUEST_NULL});
}

int return_message(Stash& stash, int source, int tag, MPI_Comm communicator, MPI_Message* handle) {
  if (stash.peek(source, tag)->message != MPI_MESSAGE_NULL) {
    *handle = stash.take(source, tag)->message;
    note_message(*handle, communicator);
    return MPI_SUCCESS;
  }
  std::shared_ptr<CommunicatorInfo> info = info_of(communicator);
  std::unique_lock lock(held_mutex);
  // The request is kept until the message is received. If it is freed earlier, MPICH 4.0 reuses it at once
  // and then completes another operation's request with the receive (pmodels/mpich#5977).
  MPI_Request request = MPI_REQUEST_NULL;
  held().reserve(held().size() + 1);
  const int code = make_stand_in(handle, &request);
  if (code != MPI_SUCCESS) {
    lock.unlock();
    return raise(communicator, code);
  }
  held().push_back({*handle, std::move(info), stash.take(source, tag), request});
  return MPI_SUCCESS;
}

std::shared_ptr<CommunicatorInfo> communicator_of_message(MPI_Message handle) {
  const std::lock_guard lock(held_mutex);
  const auto item = find_held(handle);
  return item != held().end() ? item->communicator : nullptr;
}

std::optional<StashedMessage> take_matched_message(MPI_Message* handle) {
  const std::lock_guard lock(held_mutex);
  const auto item = find_held(*handle);
  if (item == held().end()) return std::nullopt;
  std::optional<StashedMessage> message = std::move(item->message);
  MPI_Request stand_in = item->stand_in;
  std::swap(*item, held().back());
  held().pop_back();
  if (message) {
    const int code = PMPI_Mrecv(nullptr, 0, MPI_BYTE, handle, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS) {
      PMPI_Wait(&stand_in, MPI_STATUS_IGNORE);
    } else {  // it may never complete
      PMPI_Request_free(&stand_in);
      *handle = MPI_MESSAGE_NULL;
    }
  }
  return message;
}

}  // namespace penstock::interpose
