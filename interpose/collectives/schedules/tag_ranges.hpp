// The tags of a communicator's persistent collectives: each has a range of tags of its own, as several may be
// in flight at once and may start in any order. This header knows no MPI call.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

namespace penstock::interpose {

/// The tag ranges of a communicator. A call's range follows from the number of collective calls before it on
/// that communicator, which is the same on all ranks. A range that an earlier call still holds here may be
/// free on other ranks, so this rank has to vote for the library. Thread: any.
class TagRanges {
 public:
  /// Range 0 is that of blocking calls; `tag_ranges` follow it.
  [[nodiscard]] static int of(std::uint32_t ordinal, int tag_ranges) noexcept {
    return 1 + static_cast<int>(ordinal % static_cast<std::uint32_t>(tag_ranges));
  }
  [[nodiscard]] bool is_taken(int tags) const {
    const std::lock_guard guard(lock_);
    return taken_.contains(tags);
  }

 private:
  friend class TakenTags;
  mutable std::mutex lock_;
  std::unordered_set<int> taken_;
};

/// Holds the range as long as this rank may have messages there.
class TakenTags {
 public:
  TakenTags(std::shared_ptr<TagRanges> tag_ranges, int tags)
      : tag_ranges_(std::move(tag_ranges)), tags_(tags) {
    const std::lock_guard guard(tag_ranges_->lock_);
    tag_ranges_->taken_.insert(tags);
  }
  ~TakenTags() {
    const std::lock_guard guard(tag_ranges_->lock_);
    tag_ranges_->taken_.erase(tags_);
  }
  TakenTags(const TakenTags&) = delete;
  TakenTags& operator=(const TakenTags&) = delete;

 private:
  std::shared_ptr<TagRanges> tag_ranges_;
  int tags_;
};

}  // namespace penstock::interpose
