#include "interpose/windows/window.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "interpose/node/settings.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/windows/access.hpp"
#include "interpose/windows/memory/queued_work.hpp"
#include "transports/host/guarded.hpp"
#include "transports/host/in_call.hpp"

namespace penstock::interpose {
namespace {

/// Returns the record of what begins together: as that of one copy, like the first.
WindowCopy copy_of(const std::vector<SmallAccess>& accesses) {
  if (!record::is_on()) return {};
  const SmallAccess& first = accesses.front();
  std::size_t bytes = 0;
  for (const SmallAccess& each : accesses) bytes += each.bytes;
  return copy_that_begins(first.direction, transports::inspect(first.origin).kind, *first.target, bytes);
}

}  // namespace

Window::Window(MPI_Win handle, std::size_t rank, WindowMemory memory, SharedWords words,
               const WindowAttributes& attributes)
    : handle_(handle),
      rank_(rank),
      memory_(std::move(memory)),
      words_(std::move(words)),
      attributes_(attributes) {
  epochs_.held.resize(size(), Held::no);
  epochs_.posts_seen.resize(size());
  epochs_.completions_seen.resize(size());
}

std::size_t Window::first_with_memory() const noexcept {
  const auto found =
      std::ranges::find_if(memory_.members, [](const auto& member) { return member->bytes() != 0; });
  return found == memory_.members.end() ? 0 : static_cast<std::size_t>(found - memory_.members.begin());
}

void Window::close_members() noexcept {
  for (const auto& member : memory_.members) member->close();
}

bool Window::may_access(std::size_t target) {
  const std::lock_guard lock(mutex_);
  switch (epochs_.access) {
    case Access::none:
      return false;
    case Access::fence:
    case Access::all_locked:
      return true;
    case Access::group:
      return std::ranges::find(epochs_.targets, target) != epochs_.targets.end();
    case Access::locks:
      return epochs_.held[target] != Held::no;
  }
  return false;
}

std::shared_ptr<WindowOperation> Window::keep(std::size_t target, std::unique_ptr<transports::Pull> pull,
                                              const WindowCopy& record) {
  auto operation = std::make_shared<WindowOperation>();
  operation->record = record;
  operation->target = target;
  operation->pull = std::move(pull);
  if (operation->pull == nullptr) {
    record_copy(record);
    return operation;
  }
  const std::lock_guard lock(mutex_);
  operations_.push_back(operation);
  return operation;
}

bool Window::advance(WindowOperation& operation) noexcept {
  if (!operation.has_begun) return false;  // another thread begins it
  bool is_over = operation.pull == nullptr;
  if (is_over) return true;
  operation.status = operation.pull->advance(is_over);
  if (is_over && operation.status.ok()) record_copy(operation.record);
  if (!operation.status.ok()) is_over = true;
  if (is_over) operation.pull.reset();
  return is_over;
}

bool Window::step(WindowOperation& operation) {
  const std::lock_guard lock(mutex_);
  if (!advance(operation)) return false;
  const auto kept = std::ranges::find(operations_, &operation, &std::shared_ptr<WindowOperation>::get);
  if (kept != operations_.end()) operations_.erase(kept);
  return true;
}

bool Window::step_all(std::optional<std::size_t> target) noexcept {
  const std::lock_guard lock(mutex_);
  bool are_over = true;
  std::erase_if(operations_, [&](const std::shared_ptr<WindowOperation>& operation) {
    if (target && operation->target && operation->target != target) return false;
    const bool is_over = advance(*operation);
    if (failure_.ok()) failure_ = operation->status;
    are_over = are_over && is_over;
    return is_over;
  });
  return are_over;
}

bool Window::hold_back(const SmallAccess& access) {
  bool are_enough = false;
  bool holds_back = false;
  {
    const std::lock_guard lock(mutex_);
    forecast_.note_access(transports::steady_now_ns());
    holds_back = settings().held_back == HeldBack::always ||
                 (settings().held_back == HeldBack::forecast && forecast_.completes_at_once());
    if (holds_back) {
      held_back_.push_back(access);
      held_back_bytes_ += access.bytes;
    }
    are_enough = held_back_.size() >= most_held_accesses || held_back_bytes_ >= most_held_bytes;
  }
  // those before one that is not held back have waited in vain
  if (are_enough || !holds_back) begin_held_back();
  return holds_back;
}

void Window::note_begun() noexcept {
  const std::lock_guard lock(mutex_);
  forecast_.note_begun(transports::steady_now_ns());
}

void Window::begin_held_back() {
  std::vector<SmallAccess> accesses;
  std::shared_ptr<WindowOperation> operation;
  {
    const std::lock_guard lock(mutex_);
    if (held_back_.empty()) return;
    operation = std::make_shared<WindowOperation>();
    operation->has_begun = false;
    operations_.push_back(operation);
    accesses = std::exchange(held_back_, {});
    held_back_bytes_ = 0;
  }
  std::unique_ptr<transports::Pull> pull;
  const WindowCopy record = copy_of(accesses);
  const Status begun = transports::guarded([&] { return begin_together(accesses, pull); });
  say_what_was_refused();
  const std::lock_guard lock(mutex_);
  operation->pull = std::move(pull);
  operation->status = begun;
  operation->record = record;
  operation->has_begun = true;
  if (operation->pull == nullptr && begun.ok()) record_copy(record);
  forecast_.note_begun(transports::steady_now_ns());
}

Status Window::complete(std::optional<std::size_t> target) {
  {
    const std::lock_guard lock(mutex_);
    forecast_.note_completion(transports::steady_now_ns());
  }
  begin_held_back();
  wait_with_progress([&] { return step_all(target); });
  if (memory_.dynamic != nullptr) memory_.dynamic->all.drop_detached();
  const std::lock_guard lock(mutex_);
  return std::exchange(failure_, Status{});
}

void Window::wait_for_kernels() {
  if (memory_.dynamic != nullptr) {
    for (const transports::Buffer& buffer : memory_.dynamic->own.on_gpus()) wait_for_queued(buffer, 0);
  } else if (const auto& own = memory_.members[rank_]->reached()) {
    wait_for_queued(*own, 0);
  }
}

void Window::meet() {
  SharedWords::Counter& own = words_.row(rank_).arrivals;
  const std::uint32_t arrival = own.load(std::memory_order_relaxed) + 1;
  own.store(arrival, std::memory_order_release);
  std::size_t come = 0;
  wait_with_progress([&] {
    while (come < size() && static_cast<std::int32_t>(
                                words_.row(come).arrivals.load(std::memory_order_acquire) - arrival) >= 0) {
      ++come;
    }
    return come == size();
  });
}

}  // namespace penstock::interpose
