#include "interpose/collectives/fused_series.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <new>
#include <span>
#include <utility>
#include <variant>

#include "interpose/calls/communicators.hpp"
#include "interpose/progress/progress.hpp"
#include "transports/host/guarded.hpp"

namespace penstock::interpose {

using transports::FusedCollective;
using transports::SymmetricMemory;
using transports::SymmetricPart;

namespace {

/// Symmetric memory of this process, by use.
std::array<std::atomic<std::size_t>, 2> used_bytes{};

}  // namespace

FusedSeries::FusedSeries(const CommunicatorInfo& info, SeriesUse use)
    : rows_(info.rows),
      communicator_id_(info.global_id),
      place_(info.arrival_place),
      rank_(static_cast<std::size_t>(info.rank)),
      use_(use) {}

FusedSeries::~FusedSeries() {
  collective_.reset();
  memory_ = {};
  used_bytes[static_cast<std::size_t>(use_)] -= counted_bytes_;
}

Status FusedSeries::take_memory(const transports::cuda::ContextRef& context, std::size_t bytes) {
  counted_bytes_ = std::bit_ceil(std::max(bytes, transports::cuda::RelaySlice::unit_bytes));
  const std::size_t before = used_bytes[static_cast<std::size_t>(use_)].fetch_add(counted_bytes_);
  if (before + counted_bytes_ > policy::most_symmetric_bytes(use_ == SeriesUse::persistent))
    return {Code::declined, "as much symmetric memory as may be"};
  return SymmetricMemory::make(context, bytes, memory_);
}

/// By messages of the program's own communicator, for which all ranks are in the same call; on that of
/// Penstock's messages, non-blocking collectives begin when each rank gets to it.
std::unique_ptr<FusedSeries> FusedSeries::make(const CommunicatorInfo& info, MPI_Comm communicator,
                                               const transports::cuda::ContextRef& context,
                                               std::size_t memory_bytes, SeriesUse use) {
  std::array<SymmetricPart, FusedCollective::most_processes> parts{};
  SymmetricPart own;
  std::unique_ptr<FusedSeries> series;
  const auto made = transports::guarded([&]() -> Status {
    series.reset(new FusedSeries(info, use));
    return series->take_memory(context, memory_bytes);
  });
  if (made.ok()) own = series->memory_.part();
  const auto bytes = static_cast<int>(sizeof own);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = PMPI_Iallgather(&own, bytes, MPI_BYTE, parts.data(), bytes, MPI_BYTE, communicator, &request);
  if (code == MPI_SUCCESS) code = wait_polling(&request, MPI_STATUS_IGNORE);
  const auto opened = transports::guarded([&]() -> Status {
    if (!made.ok()) return made;
    return series->memory_.open(std::span(parts).first(static_cast<std::size_t>(info.size)), series->rank_);
  });
  int is_open = code == MPI_SUCCESS && opened.ok() ? 1 : 0;
  int are_all_open = 0;
  if (code == MPI_SUCCESS)
    code = PMPI_Iallreduce(&is_open, &are_all_open, 1, MPI_INT, MPI_MIN, communicator, &request);
  if (code == MPI_SUCCESS) code = wait_polling(&request, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS || are_all_open == 0) return nullptr;
  series->collective_.emplace(series->memory_, series->rank_);
  return series;
}

Status FusedSeries::begin(const FusedWork& work, std::uint32_t ordinal, std::uint64_t since_ns) {
  ordinal_ = ordinal;
  const Status begun =
      std::visit([&](const auto& kind) { return collective_->launch(kind, since_ns); }, work);
  return begun.ok() ? begun : give_up(begun);
}

Status FusedSeries::step(bool& is_over) {
  auto outcome = FusedCollective::Outcome::pending;
  if (Status state = collective_->query(outcome); !state.ok()) return give_up(state);
  is_over = outcome == FusedCollective::Outcome::complete;
  if (outcome != FusedCollective::Outcome::waiting) return {};
  for (const DirectoryRow* const row : rows_) {
    if (interpose::has_failed(*row, communicator_id_, ordinal_)) {
      has_failed_ = true;
      return {Code::peer_lost, "a collective of which another rank could not do its part"};
    }
  }
  if (Status again = collective_->launch_again(); !again.ok()) return give_up(again);
  return {};
}

/// The others must not wait for what does not come.
Status FusedSeries::give_up(const Status& why) noexcept {
  has_failed_ = true;
  if (const auto place = place_->get()) note_failure(*node_directory().own_row(), place->index, ordinal_);
  return why;
}

}  // namespace penstock::interpose
