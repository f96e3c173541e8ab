#include "interpose/messages/message_record.hpp"

#include "interpose/binding/mpi_details.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::interpose {

void MessageRecord::begin(const CallScope& scope, trace::Direction direction,
                          const std::shared_ptr<CommunicatorInfo>& communicator, int peer, int tag,
                          std::uint64_t bytes, transports::BufferKind buffer, bool blocking) noexcept {
  if (!scope.recording() || peer == MPI_PROC_NULL) return;
  const CommunicatorInfo* const info = communicator.get();
  if (info != nullptr && info->is_for_collectives) return;  // the collective's record covers it
  half_ = {};
  half_.post_ns = scope.begin_ns();
  half_.bytes = bytes;
  half_.call_site = scope.call_site();
  if (peer == MPI_ANY_SOURCE) {
    half_.peer = -1;
    senders_ = communicator;
  } else {
    half_.peer = info == nullptr ? -1 : world_rank_of(*info, peer);
  }
  half_.tag = tag;
  half_.communicator = info == nullptr ? 0 : info->local_id;
  half_.direction = direction;
  half_.buffer = static_cast<trace::BufferKind>(buffer);
  half_.blocking = blocking ? 1 : 0;
  half_.kind = trace::RecordKind::message_half;
}

void MessageRecord::matched() noexcept {
  if (half_.post_ns != 0 && half_.matched_ns == 0) half_.matched_ns = record::now_ns();
}

void MessageRecord::complete() noexcept {
  if (half_.post_ns == 0 || !record::is_on()) return;
  half_.complete_ns = record::now_ns();
  // a payload through the MPI library seems to arrive and to complete at the same time
  if (half_.matched_ns == 0 && half_.direction == trace::Direction::receive)
    half_.matched_ns = half_.complete_ns;
  record::write(half_);
  half_.post_ns = 0;
}

void MessageRecord::complete(const MPI_Status& status) noexcept {
  if (half_.post_ns == 0) return;
  if (was_cancelled(status)) {
    half_.post_ns = 0;
    return;
  }
  if (half_.direction == trace::Direction::receive) {
    if (senders_ != nullptr) half_.peer = world_rank_of(*senders_, status.MPI_SOURCE);
    half_.tag = status.MPI_TAG;
    half_.bytes = bytes_of(status);
  }
  complete();
}

}  // namespace penstock::interpose
