#include "interpose/protocol/matching.hpp"

#include <algorithm>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/progress/request_table.hpp"

namespace penstock::interpose {
namespace {

bool matches(const StashedMessage& message, int source, int tag) noexcept {
  return (source == MPI_ANY_SOURCE || source == message.status.MPI_SOURCE) &&
         (tag == MPI_ANY_TAG || tag == message.status.MPI_TAG);
}

/// Returns true for a possible envelope, which its sender counts before it sends it. Other messages of that
/// size stay in the MPI library, so that a synchronous one is not received before there is a receive.
bool may_be_envelope(const MPI_Status& probed, const CommunicatorInfo& info) {
  if (bytes_of(probed) != envelope_bytes || !request_table().envelopes_are_coming()) return false;
  const int sender = world_rank_of(info, probed.MPI_SOURCE);
  return sender < 0 || node_directory().row_of(sender) != nullptr || request_table().polls_other_nodes();
}

/// While an object exists, a received message may be only probed (RendezvousSend checks this).
class Opening {
 public:
  Opening() noexcept { own_.openings.fetch_add(1, std::memory_order_relaxed); }
  ~Opening() { own_.openings.fetch_sub(1, std::memory_order_release); }
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

 private:
  DirectoryRow& own_ = *node_directory().own_row();  // not null where envelopes are coming
};

}  // namespace

std::optional<StashedMessage> Stash::take(int source, int tag) {
  const auto at = std::find_if(messages_.begin(), messages_.end(),
                               [&](const StashedMessage& message) { return matches(message, source, tag); });
  if (at == messages_.end()) return std::nullopt;
  StashedMessage message = std::move(*at);
  messages_.erase(at);
  request_table().stashed_messages.fetch_sub(1, std::memory_order_relaxed);
  return message;
}

const StashedMessage* Stash::peek(int source, int tag) const {
  const auto at = std::find_if(messages_.begin(), messages_.end(),
                               [&](const StashedMessage& message) { return matches(message, source, tag); });
  return at == messages_.end() ? nullptr : &*at;
}

void Stash::append(StashedMessage message) {
  messages_.push_back(std::move(message));
  request_table().stashed_messages.fetch_add(1, std::memory_order_relaxed);
}

bool take_envelope(const void* bytes, Envelope* envelope) {
  if (!read_envelope(bytes, node_directory().nonce(), envelope)) return false;
  if (!comes_from_other_node(*envelope)) request_table().note_envelope();
  return true;
}

int open_message(MPI_Message handle, const MPI_Status& probed, const CommunicatorInfo& info,
                 StashedMessage* message) {
  message->status = probed;
  if (!may_be_envelope(probed, info)) {
    message->message = handle;
    return MPI_SUCCESS;
  }
  const Opening opening;
  std::byte bytes[envelope_bytes];
  const int code = PMPI_Mrecv(bytes, static_cast<int>(envelope_bytes), MPI_BYTE, &handle, &message->status);
  if (code != MPI_SUCCESS) return code;
  Envelope envelope;
  if (take_envelope(bytes, &envelope)) {
    if (Slot* slot = node_directory().find(envelope)) slot->stashed.store(1, std::memory_order_release);
    message->envelope = envelope;
    set_bytes(message->status, envelope.payload_bytes);
  } else {
    message->bytes.assign(bytes, bytes + envelope_bytes);
  }
  return MPI_SUCCESS;
}

int look_ahead(MPI_Comm communicator, CommunicatorInfo& info, int source, int tag, int* flag,
               MPI_Status* status, const StashedMessage** found) {
  *found = nullptr;
  *flag = 0;
  for (;;) {
    if (info.stash != nullptr) {
      *found = info.stash->peek(source, tag);
      if (*found != nullptr) {
        *flag = 1;
        copy_without_error((*found)->status, *status);
        return MPI_SUCCESS;
      }
    }
    int code = PMPI_Iprobe(source, tag, communicator, flag, status);
    if (code != MPI_SUCCESS || *flag == 0 || !may_be_envelope(*status, info)) return code;

    if (info.stash == nullptr) info.stash = std::make_shared<Stash>();
    for (int arrived = 1; arrived != 0 && info.stash->peek(source, tag) == nullptr;) {
      MPI_Message handle = MPI_MESSAGE_NULL;
      MPI_Status probed;
      code = PMPI_Improbe(status->MPI_SOURCE, MPI_ANY_TAG, communicator, &arrived, &handle, &probed);
      if (code == MPI_SUCCESS && arrived != 0) {
        StashedMessage message;
        code = open_message(handle, probed, info, &message);
        if (code == MPI_SUCCESS) info.stash->append(std::move(message));
      }
      if (code != MPI_SUCCESS) return code;
    }
  }
}

std::optional<StashedMessage> take_stashed(CommunicatorInfo* info, int source, int tag) {
  if (request_table().stashed_messages.load(std::memory_order_relaxed) == 0) return std::nullopt;
  if (info == nullptr || info->stash == nullptr) return std::nullopt;
  return info->stash->take(source, tag);
}

StashLock::StashLock(CommunicatorInfo* info) {
  if (info == nullptr || !request_table().is_threaded()) return;
  info->stash_lock.lock();
  info_ = info;
}

StashLock::~StashLock() {
  if (info_ != nullptr) info_->stash_lock.unlock();
}

}  // namespace penstock::interpose
