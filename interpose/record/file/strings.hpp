// Assigns ids to strings: equal strings have equal ids, and a string's text is in the recording before its
// id is returned. Known strings are found without a lock. Knows not what strings name.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace penstock::record {

/// Owns copies of the strings until the process ends. Thread: any.
class StringTable {
 public:
  /// Returns trace::no_string if memory or the recording is full. Strings longer than a block are cut.
  [[nodiscard]] std::uint32_t id_of(std::string_view text) noexcept;

 private:
  struct Entry;
  struct Slots;

  [[nodiscard]] static const Entry* find(const Slots* slots, std::string_view text,
                                         std::size_t hash) noexcept;
  [[nodiscard]] bool make_room() noexcept;
  [[nodiscard]] const Entry* add(std::string_view text, std::size_t hash) noexcept;

  std::atomic<Slots*> slots_{nullptr};  ///< replaced when they grow
  std::mutex adding_;
  std::uint32_t entries_ = 0;
};

[[nodiscard]] StringTable& strings() noexcept;

}  // namespace penstock::record
