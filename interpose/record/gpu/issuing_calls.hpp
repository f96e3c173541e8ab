// Joins what CUPTI tells of a driver call (its thread and begin; an external-correlation record, which marks
// it as Penstock's own) with the activities that the call issued. Their records arrive in any order and in
// different buffers. An activity is therefore written at once, as the application's and of no known thread,
// and completed in the recording when the other records arrive. Only the latest are remembered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace penstock::record {

/// Thread: one.
class IssuingCalls {
 public:
  /// Number of own calls, and of activities and calls with a thread, that are remembered. A call's records
  /// are further apart only if the GPU lags so many calls behind.
  static constexpr std::size_t own_calls = std::size_t{1} << 20;
  static constexpr std::size_t activities = std::size_t{1} << 17;

  /// Who made a call, and when.
  struct Issue {
    std::uint32_t thread_id = 0;  ///< 0: not known, nor the time
    std::uint64_t at_ns = 0;
  };

  /// The members of an activity's record, where it lies in the recording.
  struct Written {
    std::uint8_t* own = nullptr;
    std::uint32_t* thread_id = nullptr;  ///< null: its record has none, nor the next one
    std::uint64_t* issued_ns = nullptr;
    std::uint64_t block = 0;  ///< the number of the block in its lane
  };

  /// Marks the activities of the call `correlation`, which was Penstock's own, and remembers the call.
  void call_is_own(std::uint32_t correlation) noexcept;
  [[nodiscard]] bool is_own(std::uint32_t correlation) const noexcept;
  /// Notes in the activities of the call who made it and when, and remembers the call.
  void call_was_by(std::uint32_t correlation, Issue issue) noexcept;
  [[nodiscard]] Issue issue_of(std::uint32_t correlation) const noexcept;
  /// Leaves activities in earlier blocks as they are: others may be written there by now.
  void keep_since(std::uint64_t block) noexcept { oldest_block_ = block; }
  /// Remembers an activity of the call that was written as the application's.
  void remember(std::uint32_t correlation, Written where) noexcept;

 private:
  struct Activity {
    std::uint32_t correlation;
    std::uint32_t previous;  ///< ordinal of the one before in the same chain; 0: none
    Written where;
  };
  struct Caller {
    std::uint32_t correlation;
    Issue issue;
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
  /// Calls visit(where) for the activities of the call.
  template <typename Visit>
  void for_activities_of(std::uint32_t correlation, Visit visit) const noexcept;

  LazyArray<std::uint32_t> own_calls_ = make<std::uint32_t>(own_calls);  ///< at correlation % own_calls
  LazyArray<Caller> callers_ = make<Caller>(activities);                 ///< at correlation % activities
  LazyArray<Activity> activities_ = make<Activity>(activities);          ///< a ring, at ordinal % activities
  LazyArray<std::uint32_t> latest_ =
      make<std::uint32_t>(activities);  ///< ordinal, at correlation % activities
  std::uint32_t ordinal_ = 0;
  std::uint64_t oldest_block_ = 0;
};

}  // namespace penstock::record
