#include "interpose/collectives/schedules/scan_schedule.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace penstock::interpose {

using transports::DeviceReduction;
using transports::VectorReduction;

bool ScanShape::goes_straight() const noexcept {
  return static_cast<std::uint32_t>(vectors.ranks) <= transports::kernels::most_sources &&
         count * vectors.element_bytes() <= policy::most_scanned_in_one_step_bytes;
}

bool ScanShape::passes_on() const noexcept {
  return !goes_straight() && !is_first() && vectors.rank + 1 < vectors.ranks;
}

std::size_t ScanShape::piece() const noexcept {
  if (goes_straight()) return count;
  const std::size_t bytes = std::clamp(count * vectors.element_bytes() / policy::pieces_of_a_scan,
                                       policy::least_scanned_piece_bytes, policy::most_scanned_piece_bytes);
  return std::min(count, vectors.elements_within(bytes));
}

std::size_t ScanShape::depth() const noexcept {
  return std::min(pieces(), policy::most_scanned_pieces);
}

std::size_t ScanShape::sources() const noexcept {
  return goes_straight() ? static_cast<std::size_t>(vectors.rank) : 1;
}

std::size_t ScanShape::scratch_bytes() const noexcept {
  // an exclusive prefix that this rank passes on is not its result, and needs memory until it is sent
  const std::size_t kept = prefix == Prefix::exclusive && passes_on() ? 1 : 0;
  return depth() * (sources() + kept) * vectors.slot_bytes(piece());
}

ScanSchedule::ScanSchedule(const ScanShape& shape, std::optional<ScratchMemory> scratch, const void* own,
                           void* result)
    : shape_(shape),
      scratch_(std::move(scratch)),
      own_(static_cast<const std::byte*>(own)),
      result_(static_cast<std::byte*>(result)) {}

bool ScanSchedule::may_begin() const {
  return may_be_sent(own_, {1, MPI_BYTE, 0});
}

std::unique_ptr<ScheduleRun> ScanSchedule::begin(const CallScope& scope, TagRange tags) const {
  return std::make_unique<ScanRun>(*this, scope, tags);
}

ScanRun::ScanRun(const ScanSchedule& schedule, const CallScope& scope, TagRange tags)
    : schedule_(schedule), tags_(tags) {
  if (schedule.scratch_) {
    for (Piece& one : under_way_)
      one.reduction = std::make_unique<DeviceReduction>(schedule.scratch_->context());
  }
  if (shape().is_first() && shape().prefix == Prefix::inclusive && schedule.own_ != schedule.result_) {
    kept_ = std::make_unique<MessageRun>(scope, tags);
    const BlockPlace vector = shape().vectors.block_without_gaps(shape().count);
    kept_->keep(schedule.own_, vector, schedule.result_, vector, shape().vectors.rank);
  }
  while (posted_ < shape().depth()) post(scope);
}

bool ScanRun::step(const CallScope& scope) {
  step_messages(scope);
  while (advance(scope)) continue;
  if (kept_ != nullptr && kept_->step(scope)) {
    note(*kept_);
    kept_ = nullptr;
  }
  return over_ == shape().pieces() && kept_ == nullptr;
}

bool ScanRun::is_owed() const {
  if (handed_on_ < combined_) return true;
  const auto is_owed = [](const auto& messages) { return messages != nullptr && messages->is_owed(); };
  return is_owed(kept_) || std::ranges::any_of(under_way_, [&](const Piece& one) {
           return is_owed(one.coming) || is_owed(one.leaving);
         });
}

/// Steps the messages of all pieces, as all are in flight.
void ScanRun::step_messages(const CallScope& scope) {
  for (std::size_t index = combined_; index < posted_; ++index)
    static_cast<void>(piece(index).coming->step(scope));
  for (std::size_t index = over_; index < handed_on_; ++index)
    static_cast<void>(piece(index).leaving->step(scope));
}

/// Advances each piece whose turn it is. Returns false if nothing has changed. Notes errors and continues, as
/// the others are waiting.
bool ScanRun::advance(const CallScope& scope) {
  const std::size_t before = posted_ + combined_ + handed_on_ + over_;
  if (posted_ < shape().pieces() && posted_ < over_ + shape().depth() &&
      (!shape().is_first() || may_send(schedule_.own_))) {
    post(scope);
  }
  if (combined_ < posted_ && piece(combined_).coming->step(scope)) {
    note(*piece(combined_).coming);
    combine();
  }
  if (handed_on_ < combined_ && is_combined() && (!shape().passes_on() || may_send(outgoing(handed_on_)))) {
    hand_on(scope);
  }
  if (over_ < handed_on_ && piece(over_).leaving->step(scope)) {
    note(*piece(over_).leaving);
    ++over_;
  }
  return posted_ + combined_ + handed_on_ + over_ != before;
}

/// Receives what this rank combines, and sends its own vector if others get it as it is.
void ScanRun::post(const CallScope& scope) {
  const ReductionShape& vectors = shape().vectors;
  const BlockPlace block = vectors.block(elements(posted_));
  auto run = std::make_unique<MessageRun>(scope, tags_);
  if (!shape().is_first()) {
    const int first = vectors.rank - static_cast<int>(shape().sources());
    for (int source = first; source < vectors.rank; ++source)
      run->receive(slot(posted_, static_cast<std::size_t>(source - first)), block, source);
  }
  const int end = shape().goes_straight() ? vectors.ranks : shape().is_first() ? 2 : 0;
  for (int other = vectors.rank + 1; other < end; ++other)
    run->send(schedule_.own_ + offset(posted_), block, other);
  piece(posted_).coming = std::move(run);
  ++posted_;
}

void ScanRun::combine() {
  const std::size_t index = combined_++;
  if (shape().is_first() || !is_well()) return;
  std::vector<const void*> before;
  for (std::size_t source = 0; source < shape().sources(); ++source) before.push_back(slot(index, source));
  std::vector<const void*> all = before;
  all.push_back(schedule_.own_ + offset(index));
  const auto reduction = [&](std::byte* to, const std::vector<const void*>& sources) {
    return VectorReduction{to, sources, elements(index), shape().vectors.kind.type,
                           shape().vectors.kind.operation};
  };
  std::byte* const result = schedule_.result_ + offset(index);
  std::vector<VectorReduction> reductions;
  // before the result, which may lie where the own vector does
  if (shape().prefix == Prefix::inclusive || shape().passes_on())
    reductions.push_back(reduction(shape().passes_on() ? outgoing(index) : result, all));
  if (shape().prefix == Prefix::exclusive) reductions.push_back(reduction(result, before));
  note(piece(index).reduction->launch_in_turn(reductions));
}

bool ScanRun::is_combined() {
  if (shape().is_first()) return true;
  bool done = false;
  note(piece(handed_on_).reduction->query(done));
  return done;
}

void ScanRun::hand_on(const CallScope& scope) {
  const std::size_t index = handed_on_++;
  piece(index).leaving = std::make_unique<MessageRun>(scope, tags_);
  if (shape().passes_on()) {
    piece(index).leaving->send(outgoing(index), shape().vectors.block(elements(index)),
                               shape().vectors.rank + 1);
  }
}

bool ScanRun::may_send(const std::byte* from) {
  return send_wait_.may_send(from, {1, MPI_BYTE, 0});
}

/// In bytes from the beginning of a vector.
std::size_t ScanRun::offset(std::size_t index) const noexcept {
  return index * shape().piece() * shape().vectors.element_bytes();
}

std::size_t ScanRun::elements(std::size_t index) const noexcept {
  return std::min(shape().piece(), shape().count - index * shape().piece());
}

/// Returns where a piece from another rank is received.
std::byte* ScanRun::slot(std::size_t index, std::size_t source) const noexcept {
  const std::size_t number = index % shape().depth() * shape().sources() + source;
  return schedule_.scratch_->memory() + number * shape().vectors.slot_bytes(shape().piece());
}

/// Returns where this rank's inclusive prefix of a piece lies.
std::byte* ScanRun::outgoing(std::size_t index) const noexcept {
  if (shape().prefix == Prefix::inclusive) return schedule_.result_ + offset(index);
  const std::size_t number = shape().depth() * shape().sources() + index % shape().depth();
  return schedule_.scratch_->memory() + number * shape().vectors.slot_bytes(shape().piece());
}

}  // namespace penstock::interpose
