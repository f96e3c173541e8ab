// Joins CUPTI's external-correlation records, which say "this call was Penstock's own", with the activities
// of that call. The two come in any order and in different buffers, so an activity is written at once, as the
// application's, and its mark set in the recording when the other record comes. Bounded: remembers the
// latest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace penstock::record {

/// Thread: one.
class OwnWorkIndex {
 public:
  /// Calls and activities that are remembered. A call's two records lie further apart only when the GPU lags
  /// a million calls behind.
  static constexpr std::size_t calls = std::size_t{1} << 20;
  static constexpr std::size_t activities = std::size_t{1} << 17;

  /// The call `correlation` was Penstock's own: marks its activities that are known already.
  void call_is_own(std::uint32_t correlation) noexcept;
  [[nodiscard]] bool is_own(std::uint32_t correlation) const noexcept;
  /// An activity of the call was written, not own as far as is known; `mark` is where its `own` lies.
  void remember(std::uint32_t correlation, std::uint8_t* mark) noexcept;

 private:
  struct Activity {
    std::uint32_t correlation;
    std::uint32_t previous;  ///< ordinal of the one before in the same chain; 0 none
    std::uint8_t* mark;
  };
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  /// Zeroed by the kernel page by page: what a short run does not use costs nothing.
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
