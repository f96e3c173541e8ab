#include "interpose/network/chunked_send.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "interpose/calls/errors.hpp"
#include "interpose/messages/list_packing.hpp"
#include "interpose/network/chunk_channel.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/staged/staged_send.hpp"
#include "transports/stream_order/readiness.hpp"
#include "transports/stream_order/ready_flags.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {
namespace {

using transports::ChunkCopies;
using transports::ChunkRing;

/// Bytes that this process buffers for late receivers on other nodes.
std::atomic<std::size_t> all_buffered_bytes{0};

}  // namespace

std::unique_ptr<ChunkedSend> ChunkedSend::open(transports::BufferView source, const ListLook& look,
                                               int receiver, bool may_buffer) {
  std::uint32_t tag = 0;
  if (!channel().take_tag(tag)) return nullptr;
  try {
    return std::make_unique<ChunkedSend>(std::move(source), look, receiver, may_buffer, tag);
  } catch (...) {
    channel().give_back(tag);
    throw;
  }
}

ChunkedSend::ChunkedSend(transports::BufferView source, const ListLook& look, int receiver, bool may_buffer,
                         std::uint32_t tag)
    : source_(std::move(source)),
      wire_bytes_(source_.layout.bytes()),
      look_(look),
      receiver_(receiver),
      tag_(tag),
      ready_(std::make_unique<std::atomic<std::uint32_t>>(0)),
      may_buffer_(may_buffer),
      mpi_would_buffer_(wire_bytes_ <= transports::tuning().buffered_to),
      is_noted_(look.integers == transports::Integer::none) {}

ChunkedSend::~ChunkedSend() {
  copies_.reset();
  // the driver may still write there
  if (ready_->load(std::memory_order_acquire) == 0) static_cast<void>(ready_.release());
  all_buffered_bytes.fetch_sub(buffered_bytes_, std::memory_order_relaxed);
  // receives of an aborted payload may still be posted, and what a withdrawn one has sent may lie there
  if (status_.ok() && !may_have_left_something_) channel().give_back(tag_);
}

void ChunkedSend::start() noexcept {
  timeout_ = ReceiverTimeout(may_buffer_ && mpi_would_buffer_, record::now_ns());
  transports::signal_when_ready(source_, ready_.get());
}

/// Withdraws the payload. Only a buffered one can have been sent already; MPI cancels its messages or leaves
/// them.
void ChunkedSend::withdraw() noexcept {
  if (std::exchange(is_withdrawn_, true)) return;
  may_have_left_something_ = is_noted_ || posted_chunks_ > 0 || sent_ > 0;
  if (noting_ != MPI_REQUEST_NULL) PMPI_Cancel(&noting_);
  for (std::size_t chunk = 0; chunk < posted_chunks_; ++chunk) PMPI_Cancel(&chunks_[chunk].request);
}

bool ChunkedSend::advance(bool /*arrived*/, const MPI_Status& /*status*/) {
  if (is_over_) return true;
  has_come_ = has_come_ || channel().clearance(tag_) != Clearance::none;
  if (status_.ok() && !is_withdrawn_) {
    if (Status stepped = step(); !stepped.ok()) give_up(stepped);
  }
  if (!has_come_ && status_.ok() && channel().has_failed()) {
    give_up({Code::system_failed, "MPI_Irecv for the receiver's reply", EIO});
  }
  if (Status sent = take_back_sent(); !sent.ok()) give_up(sent);
  const bool is_through = noting_ == MPI_REQUEST_NULL && posted_chunks_ == 0 &&
                          (sent_ == wire_bytes_ || !status_.ok() || is_withdrawn_);
  is_over_ = is_through && (has_come_ || is_withdrawn_ || is_lost_ || channel().has_failed());
  if (is_over_) {
    copies_.reset();
    ring_.reset();
  }
  return is_over_;
}

Pending::Progress ChunkedSend::progress() const {
  if (is_over_) return Progress::none;
  const bool others_turn = is_all_posted() || !status_.ok() || is_withdrawn_ || (must_wait_ && !has_come_);
  return others_turn ? Progress::open_ended : Progress::always;
}

bool ChunkedSend::has_left() const noexcept {
  const bool is_buffered = buffered_.data() != nullptr && is_all_posted();
  return is_over_ || is_buffered || !status_.ok();
}

bool ChunkedSend::is_all_posted() const noexcept {
  return issued_ == wire_bytes_ && posted_chunks_ == chunks_.size();
}

Status ChunkedSend::step() {
  if (ready_->load(std::memory_order_acquire) == 0)
    return watch_.is_due() ? transports::health_of(source_) : Status{};
  if (copies_ == nullptr) transports::note_done(source_);
  if (memory_ == nullptr) {
    if (Status taken = take_memory(); !taken.ok() || memory_ == nullptr) return taken;
  }
  if (!is_noted_) {
    bool ended = true;
    if (channel().clearance(tag_) == Clearance::bitmap && buffered_.data() == nullptr) {
      if (Status packed = step_pack(ended); !packed.ok() || !ended) return packed;
    }
    if (Status noted = send_note(); !noted.ok()) return noted;
  }
  if (copies_ == nullptr) {
    if (Status started = ChunkCopies::start(source_, transports::Way::out, copies_); !started.ok())
      return started;
  }
  return move();
}

/// Steps the packing. A list that cannot be a bitmap is sent unchanged.
Status ChunkedSend::step_pack(bool& ended) {
  if (pack_ == nullptr) pack_ = begin_packing(source_, look_.integers, look_.order);
  ended = pack_ == nullptr;
  if (ended) return {};
  if (Status packing = pack_->advance(ended); !packing.ok() || !ended) return packing;
  const bool is_packed = pack_->words() != 0;
  note_look(look_, is_packed);
  if (is_packed) {
    note_.bitmap_words = pack_->words();
    source_ = pack_->bitmap();
    wire_bytes_ = source_.layout.bytes();
  } else {
    pack_.reset();
  }
  return {};
}

Status ChunkedSend::send_note() {
  const int code = PMPI_Isend(&note_, sizeof note_, MPI_BYTE, receiver_, static_cast<int>(tag_),
                              channel().communicator(), &noting_);
  if (code != MPI_SUCCESS) return {Code::peer_lost, "MPI_Isend"};
  is_noted_ = true;
  return {};
}

/// Takes a ring only for a receiver that has room itself, so a chunked send with a ring always ends.
Status ChunkedSend::take_memory() {
  const bool on_device = transports::lives_on_device(source_.buffer.kind);
  if (!has_come_ || !on_device) {
    if (!on_device || receiver_is_late()) buffer_payload();
    return {};
  }
  if (ring_ == nullptr) ring_ = std::make_unique<ChunkRing>(transports::Way::out);
  bool taken = false;
  if (Status tried = ring_->try_take(source_.buffer, taken); !tried.ok() || !taken) return tried;
  say_what_was_refused();
  memory_ = ring_->data();
  memory_bytes_ = ChunkRing::bytes;
  return {};
}

/// A payload that the MPI library would not have buffered may wait.
void ChunkedSend::buffer_payload() {
  const std::size_t others = all_buffered_bytes.load(std::memory_order_relaxed);
  must_wait_ = !mpi_would_buffer_ && !transports::may_buffer(others + wire_bytes_);
  if (must_wait_) return;
  buffered_ = StagingBuffer(wire_bytes_);
  must_wait_ = buffered_.data() == nullptr;
  if (must_wait_) return;
  buffered_bytes_ = wire_bytes_;
  all_buffered_bytes.fetch_add(buffered_bytes_, std::memory_order_relaxed);
  memory_ = static_cast<char*>(buffered_.data());
  memory_bytes_ = wire_bytes_;
}

Status ChunkedSend::move() {
  std::size_t copied = 0;
  Status status = copies_->advance(copied);
  for (; status.ok() && copied > 0; --copied) status = post_next();
  return status.ok() ? issue_copies() : status;
}

/// Starts copies as long as there is room. When buffering, where the driver makes the caller wait for each
/// copy, starts one chunk at a time.
Status ChunkedSend::issue_copies() {
  bool once = false;
  while (issued_ < wire_bytes_ && !once) {
    const std::size_t bytes = transports::chunk_bytes_at(issued_, wire_bytes_);
    if (issued_ + bytes - sent_ > memory_bytes_) break;
    char* const data = memory_ + issued_ % memory_bytes_;
    chunks_.push_back({data, bytes, MPI_REQUEST_NULL});
    issued_ += bytes;
    if (Status issued = copies_->copy(data, bytes); !issued.ok()) return issued;
    once = buffered_.data() != nullptr;
  }
  return {};
}

/// Sends the last chunk synchronously: it completes only when it is matched, and all chunks before it with
/// it. The tag may then be used for another payload.
Status ChunkedSend::post_next() {
  Chunk& chunk = chunks_[posted_chunks_];
  const bool is_last = issued_ == wire_bytes_ && posted_chunks_ + 1 == chunks_.size();
  const auto send = is_last ? PMPI_Issend : PMPI_Isend;
  const int code = send(chunk.data, static_cast<int>(chunk.bytes), MPI_BYTE, receiver_,
                        static_cast<int>(tag_), channel().communicator(), &chunk.request);
  if (code != MPI_SUCCESS) return {Code::peer_lost, "MPI_Isend"};
  ++posted_chunks_;
  return {};
}

Status ChunkedSend::take_back_sent() {
  if (noting_ != MPI_REQUEST_NULL) {
    int done = 0;
    if (PMPI_Test(&noting_, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
      noting_ = MPI_REQUEST_NULL;
      return {Code::peer_lost, "MPI_Isend"};
    }
    if (done == 0) return {};
  }
  while (posted_chunks_ > 0) {
    int done = 0;
    const int code = PMPI_Test(&chunks_.front().request, &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && done == 0) break;
    sent_ += chunks_.front().bytes;
    chunks_.pop_front();
    --posted_chunks_;
    if (code != MPI_SUCCESS) return {Code::peer_lost, "MPI_Isend"};
    channel().note_taken(receiver_);
  }
  return {};
}

/// Notifies the receiver by an empty chunk.
void ChunkedSend::give_up(const Status& status) {
  if (is_lost_) return;
  is_lost_ = status.code() == Code::peer_lost;
  if (status_.ok()) status_ = status;
  copies_.reset();
  chunks_.resize(posted_chunks_);
  if (is_lost_) return;
  chunks_.push_back({nullptr, 0, MPI_REQUEST_NULL});
  issued_ = wire_bytes_;
  if (!post_next().ok()) is_lost_ = true;
}

bool ChunkedSend::receiver_is_late() const noexcept {
  return timeout_.is_over(record::now_ns(), channel().last_taken_ns(receiver_));
}

}  // namespace penstock::interpose
