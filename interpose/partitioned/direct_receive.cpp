#include "interpose/partitioned/direct_receive.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "interpose/record/recorder.hpp"
#include "transports/host/in_call.hpp"
#include "transports/host/process.hpp"

namespace penstock::interpose {

Mover DirectReceive::mover() {
  if (mover_ == Mover::undecided) mover_ = decide(find_note(sender_, name_));
  return mover_;
}

Mover DirectReceive::decide(const FoundNote& found) {
  if (found.state == NoteState::free) return Mover::undecided;
  if (found.note == nullptr) {
    show_that_library_moves(name_);  // a sender that comes later finds it
    return Mover::library;
  }
  if (found.state != NoteState::open) return Mover::library;
  // its fields are this use's if the move below is made
  PartitionNote& note = *found.note;
  const bool reached = can_reach(note);
  const bool is_taken =
      reached ? note.state.move<NoteSide::receiver, NoteState::open, NoteState::direct>(found.use)
              : note.state.move<NoteSide::receiver, NoteState::open, NoteState::library>(found.use);
  if (!is_taken || !reached) return Mover::library;
  note_ = found;
  return Mover::receiver;
}

bool DirectReceive::can_reach(const PartitionNote& note) {
  const std::uint32_t partitions = note.partitions.load(std::memory_order_relaxed);
  const std::uint32_t first_word = note.first_word.load(std::memory_order_relaxed);
  const transports::Offer offer = note.offer;
  const std::size_t bytes = buffer_.layout.bytes();
  if (offer.payload_bytes != bytes || partitions == 0 || bytes % partitions != 0 ||
      first_word > ready_words_per_rank || partitions > ready_words_per_rank - first_word) {
    return false;
  }
  MemberRecord record{};
  record.offer = offer;
  record.bytes = bytes;
  memory_.emplace(record);
  if (const char* const why_not = memory_->open(); why_not != nullptr) {
    char line[160];
    std::snprintf(line, sizeof line, "a partitioned message is staged: %s", why_not);
    record::notice(line);
    return false;
  }
  words_ = std::span(node_directory().partitions_of(sender_).ready).subspan(first_word, partitions);
  pieces_.assign(partitions, Piece::awaited);
  piece_bytes_ = bytes / partitions;
  source_kind_ = offer.kind;
  return true;
}

void DirectReceive::begin(std::uint64_t since_ns) {
  ++begun_;
  since_ns_ = since_ns;
  last_start_ns_ = 0;
  key_ = 0;
  arrived_ = 0;
  moving_.clear();  // what an operation left whose sender was gone
  std::ranges::fill(pieces_, Piece::awaited);
}

bool DirectReceive::advance(Status& status) {
  if (note_.now() != NoteState::direct) {
    status = {Code::peer_lost, "the sender has freed its request"};
    return true;
  }
  step_moving(status);
  if (note_.note->started.load(std::memory_order_acquire) != begun_) return sender_is_gone(status);
  if (key_ == 0) key_ = note_.note->key.load(std::memory_order_relaxed);
  start_ready_ones(status);
  if (arrived_ != pieces_.size()) return sender_is_gone(status);
  note_.note->done.store(begun_, std::memory_order_release);
  return true;
}

bool DirectReceive::sender_is_gone(Status& status) {
  if (!watch_.is_due() || transports::is_alive(sender_.process)) return false;
  status = {Code::peer_lost, "the sender"};
  return true;
}

void DirectReceive::step_moving(Status& status) {
  std::erase_if(moving_, [&](Moving& each) {
    bool finished = false;
    Status stepped = each.pull->advance(finished);
    if (!finished && stepped.ok()) return false;
    if (!stepped.ok()) status = stepped;
    arrive(each.first, each.end);
    return true;
  });
}

/// Starts neighbours that are ready as one copy.
void DirectReceive::start_ready_ones(Status& status) {
  const auto count = static_cast<std::uint32_t>(pieces_.size());
  const auto may_start = [&](std::uint32_t i) {
    return pieces_[i] == Piece::awaited && words_[i].load(std::memory_order_acquire) != 0;
  };
  for (std::uint32_t first = 0; first < count; ++first) {
    std::uint32_t end = first;
    while (end < count && may_start(end)) ++end;
    if (end == first) continue;
    start(first, end, status);
    first = end;
  }
}

void DirectReceive::start(std::uint32_t first, std::uint32_t end, Status& status) {
  std::fill(pieces_.begin() + first, pieces_.begin() + end, Piece::moving);
  std::unique_ptr<transports::Pull> pull;
  if (status.ok()) {
    last_start_ns_ = transports::steady_now_ns();
    transports::BufferView destination = buffer_;
    const auto offset = static_cast<std::ptrdiff_t>(first * piece_bytes_);
    const std::size_t bytes = (end - first) * piece_bytes_;
    destination.layout = transports::Layout::contiguous(bytes, buffer_.layout.first_offset() + offset);
    destination.handed_over_ns = since_ns_;
    status = memory_->start(Direction::get, destination, transports::Layout::contiguous(bytes, offset), pull);
  }
  if (status.ok() && pull != nullptr) {
    moving_.push_back({first, end, std::move(pull)});
  } else {
    arrive(first, end);  // nothing more of it is copied, also after a failure
  }
}

void DirectReceive::arrive(std::uint32_t first, std::uint32_t end) noexcept {
  std::fill(pieces_.begin() + first, pieces_.begin() + end, Piece::here);
  arrived_ += end - first;
}

bool DirectReceive::has_arrived(std::size_t begin, std::size_t end) const noexcept {
  if (begin == end) return true;
  return std::all_of(pieces_.begin() + static_cast<std::ptrdiff_t>(begin / piece_bytes_),
                     pieces_.begin() + static_cast<std::ptrdiff_t>((end - 1) / piece_bytes_ + 1),
                     [](Piece piece) { return piece == Piece::here; });
}

}  // namespace penstock::interpose
