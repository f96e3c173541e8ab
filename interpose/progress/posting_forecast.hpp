// Forecasts what a rank does after it has posted something: whether it posts more before it waits, and
// whether it computes in between. The forecast is what the rank did the last time it began to post with the
// same kind, as simulations repeat themselves in each step. Knows no message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "interpose/node/policy.hpp"

namespace penstock::interpose {

enum class Posted : std::uint8_t { receive, send };

/// A wrong forecast must only cost time. There is one for the rank, for all its threads. Unit: ns, of any one
/// clock. Thread: one at a time.
class PostingForecast {
 public:
  /// Records a post, in a call that waits for nothing. `now_ns` may be the call's begin if it took no longer
  /// than half a shortest computation.
  void note(Posted posted, std::uint64_t now_ns) noexcept {
    if (!has_posted()) began_with_ = posted;
    ++(posted == Posted::send ? posted_.sends : posted_.receives);
    posted_ns_ = now_ns;
  }
  /// Records that the same call lasted until now.
  void note_end(std::uint64_t now_ns) noexcept { posted_ns_ = now_ns; }
  /// Returns true if something was posted since the last wait.
  [[nodiscard]] bool has_posted() const noexcept { return posted_.receives != 0 || posted_.sends != 0; }
  /// Records a wait, in a call that completes something or tries to. Requires has_posted().
  void note_wait(std::uint64_t now_ns) noexcept {
    posted_.waits_at_once = now_ns - posted_ns_ < policy::shortest_computation_ns;
    forecast() = std::exchange(posted_, {});
  }

  [[nodiscard]] bool has_more_to_send() const noexcept { return posted_.sends < forecast().sends; }
  /// Returns true if the next send will be neither the first nor the last.
  [[nodiscard]] bool is_amid_sends() const noexcept {
    return posted_.sends != 0 && posted_.sends + 1 < forecast().sends;
  }
  /// Returns true if the rank will compute between its last post and its wait.
  [[nodiscard]] bool computes_before_it_waits() const noexcept { return !forecast().waits_at_once; }
  [[nodiscard]] bool is_about_to_compute() const noexcept {
    return !has_more_to_send() && posted_.receives >= forecast().receives && computes_before_it_waits();
  }

 private:
  struct Step {
    std::uint32_t receives = 0;
    std::uint32_t sends = 0;
    bool waits_at_once = true;  ///< right after the posts
  };
  [[nodiscard]] const Step& forecast() const noexcept {
    return forecasts_[static_cast<std::size_t>(began_with_)];
  }
  [[nodiscard]] Step& forecast() noexcept { return forecasts_[static_cast<std::size_t>(began_with_)]; }

  Step posted_;  ///< since the last wait
  std::uint64_t posted_ns_ = 0;
  Posted began_with_ = Posted::receive;
  std::array<Step, 2> forecasts_;  ///< by the kind of their first post
};

}  // namespace penstock::interpose
