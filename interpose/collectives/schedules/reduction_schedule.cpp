#include "interpose/collectives/schedules/reduction_schedule.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <utility>

#include "interpose/node/policy.hpp"

namespace penstock::interpose {
namespace {

using transports::DeviceReduction;

/// Returns the elements of a piece in which a range of `largest` elements is combined.
std::size_t piece_elements(const ReductionShape& shape, std::size_t largest) noexcept {
  return std::min(largest, shape.elements_within(policy::reduction_memory_bytes / 2 /
                                                 static_cast<std::size_t>(shape.ranks - 1)));
}

bool goes_in_one_step(const ReductionShape& shape, std::size_t count) noexcept {
  return static_cast<std::uint32_t>(shape.ranks) <= transports::kernels::most_sources &&
         count * shape.element_bytes() * static_cast<std::size_t>(shape.ranks - 1) <=
             policy::most_reduced_in_one_step_bytes;
}

/// Returns the range that each rank combines: equal except for the last ones.
std::vector<ElementRange> ranges_of(const ReductionShape& shape, std::size_t count) {
  const auto ranks = static_cast<std::size_t>(shape.ranks);
  const std::size_t unit = shape.elements_within(ReductionShape::alignment_bytes);
  const std::size_t each = ((count + ranks - 1) / ranks + unit - 1) / unit * unit;
  std::vector<ElementRange> ranges(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    ranges[rank].first = std::min(count, rank * each);
    ranges[rank].count = std::min(each, count - ranges[rank].first);
  }
  return ranges;
}

std::shared_ptr<const ScratchMemory> shared(std::optional<ScratchMemory> scratch) {
  return scratch ? std::make_shared<const ScratchMemory>(*std::move(scratch)) : nullptr;
}

ElementRange piece_of(const ElementRange& range, std::size_t index, std::size_t piece) noexcept {
  const std::size_t begin = std::min(range.count, index * piece);
  return {range.first + begin, std::min(piece, range.count - begin)};
}

}  // namespace

std::size_t ReductionSchedule::largest_at_a_time(const ReductionShape& shape, std::size_t count) {
  if (goes_in_one_step(shape, count)) return count;
  return ranges_of(shape, count)[0].count;
}

std::size_t ReductionSchedule::scratch_bytes(const ReductionShape& shape, std::size_t largest) {
  // large ranges need two pieces: one arrives while the other is combined
  const std::size_t piece = piece_elements(shape, largest);
  const std::size_t pieces = piece == largest ? 1 : 2;
  return pieces * shape.slot_bytes(piece) * static_cast<std::size_t>(shape.ranks - 1);
}

ReductionSchedule::ReductionSchedule(const ReductionShape& shape, SharedScratch scratch, const void* own,
                                     void* result, std::vector<ElementRange> ranges)
    : shape_(shape),
      scratch_(std::move(scratch)),
      own_(static_cast<const std::byte*>(own)),
      result_(static_cast<std::byte*>(result)),
      ranges_(std::move(ranges)) {}

ReductionSchedule ReductionSchedule::all_to_all(const ReductionShape& shape,
                                                std::optional<ScratchMemory> scratch, const void* own,
                                                void* result, std::size_t count) {
  return all_to_all_in(shape, shared(std::move(scratch)), own, result, count);
}

ReductionSchedule ReductionSchedule::all_to_all_in(const ReductionShape& shape, SharedScratch scratch,
                                                   const void* own, void* result, std::size_t count) {
  const bool in_one_step = goes_in_one_step(shape, count);
  // every rank combines everything then: messages for one half of the data would take as long again
  ReductionSchedule schedule(
      shape, std::move(scratch), own, result,
      in_one_step ? std::vector<ElementRange>(static_cast<std::size_t>(shape.ranks), {0, count})
                  : ranges_of(shape, count));
  if (!in_one_step) schedule.gather_into(schedule.result_);
  return schedule;
}

void ReductionSchedule::gather_into(std::byte* all) noexcept {
  gathered_ = all;
  result_ = all + own_range().first * shape_.element_bytes();
}

ReductionSchedule::NodeShapes ReductionSchedule::shapes_of(const ReductionShape& shape, const NodeMap& map) {
  const std::size_t own_node = map.node_of(shape.rank);
  const std::size_t index = map.index_of(shape.rank);
  std::vector<int> counterparts;
  for (std::size_t node = 0; node < map.nodes(); ++node) counterparts.push_back(map.ranks_on(node)[index]);
  return {shape.among(map.ranks_on(own_node), index), shape.among(std::move(counterparts), own_node)};
}

std::size_t ReductionSchedule::largest_at_a_time(const NodeShapes& shapes, std::size_t count) {
  const std::vector<ElementRange> ranges = ranges_of(shapes.within, count);
  return largest_at_a_time(shapes.between, ranges[static_cast<std::size_t>(shapes.within.rank)].count);
}

std::size_t ReductionSchedule::scratch_bytes(const NodeShapes& shapes, std::size_t count) {
  const std::size_t between = largest_at_a_time(shapes, count);
  return std::max(scratch_bytes(shapes.within, ranges_of(shapes.within, count)[0].count),
                  between == 0 ? 0 : scratch_bytes(shapes.between, between));
}

ReductionSchedule ReductionSchedule::all_to_all_over_nodes(const NodeShapes& shapes,
                                                           std::optional<ScratchMemory> scratch,
                                                           const void* own, void* result, std::size_t count) {
  const SharedScratch both = shared(std::move(scratch));
  ReductionSchedule schedule(shapes.within, both, own, result, ranges_of(shapes.within, count));
  schedule.gather_into(schedule.result_);
  const std::size_t combined = schedule.own_range().count;
  if (combined != 0) {
    schedule.between_ = std::make_unique<const ReductionSchedule>(
        all_to_all_in(shapes.between, both, schedule.result_, schedule.result_, combined));
  }
  return schedule;
}

ReductionSchedule ReductionSchedule::all_to_root(const ReductionShape& shape,
                                                 std::optional<ScratchMemory> scratch, const void* own,
                                                 void* result, std::size_t count, int root) {
  std::vector<ElementRange> ranges(static_cast<std::size_t>(shape.ranks));
  ranges[static_cast<std::size_t>(root)] = {0, count};
  return {shape, shared(std::move(scratch)), own, result, std::move(ranges)};
}

ReductionSchedule ReductionSchedule::scatter(const ReductionShape& shape,
                                             std::optional<ScratchMemory> scratch, const void* own,
                                             void* result, std::vector<ElementRange> ranges) {
  return {shape, shared(std::move(scratch)), own, result, std::move(ranges)};
}

bool ReductionSchedule::may_begin() const {
  return may_be_sent(own_, {1, MPI_BYTE, 0});
}

std::unique_ptr<ScheduleRun> ReductionSchedule::begin(const CallScope& scope, TagRange tags) const {
  return std::make_unique<ReductionRun>(*this, scope, tags);
}

ReductionRun::ReductionRun(const ReductionSchedule& schedule, const CallScope& scope, TagRange tags)
    : schedule_(schedule), tags_(tags) {
  const std::size_t largest = std::ranges::max_element(schedule.ranges_, {}, &ElementRange::count)->count;
  piece_ = piece_elements(shape(), largest);
  pieces_ = piece_ == 0 ? 0 : (largest + piece_ - 1) / piece_;
  if (schedule.scratch_) reduction_ = std::make_unique<DeviceReduction>(schedule.scratch_->context());
  coming_ = post(scope, 0);
}

bool ReductionRun::step(const CallScope& scope) {
  while (phase_ != Phase::over) {
    if (!go_on(scope)) return false;
  }
  return true;
}

/// Moves from one phase to the next. Returns false if it has to wait.
bool ReductionRun::go_on(const CallScope& scope) {
  switch (phase_) {
    case Phase::coming: {
      if (!coming_->step(scope)) return false;
      // the next piece uses the memory of the one before
      if (!is_combined()) return false;
      const bool goes_on = index_ + 1 < pieces_;
      if (goes_on && !may_send(schedule_.own_, 1)) return false;
      note(*coming_);
      if (goes_on) coming_ = post(scope, index_ + 1);
      if (is_well() && pieces_ != 0) combine(index_);
      ++index_;
      if (!goes_on) phase_ = Phase::combining;
      return true;
    }
    case Phase::combining:
      if (!is_combined()) return false;
      if (schedule_.gathered_ == nullptr) {
        phase_ = Phase::over;
        return true;
      }
      if (!may_send(schedule_.result_, bytes(schedule_.own_range().count))) return false;
      // from here on also after an error: the others are waiting
      coming_ = schedule_.between_ != nullptr ? schedule_.between_->begin(scope, tags_) : gather(scope);
      phase_ = schedule_.between_ != nullptr ? Phase::between_nodes : Phase::gathering;
      return true;
    case Phase::between_nodes:
      if (!coming_->step(scope)) return false;
      if (!may_send(schedule_.result_, bytes(schedule_.own_range().count))) return false;
      note(*coming_);
      coming_ = gather(scope);
      phase_ = Phase::gathering;
      return true;
    case Phase::gathering:
      if (!coming_->step(scope)) return false;
      note(*coming_);
      phase_ = Phase::over;
      return true;
    case Phase::over:
      return true;
  }
  return true;
}

bool ReductionRun::is_combined() {
  if (reduction_ == nullptr) return true;
  bool done = false;
  note(reduction_->query(done));
  return done;
}

bool ReductionRun::may_send(const void* from, std::size_t length) {
  return length == 0 || send_wait_.may_send(from, {static_cast<MPI_Count>(length), MPI_BYTE, 0});
}

/// Returns where another rank's part of a piece is received.
std::byte* ReductionRun::slot(std::size_t index, int other) const noexcept {
  const auto others = static_cast<std::size_t>(shape().ranks - 1);
  const auto number = static_cast<std::size_t>(other < shape().rank ? other : other - 1);
  return schedule_.scratch_->memory() + (index % 2 * others + number) * shape().slot_bytes(piece_);
}

std::unique_ptr<ScheduleRun> ReductionRun::post(const CallScope& scope, std::size_t index) const {
  auto run = std::make_unique<MessageRun>(scope, tags_);
  const std::size_t own = piece_of(schedule_.own_range(), index, piece_).count;
  if (own != 0) {
    for_others(shape().rank, shape().ranks,
               [&](int other) { run->receive(slot(index, other), shape().block(own), shape().peer(other)); });
  }
  for_others(shape().rank, shape().ranks, [&](int other) {
    const ElementRange piece = piece_of(schedule_.ranges_[static_cast<std::size_t>(other)], index, piece_);
    if (piece.count != 0)
      run->send(schedule_.own_, shape().block(piece.count, piece.first), shape().peer(other));
  });
  return run;
}

void ReductionRun::combine(std::size_t index) {
  const ElementRange& range = schedule_.own_range();
  const ElementRange piece = piece_of(range, index, piece_);
  if (piece.count == 0) return;
  const std::byte* const own = schedule_.own_ + bytes(piece.first);
  const int ranks = shape().ranks;
  std::vector<const void*> sources;
  sources.reserve(static_cast<std::size_t>(ranks));
  // several launches write the result before the last vector is read, so it may only be the first
  const bool own_comes_first = static_cast<std::uint32_t>(ranks) > transports::kernels::most_sources;
  if (own_comes_first) sources.push_back(own);
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank != shape().rank) {
      sources.push_back(slot(index, rank));
    } else if (!own_comes_first) {
      sources.push_back(own);
    }
  }
  // In place, the result of a scatter lies in front, where this rank and those before it had other
  // elements. Each of those stood no later in its rank's range than here, so it was sent with this piece or
  // before. But some of this rank's own piece may lie there.
  std::byte* const to = schedule_.result_ + bytes(piece.first - range.first);
  const bool covers_own = to < own && own < to + bytes(piece.count);
  const auto launch_to = [&](std::byte* where, std::span<const void* const> from) {
    return transports::VectorReduction{where, from, piece.count, shape().kind.type, shape().kind.operation};
  };
  if (!covers_own) {
    note(reduction_->launch(launch_to(to, sources)));
    return;
  }
  std::byte* const combined = slot(index, 0);  // the first rank's result never covers its own
  const std::array<const void*, 1> all = {combined};
  note(reduction_->launch_in_turn(std::array{launch_to(combined, sources), launch_to(to, all)}));
}

std::unique_ptr<ScheduleRun> ReductionRun::gather(const CallScope& scope) const {
  auto run = std::make_unique<MessageRun>(scope, tags_);
  const auto block_of = [&](int rank) {
    const ElementRange& range = schedule_.ranges_[static_cast<std::size_t>(rank)];
    return shape().block_without_gaps(range.count, range.first);
  };
  for_others(shape().rank, shape().ranks, [&](int other) {
    if (block_of(other).count != 0) run->receive(schedule_.gathered_, block_of(other), shape().peer(other));
  });
  const BlockPlace own = block_of(shape().rank);
  if (own.count != 0) {
    for_others(shape().rank, shape().ranks,
               [&](int other) { run->send(schedule_.gathered_, own, shape().peer(other)); });
  }
  return run;
}

}  // namespace penstock::interpose
