#include "interpose/network/chunked_receive.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/messages/list_packing.hpp"
#include "interpose/network/chunk_channel.hpp"
#include "interpose/node/policy.hpp"

namespace penstock::interpose {
namespace {

using transports::ChunkCopies;
using transports::ChunkRing;

}  // namespace

ChunkedReceive::ChunkedReceive(const Envelope& envelope, transports::BufferView destination)
    : destination_(std::move(destination)),
      wire_bytes_(envelope.payload_bytes),
      integers_(static_cast<transports::Integer>(envelope.integers)),
      sender_(sender_of(envelope)),
      tag_(envelope.slot),
      is_noted_(integers_ == transports::Integer::none) {}

void ChunkedReceive::discard() noexcept {
  is_wanted_ = false;
  if (is_unpacking_) unpack_.reset();  // waits for the kernel
  copies_.reset();
  done_ = std::accumulate(copying_.begin(), copying_.end(), done_);
  copying_.clear();
}

bool ChunkedReceive::advance(bool /*arrived*/, const MPI_Status& /*status*/) {
  if (is_over_) return true;
  if (memory_ == nullptr) take_memory();
  if (memory_ != nullptr) {
    if (!is_noted_) take_note();
    take_arrived();
    take_placed();
    if (is_noted_) post_receives();
    clear_sender();
  }
  const bool is_whole = is_noted_ && done_ == wire_bytes_;
  const bool is_through = (is_whole && is_unpacked()) || (ends_early_ && posted_.empty() && copying_.empty());
  int is_told = 1;
  if (is_through && clearance_ != MPI_REQUEST_NULL &&
      PMPI_Test(&clearance_, &is_told, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
    is_told = 1;  // it will never complete
  }
  is_over_ = is_through && is_told != 0;
  if (is_over_) {
    copies_.reset();
    ring_.reset();
  }
  return is_over_;
}

void ChunkedReceive::take_memory() {
  const bool on_device = transports::lives_on_device(destination_.buffer.kind);
  if (is_wanted_ && !on_device && destination_.layout.is_contiguous()) {
    memory_ = destination_.first_byte();
    memory_bytes_ = wire_bytes_;
    return;
  }
  if (is_wanted_ && on_device) {
    if (ring_ == nullptr) ring_ = std::make_unique<ChunkRing>(transports::Way::in);
    bool taken = false;
    Status begun = ring_->try_take(destination_.buffer, taken);
    if (begun.ok() && !taken) return;
    say_what_was_refused();
    if (begun.ok()) begun = ChunkCopies::start(destination_, transports::Way::in, copies_);
    if (begun.ok()) {
      if (!is_noted_) unpack_ = room_for_bitmap(destination_, integers_);
      memory_ = ring_->data();
      memory_bytes_ = ChunkRing::bytes;
      return;
    }
    fail(begun);
    ring_.reset();
  }
  if (!take_zone()) return expect_no_more({Code::out_of_memory, "receiving from another node"});
  if (!is_wanted_) return;
  if (Status begun = ChunkCopies::start(destination_, transports::Way::in, copies_); !begun.ok()) fail(begun);
}

bool ChunkedReceive::take_zone() {
  memory_bytes_ = std::min(wire_bytes_, ChunkRing::bytes);
  buffer_ = StagingBuffer(memory_bytes_);
  memory_ = static_cast<char*>(buffer_.data());
  return memory_ != nullptr;
}

/// Receives the note on whether the payload or a bitmap follows.
void ChunkedReceive::take_note() {
  if (noting_ == MPI_REQUEST_NULL) {
    const int code = PMPI_Irecv(&note_, sizeof note_, MPI_BYTE, sender_, static_cast<int>(tag_),
                                channel().communicator(), &noting_);
    if (code != MPI_SUCCESS) return expect_no_more({Code::peer_lost, "MPI_Irecv"});
  }
  int has_come = 0;
  MPI_Status status;
  const int code = PMPI_Test(&noting_, &has_come, &status);
  if (code == MPI_SUCCESS && has_come == 0) return;
  is_noted_ = true;
  if (code != MPI_SUCCESS) return expect_no_more({Code::peer_lost, "MPI_Irecv"});
  if (bytes_of(status) != sizeof note_) return expect_no_more({Code::peer_lost, "the sender gave up"});
  if (note_.bitmap_words != 0) {
    expect_bitmap();
  } else {
    unpack_.reset();
  }
}

void ChunkedReceive::expect_bitmap() {
  const transports::BufferView* const room = unpack_ == nullptr ? nullptr : unpack_->room(note_.bitmap_words);
  if (room == nullptr) return expect_no_more({Code::peer_lost, "sender's bitmap of a list"});
  wire_bytes_ = room->layout.bytes();
  if (!is_wanted_) return;
  if (Status begun = ChunkCopies::start(*room, transports::Way::in, copies_); !begun.ok()) fail(begun);
}

/// Returns true when there is nothing (more) to unpack.
bool ChunkedReceive::is_unpacked() {
  if (note_.bitmap_words == 0 || !is_wanted_) return true;
  if (!std::exchange(is_unpacking_, true)) {
    if (Status started = unpack_->start(); !started.ok()) {
      fail(started);
      return true;
    }
  }
  bool ended = false;
  if (Status unpacked = unpack_->advance(ended); !unpacked.ok()) {
    fail(unpacked);
    return true;
  }
  return ended;
}

/// Sends the clearance, once the first receives are posted.
void ChunkedReceive::clear_sender() {
  if (std::exchange(is_cleared_, true)) return;
  clearance_word_ = ChunkChannel::word_of(tag_, unpack_ != nullptr ? Clearance::bitmap : Clearance::payload);
  if (channel().clear(sender_, &clearance_word_, &clearance_) != MPI_SUCCESS)
    expect_no_more({Code::peer_lost, "MPI_Isend"});
}

void ChunkedReceive::take_arrived() {
  while (!posted_.empty()) {
    int has_come = 0;
    MPI_Status status;
    const int code = PMPI_Test(&posted_.front().request, &has_come, &status);
    if (code == MPI_SUCCESS && has_come == 0) return;
    const Chunk chunk = posted_.front();
    posted_.pop_front();
    if (code != MPI_SUCCESS) return expect_no_more({Code::peer_lost, "MPI_Irecv"});
    if (bytes_of(status) != chunk.bytes) return expect_no_more({Code::peer_lost, "the sender gave up"});
    take_chunk(chunk);
  }
}

void ChunkedReceive::take_chunk(const Chunk& chunk) {
  if (copies_ != nullptr) {
    copying_.push_back(chunk.bytes);
    if (Status copied = copies_->copy(chunk.data, chunk.bytes); !copied.ok()) fail(copied);
  } else {
    done_ += chunk.bytes;
  }
}

void ChunkedReceive::take_placed() {
  if (copies_ == nullptr) return;
  std::size_t ended = 0;
  if (Status placed = copies_->advance(ended); !placed.ok()) return fail(placed);
  for (; ended > 0; --ended) {
    done_ += copying_.front();
    copying_.pop_front();
  }
}

void ChunkedReceive::post_receives() {
  while (expected_ < wire_bytes_ && !ends_early_ && posted_.size() < policy::most_chunks_posted) {
    const std::size_t bytes = transports::chunk_bytes_at(expected_, wire_bytes_);
    if (expected_ + bytes - done_ > memory_bytes_) return;
    posted_.push_back({memory_ + expected_ % memory_bytes_, bytes, MPI_REQUEST_NULL});
    Chunk& chunk = posted_.back();
    const int code = PMPI_Irecv(chunk.data, static_cast<int>(bytes), MPI_BYTE, sender_,
                                static_cast<int>(tag_), channel().communicator(), &chunk.request);
    if (code != MPI_SUCCESS) {
      posted_.pop_back();
      return expect_no_more({Code::peer_lost, "MPI_Irecv"});
    }
    expected_ += bytes;
  }
}

/// Drops the payload, but continues to receive, as the sender must finish.
void ChunkedReceive::fail(const Status& status) noexcept {
  if (status_.ok()) status_ = status;
  discard();
}

void ChunkedReceive::expect_no_more(const Status& status) noexcept {
  fail(status);
  ends_early_ = true;
  if (noting_ != MPI_REQUEST_NULL) {
    PMPI_Cancel(&noting_);
    PMPI_Wait(&noting_, MPI_STATUS_IGNORE);
  }
  for (Chunk& chunk : posted_) {
    PMPI_Cancel(&chunk.request);
    PMPI_Wait(&chunk.request, MPI_STATUS_IGNORE);
  }
  posted_.clear();
}

}  // namespace penstock::interpose
