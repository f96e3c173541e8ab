#include "interpose/collectives/reduction_exchange.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "interpose/collectives/message_exchange.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/progress/progress.hpp"

namespace penstock::interpose {
namespace {

using transports::DeviceReduction;

/// So that pieces begin at an address that whole vectors can be loaded from.
constexpr std::size_t piece_alignment_bytes = 16;

std::size_t rounded_up(std::size_t count, std::size_t unit) noexcept {
  return (count + unit - 1) / unit * unit;
}

bool goes_in_one_step(const ReductionShape& shape, std::size_t count) noexcept {
  return static_cast<std::uint32_t>(shape.ranks) <= transports::kernels::most_sources &&
         count * shape.element_bytes() * static_cast<std::size_t>(shape.ranks - 1) <=
             policy::most_reduced_in_one_step_bytes;
}

/// Each rank combines one: equal but for the last ones.
std::vector<ElementRange> ranges_of(const ReductionShape& shape, std::size_t count) {
  const auto ranks = static_cast<std::size_t>(shape.ranks);
  const std::size_t unit = piece_alignment_bytes / shape.element_bytes();
  const std::size_t each = rounded_up((count + ranks - 1) / ranks, unit);
  std::vector<ElementRange> ranges(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    ranges[rank].first = std::min(count, rank * each);
    ranges[rank].count = std::min(each, count - ranges[rank].first);
  }
  return ranges;
}

ElementRange piece_of(const ElementRange& range, std::size_t index, std::size_t piece) noexcept {
  const std::size_t begin = std::min(range.count, index * piece);
  return {range.first + begin, std::min(piece, range.count - begin)};
}

}  // namespace

std::size_t ReductionShape::piece_elements(std::size_t largest) const noexcept {
  const std::size_t bytes = policy::reduction_memory_bytes / 2 / static_cast<std::size_t>(ranks - 1);
  const std::size_t most = std::max<std::size_t>(1, bytes / piece_alignment_bytes) * piece_alignment_bytes;
  return std::min(largest, most / element_bytes());
}

std::size_t ReductionShape::slot_bytes(std::size_t piece) const noexcept {
  return rounded_up(piece * element_bytes(), piece_alignment_bytes);
}

std::size_t ReductionExchange::largest_at_a_time(const ReductionShape& shape, std::size_t count) {
  if (goes_in_one_step(shape, count)) return count;
  return ranges_of(shape, count)[0].count;
}

std::optional<ReductionWorkplace> ReductionWorkplace::make(const ReductionShape& shape, const void* own,
                                                           const void* result, std::size_t largest) {
  if (!DeviceReduction::available().ok()) return std::nullopt;
  const transports::Buffer result_buffer = transports::inspect(result);
  const transports::Buffer own_buffer = own == result ? result_buffer : transports::inspect(own);
  if (!transports::lives_on_device(own_buffer.kind) || !transports::lives_on_device(result_buffer.kind) ||
      own_buffer.context != result_buffer.context) {
    return std::nullopt;
  }
  ReductionWorkplace place;
  place.context_ = transports::cuda::Context::of(result_buffer);
  if (place.context_ == nullptr) return std::nullopt;
  const transports::cuda::ContextScope scope(*place.context_);
  if (!scope.status().ok()) return std::nullopt;
  // of large ranges two pieces: one comes while the other is combined
  const std::size_t piece = shape.piece_elements(largest);
  const std::size_t pieces = piece == largest ? 1 : 2;
  const std::size_t bytes = pieces * shape.slot_bytes(piece) * static_cast<std::size_t>(shape.ranks - 1);
  if (!transports::cuda::RelaySlice::take(place.context_, bytes, place.memory_).ok()) return std::nullopt;
  return place;
}

/// One range, piece by piece: while the GPU combines one, the next is on its way.
class ReductionExchange::Pieces {
 public:
  /// `largest`: elements of the largest range of any rank. `result` is where this rank's range goes; null:
  /// it has none, and only sends.
  Pieces(ReductionExchange& all, ReductionWorkplace* place, std::size_t largest, const void* own,
         void* result)
      : all_(all),
        place_(place),
        piece_(all.shape_.piece_elements(largest)),
        pieces_(piece_ == 0 ? 0 : (largest + piece_ - 1) / piece_),
        own_(static_cast<const std::byte*>(own)),
        result_(static_cast<std::byte*>(result)) {
    if (place_ != nullptr) reduction_ = std::make_unique<DeviceReduction>(place_->context());
  }

  /// `ranges`: of each rank what it combines.
  void run(std::span<const ElementRange> ranges) {
    std::unique_ptr<MessageExchange> coming = post(ranges, 0);
    for (std::size_t index = 0; index < pieces_; ++index) {
      all_.note(coming->finish());
      // its memory is that of the next piece but one
      if (reduction_ != nullptr) all_.note(reduction_->wait());
      const bool goes_on = index + 1 < pieces_;
      if (goes_on) coming = post(ranges, index + 1);
      if (all_.is_well()) combine(piece_of(own_range(ranges), index, piece_), own_range(ranges), index);
    }
    if (reduction_ != nullptr) all_.note(reduction_->wait());
  }

 private:
  [[nodiscard]] const ReductionShape& shape() const noexcept { return all_.shape_; }
  [[nodiscard]] const ElementRange& own_range(std::span<const ElementRange> ranges) const noexcept {
    return ranges[static_cast<std::size_t>(shape().rank)];
  }
  [[nodiscard]] std::size_t bytes(std::size_t elements) const noexcept {
    return elements * shape().element_bytes();
  }
  /// Where another rank's part of a piece comes to lie.
  [[nodiscard]] std::byte* slot(std::size_t index, int other) const noexcept {
    const auto others = static_cast<std::size_t>(shape().ranks - 1);
    const auto number = static_cast<std::size_t>(other < shape().rank ? other : other - 1);
    return place_->memory() + (index % 2 * others + number) * shape().slot_bytes(piece_);
  }

  [[nodiscard]] std::unique_ptr<MessageExchange> post(std::span<const ElementRange> ranges,
                                                      std::size_t index) {
    auto exchange = std::make_unique<MessageExchange>(all_.scope_, all_.messages_);
    const std::size_t own_bytes = bytes(piece_of(own_range(ranges), index, piece_).count);
    if (own_bytes != 0) {
      for_others(shape().rank, shape().ranks, [&](int other) {
        exchange->receive(slot(index, other), {static_cast<MPI_Count>(own_bytes), MPI_BYTE, 0}, other);
      });
    }
    for_others(shape().rank, shape().ranks, [&](int other) {
      const ElementRange piece = piece_of(ranges[static_cast<std::size_t>(other)], index, piece_);
      if (piece.count == 0) return;
      exchange->send(own_ + bytes(piece.first), {static_cast<MPI_Count>(bytes(piece.count)), MPI_BYTE, 0},
                     other);
    });
    return exchange;
  }

  void combine(const ElementRange& piece, const ElementRange& range, std::size_t index) {
    if (piece.count == 0) return;
    const std::byte* const own = own_ + bytes(piece.first);
    const int ranks = shape().ranks;
    std::vector<const void*> sources;
    sources.reserve(static_cast<std::size_t>(ranks));
    // in several launches the result is there before the last vector is read, so it may be the first only
    const bool own_comes_first = static_cast<std::uint32_t>(ranks) > transports::kernels::most_sources;
    if (own_comes_first) sources.push_back(own);
    for (int rank = 0; rank < ranks; ++rank) {
      if (rank != shape().rank) {
        sources.push_back(slot(index, rank));
      } else if (!own_comes_first) {
        sources.push_back(own);
      }
    }
    all_.note(reduction_->launch({result_ + bytes(piece.first - range.first), sources, piece.count,
                                  shape().kind.type, shape().kind.operation}));
  }

  ReductionExchange& all_;
  ReductionWorkplace* place_;
  std::size_t piece_;   ///< elements
  std::size_t pieces_;  ///< of the largest range
  const std::byte* own_;
  std::byte* result_;
  std::unique_ptr<DeviceReduction> reduction_;
};

void ReductionExchange::all_to_all(ReductionWorkplace& place, const void* own, void* result,
                                   std::size_t count) {
  if (goes_in_one_step(shape_, count)) return in_one_step(place, own, result, count);
  const std::vector<ElementRange> ranges = ranges_of(shape_, count);
  const ElementRange& mine = ranges[static_cast<std::size_t>(shape_.rank)];
  Pieces(*this, &place, ranges[0].count, own,
         static_cast<std::byte*>(result) + mine.first * shape_.element_bytes())
      .run(ranges);
  // also if something went wrong here: the others are waiting
  gather_ranges(result, ranges);
}

/// Every rank combines everything: messages for one half of the data would take as long again.
void ReductionExchange::in_one_step(ReductionWorkplace& place, const void* own, void* result,
                                    std::size_t count) {
  const std::vector<ElementRange> ranges(static_cast<std::size_t>(shape_.ranks), {0, count});
  Pieces(*this, &place, count, own, result).run(ranges);
}

void ReductionExchange::gather_ranges(void* result, std::span<const ElementRange> ranges) {
  MessageExchange exchange(scope_, messages_);
  const auto block_of = [&](int rank) {
    const ElementRange& range = ranges[static_cast<std::size_t>(rank)];
    return BlockPlace{static_cast<MPI_Count>(range.count * shape_.element_bytes()), MPI_BYTE,
                      static_cast<std::ptrdiff_t>(range.first * shape_.element_bytes())};
  };
  for_others(shape_.rank, shape_.ranks, [&](int other) {
    if (block_of(other).count != 0) exchange.receive(result, block_of(other), other);
  });
  const BlockPlace own = block_of(shape_.rank);
  if (own.count != 0)
    for_others(shape_.rank, shape_.ranks, [&](int other) { exchange.send(result, own, other); });
  note(exchange.finish());
}

void ReductionExchange::all_to_root(ReductionWorkplace* place, const void* own, void* result,
                                    std::size_t count, int root) {
  std::vector<ElementRange> ranges(static_cast<std::size_t>(shape_.ranks));
  ranges[static_cast<std::size_t>(root)] = {0, count};
  Pieces(*this, place, count, own, result).run(ranges);
}

void ReductionExchange::scatter(ReductionWorkplace& place, const void* own, void* result,
                                std::span<const ElementRange> ranges) {
  const auto largest = std::ranges::max_element(ranges, {}, &ElementRange::count);
  Pieces(*this, &place, largest->count, own, result).run(ranges);
}

}  // namespace penstock::interpose
