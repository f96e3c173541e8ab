// The tags of a communicator's persistent collectives: each has a lane of its own, as several may be in
// flight at once and may start in any order. This header knows no MPI call.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

namespace penstock::interpose {

/// The lanes of a communicator. A call's lane follows from the number of collective calls before it on that
/// communicator, which is the same on all ranks. A lane that an earlier call still holds here may be free on
/// other ranks, so this rank has to vote for the library. Thread: any.
class Lanes {
 public:
  /// Lane 0 is that of blocking calls; `lanes` follow it.
  [[nodiscard]] static int of(std::uint32_t ordinal, int lanes) noexcept {
    return 1 + static_cast<int>(ordinal % static_cast<std::uint32_t>(lanes));
  }
  [[nodiscard]] bool is_taken(int lane) const {
    const std::lock_guard guard(lock_);
    return taken_.contains(lane);
  }

 private:
  friend class TakenLane;
  mutable std::mutex lock_;
  std::unordered_set<int> taken_;
};

/// Holds the lane as long as this rank may have messages there.
class TakenLane {
 public:
  TakenLane(std::shared_ptr<Lanes> lanes, int lane) : lanes_(std::move(lanes)), lane_(lane) {
    const std::lock_guard guard(lanes_->lock_);
    lanes_->taken_.insert(lane);
  }
  ~TakenLane() {
    const std::lock_guard guard(lanes_->lock_);
    lanes_->taken_.erase(lane_);
  }
  TakenLane(const TakenLane&) = delete;
  TakenLane& operator=(const TakenLane&) = delete;

 private:
  std::shared_ptr<Lanes> lanes_;
  int lane_;
};

}  // namespace penstock::interpose
