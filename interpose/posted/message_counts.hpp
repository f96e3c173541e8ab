// Counts one half, sends or receives, of the messages of a rank on a communicator, by peer and tag. Knows
// nothing of messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace penstock::interpose {

/// Once it is closed, nothing is counted. Thread: one at a time.
class MessageCounts {
 public:
  struct Count {
    std::uint64_t posted = 0;   ///< so far
    std::uint64_t written = 0;  ///< of sends: the last that went to a posted receive, counted from 1
  };
  /// Programs that use a new tag for each message would need memory without end.
  static constexpr std::size_t most_counts = 4096;

  [[nodiscard]] bool is_open() const noexcept { return is_open_; }
  void close() noexcept { is_open_ = false; }

  /// Returns the count of messages to or from that peer; null if it is closed. The count stays where it is.
  /// Closes where there are too many. Errors: std::bad_alloc.
  [[nodiscard]] Count* open_count(int peer, int tag) {
    if (!is_open_) return nullptr;
    if (const auto known = counts_.find(key_of(peer, tag)); known != counts_.end()) return &known->second;
    if (counts_.size() == most_counts) {
      close();
      return nullptr;
    }
    return &counts_[key_of(peer, tag)];
  }
  /// Returns the last send that went to a posted receive, counted from 1; 0: there is none.
  [[nodiscard]] std::uint64_t last_written(int peer, int tag) const noexcept {
    const auto known = counts_.find(key_of(peer, tag));
    return known != counts_.end() ? known->second.written : 0;
  }

 private:
  [[nodiscard]] static std::uint64_t key_of(int peer, int tag) noexcept {
    return std::uint64_t{static_cast<std::uint32_t>(peer)} << 32 | static_cast<std::uint32_t>(tag);
  }
  std::unordered_map<std::uint64_t, Count> counts_;
  bool is_open_ = true;
};

}  // namespace penstock::interpose
