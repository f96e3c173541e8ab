#include "interpose/windows/staged_accesses.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <memory>
#include <mutex>
#include <vector>

#include "interpose/progress/requests.hpp"
#include "interpose/progress/stream_order_wait.hpp"
#include "transports/host/in_call.hpp"

namespace penstock::interpose {

/// The stand-ins of one operation. Whoever comes first ends it: a synchronising call or the request.
class StagedAccess {
 public:
  StagedAccess(MPI_Win window, int target, StagedCall call) noexcept
      : window_(window), target_(target), call_(std::move(call)) {}

  [[nodiscard]] bool is_of(MPI_Win window, std::optional<int> target) const noexcept {
    return window_ == window && (!target || target_ == *target);
  }
  [[nodiscard]] bool may_end_now() noexcept {
    const std::lock_guard guard(mutex_);
    return is_over_ || call_.may_write_back_now();
  }
  [[nodiscard]] Status end() noexcept {
    const std::lock_guard guard(mutex_);
    if (!is_over_) status_ = call_.write_back();
    is_over_ = true;
    return status_;
  }
  [[nodiscard]] bool is_over() noexcept {
    const std::lock_guard guard(mutex_);
    return is_over_;
  }
  int raise(const Status& status) const { return call_.raise(status); }

 private:
  MPI_Win window_;
  int target_;
  StagedCall call_;
  std::mutex mutex_;
  bool is_over_ = false;
  Status status_;
};

namespace {

/// Never destroyed, as static destructors may use windows.
struct StagedAccesses {
  std::mutex lock;
  std::vector<std::shared_ptr<StagedAccess>> all;
};
StagedAccesses& staged_accesses() {
  static StagedAccesses& accesses = *new StagedAccesses;
  return accesses;
}

std::atomic<std::size_t> staged_access_count{0};

void forget_ended() {
  StagedAccesses& accesses = staged_accesses();
  const std::lock_guard guard(accesses.lock);
  std::erase_if(accesses.all, [](const auto& access) { return access->is_over(); });
  staged_access_count.store(accesses.all.size(), std::memory_order_release);
}

class PendingStagedAccess final : public Pending {
 public:
  explicit PendingStagedAccess(std::shared_ptr<StagedAccess> access) noexcept : access_(std::move(access)) {}

  bool advance(bool arrived, const MPI_Status&) override {
    if (!arrived) return false;
    const transports::AsOfCall as_of_call(since_ns_);
    if (!stream_order_wait_.is_over([this] { return access_->may_end_now(); })) return false;
    status_ = access_->end();
    forget_ended();
    return true;
  }
  int complete(MPI_Status&, int code) override {
    return code != MPI_SUCCESS || status_.ok() ? code : access_->raise(status_);
  }

 private:
  const std::uint64_t since_ns_ = transports::time_of_call_ns();
  std::shared_ptr<StagedAccess> access_;
  StreamOrderWait stream_order_wait_;
  Status status_;
};

}  // namespace

bool has_staged_accesses() noexcept {
  return staged_access_count.load(std::memory_order_acquire) != 0;
}

void keep_staged_access(MPI_Win window, int target, StagedCall call, MPI_Request* request) {
  auto access = std::make_shared<StagedAccess>(window, target, std::move(call));
  {
    StagedAccesses& accesses = staged_accesses();
    const std::lock_guard guard(accesses.lock);
    accesses.all.push_back(access);
    staged_access_count.store(accesses.all.size(), std::memory_order_release);
  }
  if (request != nullptr) attach(request, std::make_unique<PendingStagedAccess>(std::move(access)));
}

StagedAccessList staged_accesses_of(MPI_Win window, std::optional<int> target) {
  StagedAccessList found;
  if (!has_staged_accesses()) return found;
  StagedAccesses& accesses = staged_accesses();
  const std::lock_guard guard(accesses.lock);
  std::ranges::copy_if(accesses.all, std::back_inserter(found),
                       [&](const auto& access) { return access->is_of(window, target); });
  return found;
}

int end_staged_accesses(const char* mpi_call, const StagedAccessList& completed, const ErrorTarget& errors) {
  Status first;
  for (const auto& access : completed) {
    if (const Status status = access->end(); first.ok()) first = status;
  }
  forget_ended();
  return first.ok() ? MPI_SUCCESS : errors.raise_status(mpi_call, first);
}

}  // namespace penstock::interpose
