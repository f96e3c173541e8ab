#include "interpose/matched_messages.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace penstock::interpose {
namespace {

struct Held {
  MPI_Message handle;
  MPI_Comm communicator;
  std::optional<StashedMessage> message;
  MPI_Request stand_in = MPI_REQUEST_NULL;  ///< the send of the empty message that the handle is of
};

// few are out at a time: a list is enough
std::mutex held_mutex;
std::vector<Held>& held() {
  static auto& list = *new std::vector<Held>;
  return list;
}
MPI_Comm self = MPI_COMM_NULL;

}  // namespace

void open_matched_messages() {
  PMPI_Comm_dup(MPI_COMM_SELF, &self);
}

void close_matched_messages() {
  if (self != MPI_COMM_NULL) PMPI_Comm_free(&self);
}

void note_message(MPI_Message handle, MPI_Comm communicator) {
  const std::lock_guard lock(held_mutex);
  held().push_back({handle, communicator, std::nullopt, MPI_REQUEST_NULL});
}

int hand_out_message(StashedMessage message, MPI_Comm communicator, MPI_Message* handle) {
  if (message.message != MPI_MESSAGE_NULL) {
    *handle = message.message;
    note_message(*handle, communicator);
    return MPI_SUCCESS;
  }
  const std::lock_guard lock(held_mutex);
  // The request is kept until the message is received: MPICH 4.0 uses it again at once if it is freed before,
  // and then completes another operation's request with the receive (pmodels/mpich#5977).
  MPI_Request request = MPI_REQUEST_NULL;
  int code = PMPI_Isend(nullptr, 0, MPI_BYTE, 0, 0, self, &request);
  if (code == MPI_SUCCESS) code = PMPI_Mprobe(0, 0, self, handle, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS) held().push_back({*handle, communicator, std::move(message), request});
  return code;
}

void redeem_message(MPI_Message* handle, MPI_Comm* communicator, std::optional<StashedMessage>* message) {
  const std::lock_guard lock(held_mutex);
  for (Held& item : held()) {
    if (item.handle != *handle) continue;
    *communicator = item.communicator;
    *message = std::move(item.message);
    MPI_Request stand_in = item.stand_in;
    std::swap(item, held().back());
    held().pop_back();
    if (*message) {
      PMPI_Mrecv(nullptr, 0, MPI_BYTE, handle, MPI_STATUS_IGNORE);
      PMPI_Wait(&stand_in, MPI_STATUS_IGNORE);
    }
    return;
  }
}

}  // namespace penstock::interpose
