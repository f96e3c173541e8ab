// Joins CUPTI's external-correlation records, which mark a call as Penstock's own, with the activities of
// that call. The two arrive in any order and in different buffers. An activity is therefore written at once,
// as the application's, and its mark is set in the recording when the other record arrives. Only the latest
// are remembered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace penstock::record {

/// Thread: one.
class OwnWorkIndex {
 public:
  /// Number of calls and activities that are remembered. A call's two records are further apart only if the
  /// GPU lags a million calls behind.
  static constexpr std::size_t calls = std::size_t{1} << 20;
  static constexpr std::size_t activities = std::size_t{1} << 17;

  /// Marks the activities of the call `correlation`, which was Penstock's own, and remembers the call.
  void call_is_own(std::uint32_t correlation) noexcept;
  [[nodiscard]] bool is_own(std::uint32_t correlation) const noexcept;
  /// Remembers an activity of the call that was written as the application's; `mark` is its member `own`.
  void remember(std::uint32_t correlation, std::uint8_t* mark) noexcept;

 private:
  struct Activity {
    std::uint32_t correlation;
    std::uint32_t previous;  ///< ordinal of the one before in the same chain; 0: none
    std::uint8_t* mark;
  };
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  /// The kernel zeroes it page by page, so pages that a short run does not use cost nothing.
  template <typename Element>
  using LazyArray = std::unique_ptr<Element[], Free>;
  template <typename Element>
  [[nodiscard]] static LazyArray<Element> make(std::size_t count) noexcept {
    return LazyArray<Element>(static_cast<Element*>(std::calloc(count, sizeof(Element))));
  }

  LazyArray<std::uint32_t> own_calls_ = make<std::uint32_t>(calls);  ///< at correlation % calls
  LazyArray<Activity> activities_ = make<Activity>(activities);      ///< a ring, at ordinal % activities
  LazyArray<std::uint32_t> latest_ =
      make<std::uint32_t>(activities);  ///< ordinal, at correlation % activities
  std::uint32_t ordinal_ = 0;
};

}  // namespace penstock::record
