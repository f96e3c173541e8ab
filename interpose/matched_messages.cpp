#include "interpose/matched_messages.hpp"

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace penstock::interpose {
namespace {

struct Held {
  MPI_Message handle;
  StashedMessage message;
};

// few are out at a time: a list is enough
std::mutex held_mutex;
std::vector<Held>& held() {
  static auto& list = *new std::vector<Held>;
  return list;
}
std::atomic<std::size_t> held_count{0};
MPI_Comm self = MPI_COMM_NULL;

}  // namespace

void open_matched_messages() { PMPI_Comm_dup(MPI_COMM_SELF, &self); }

void close_matched_messages() {
  if (self != MPI_COMM_NULL) PMPI_Comm_free(&self);
}

int hand_out_message(StashedMessage message, MPI_Message* handle) {
  if (message.message != MPI_MESSAGE_NULL) {
    *handle = message.message;
    return MPI_SUCCESS;
  }
  const std::lock_guard lock(held_mutex);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = PMPI_Isend(nullptr, 0, MPI_BYTE, 0, 0, self, &request);
  if (code == MPI_SUCCESS) code = PMPI_Mprobe(0, 0, self, handle, MPI_STATUS_IGNORE);
  if (code == MPI_SUCCESS) code = PMPI_Request_free(&request);
  if (code != MPI_SUCCESS) return code;
  held().push_back({*handle, std::move(message)});
  held_count.fetch_add(1, std::memory_order_relaxed);
  return MPI_SUCCESS;
}

std::optional<StashedMessage> redeem_message(MPI_Message* handle) {
  if (held_count.load(std::memory_order_relaxed) == 0) return std::nullopt;
  const std::lock_guard lock(held_mutex);
  for (Held& item : held()) {
    if (item.handle != *handle) continue;
    StashedMessage message = std::move(item.message);
    std::swap(item, held().back());
    held().pop_back();
    held_count.fetch_sub(1, std::memory_order_relaxed);
    PMPI_Mrecv(nullptr, 0, MPI_BYTE, handle, MPI_STATUS_IGNORE);
    return message;
  }
  return std::nullopt;
}

}  // namespace penstock::interpose
