#include "interpose/collectives/kernels/one_shot_series.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <list>
#include <mutex>
#include <new>
#include <span>
#include <utility>

#include "interpose/calls/communicators.hpp"
#include "interpose/progress/progress.hpp"
#include "transports/host/guarded.hpp"
#include "transports/stream_order/readiness.hpp"

namespace penstock::interpose {

using transports::OneShotCollective;
using transports::SymmetricMemory;
using transports::SymmetricPart;

namespace {

/// Symmetric memory of this process, by use.
std::array<std::atomic<std::size_t>, 2> used_bytes{};

/// Memory that must not be reused; it still counts as used.
struct KeptMemory {
  std::mutex lock;
  std::list<SymmetricMemory> all;
};
// never destroyed, as other ranks may write to the memory as long as they run
KeptMemory& kept_memory() {
  alignas(KeptMemory) static std::array<std::byte, sizeof(KeptMemory)> memory;
  static KeptMemory& kept = *new (memory.data()) KeptMemory;
  return kept;
}

}  // namespace

OneShotMembers::OneShotMembers(const CommunicatorInfo& info)
    : rows(info.rows),
      communicator_id(info.global_id),
      vote_slot(info.vote_slot),
      rank(static_cast<std::size_t>(info.rank)) {}

OneShotSeries::~OneShotSeries() {
  collective_.reset();
  if (may_be_written_) {
    const std::lock_guard guard(kept_memory().lock);
    kept_memory().all.splice(kept_memory().all.end(), memory_);
  } else {
    memory_.clear();
    used_bytes[static_cast<std::size_t>(use_)] -= counted_bytes_;
  }
}

Status OneShotSeries::take_memory(const transports::cuda::ContextRef& context, std::size_t bytes) {
  counted_bytes_ = std::bit_ceil(std::max(bytes, transports::cuda::RelaySlice::unit_bytes));
  const std::size_t before = used_bytes[static_cast<std::size_t>(use_)].fetch_add(counted_bytes_);
  if (before + counted_bytes_ > policy::most_symmetric_bytes(use_ == SeriesUse::blocking))
    return {Code::declined, "the limit of symmetric memory"};
  return SymmetricMemory::make(context, bytes, memory_.front());
}

std::unique_ptr<OneShotSeries> OneShotSeries::make(const OneShotMembers& members, MPI_Comm communicator,
                                                   const transports::cuda::ContextRef& context,
                                                   std::size_t memory_bytes, SeriesUse use) {
  OneShotSetup setup;
  setup.begin(&members, communicator, context, memory_bytes, use);
  for (Backoff backoff; !setup.step(); backoff.pause()) progress();
  std::unique_ptr<OneShotSeries> series = setup.take();
  int is_there = series != nullptr ? 1 : 0;
  int are_all_there = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = PMPI_Iallreduce(&is_there, &are_all_there, 1, MPI_INT, MPI_MIN, communicator, &request);
  if (code == MPI_SUCCESS) code = wait_polling(&request, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS && are_all_there != 0 ? std::move(series) : nullptr;
}

/// The buffers of the library's collective.
struct OneShotSetup::Words {
  std::array<SymmetricPart, OneShotCollective::most_processes> parts{};
  SymmetricPart own;
};

OneShotSetup::OneShotSetup() : words_(std::make_unique<Words>()) {}

void OneShotSetup::begin(const OneShotMembers* members, MPI_Comm communicator,
                         const transports::cuda::ContextRef& context, std::size_t memory_bytes,
                         SeriesUse use) noexcept {
  const auto made = transports::guarded([&]() -> Status {
    if (members == nullptr || context == nullptr) return {Code::declined, "this rank has used no GPU yet"};
    series_.reset(new OneShotSeries(*members, use));
    return series_->take_memory(context, memory_bytes);
  });
  if (!made.ok()) series_ = nullptr;
  if (series_ != nullptr) words_->own = series_->memory_.front().part();
  constexpr auto bytes = static_cast<int>(sizeof(SymmetricPart));
  code_ = PMPI_Iallgather(&words_->own, bytes, MPI_BYTE, words_->parts.data(), bytes, MPI_BYTE, communicator,
                          &request_);
}

OneShotSetup::~OneShotSetup() {
  if (request_ != MPI_REQUEST_NULL) static_cast<void>(words_.release());
}

bool OneShotSetup::step() noexcept {
  if (request_ == MPI_REQUEST_NULL) return true;
  int flag = 0;
  code_ = PMPI_Test(&request_, &flag, MPI_STATUS_IGNORE);
  return flag != 0 || code_ != MPI_SUCCESS;
}

bool OneShotSetup::has_all(std::size_t ranks) const noexcept {
  return code_ == MPI_SUCCESS &&
         std::ranges::all_of(std::span(words_->parts).first(ranks), &SymmetricPart::is_there);
}

std::unique_ptr<OneShotSeries> OneShotSetup::take() noexcept {
  std::unique_ptr<OneShotSeries> series = std::move(series_);
  if (series == nullptr || code_ != MPI_SUCCESS) return nullptr;
  const auto opened = transports::guarded([&]() -> Status {
    const std::span all(words_->parts);
    const OneShotMembers& members = series->members_;
    if (Status state = series->memory_.front().open(all.first(members.rows.size()), members.rank);
        !state.ok())
      return state;
    series->collective_.emplace(series->memory_.front(), members.rank,
                                series->use_ == SeriesUse::blocking
                                    ? OneShotCollective::Partners::have_come
                                    : OneShotCollective::Partners::may_be_late);
    return {};
  });
  return opened.ok() ? std::move(series) : nullptr;
}

Status OneShotSeries::begin(const transports::OneShotWork& work, std::uint64_t ordinal,
                            std::uint64_t since_ns) {
  ordinal_ = ordinal;
  may_be_written_ = true;
  const Status begun = collective_->launch(work, since_ns);
  return begun.ok() ? begun : give_up(begun);
}

Status OneShotSeries::step(bool& is_over) {
  auto outcome = OneShotCollective::Outcome::pending;
  if (Status state = collective_->query(outcome); !state.ok()) return give_up(state);
  is_over = outcome == OneShotCollective::Outcome::complete;
  may_be_written_ = !is_over;
  // this one has run on all ranks, so the series can go on
  if (outcome == OneShotCollective::Outcome::mismatched)
    return {Code::truncated, "another rank sent a block of another size than this one expects"};
  if (outcome != OneShotCollective::Outcome::waiting) return {};
  for (const DirectoryRow* const row : members_.rows) {
    if (interpose::has_failed(*row, members_.communicator_id, ordinal_)) {
      has_failed_ = true;
      return {Code::peer_lost, "another rank could not take part in the collective"};
    }
  }
  if (Status again = collective_->launch_again(); !again.ok()) return give_up(again);
  return {};
}

std::unique_ptr<ScheduleRun> begin_uncounted(OneShotSeries& series, const OfferedKernel& kernel,
                                             std::uint64_t since_ns) {
  const bool is_ready = transports::is_idle({kernel.own, {}, since_ns});
  return std::make_unique<OneShotRun>(series, kernel.work, any_collective, is_ready ? 0 : since_ns);
}

/// Notes the failure, so that the others do not wait for this rank's part.
Status OneShotSeries::give_up(const Status& why) noexcept {
  has_failed_ = true;
  if (const auto slot = members_.vote_slot->get())
    note_failure(*node_directory().own_row(), slot->index, ordinal_);
  return why;
}

}  // namespace penstock::interpose
