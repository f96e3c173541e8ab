// A table indexed by the numbers that a recording assigns, from 1 on. Must not know what it holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace penstock::analysis {

/// Small numbers index an array, so a look-up costs next to nothing. Numbers too large for any recorder
/// (damage) go into a map, so that one of them does not fill the memory.
template <typename Value>
class IdTable {
 public:
  /// Returns the number's value; creates it if there is none.
  Value& operator[](std::uint32_t id) {
    if (id >= most_near) {
      return far_[id];
    }
    if (id >= near_.size()) {
      near_.resize(id + std::size_t{1});
    }
    near_[id].is_there = true;
    return near_[id].value;
  }
  /// Returns null if there is none.
  [[nodiscard]] const Value* find(std::uint32_t id) const noexcept {
    if (id < near_.size()) {
      return near_[id].is_there ? &near_[id].value : nullptr;
    }
    const auto found = far_.find(id);
    return found == far_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool empty() const noexcept { return near_.empty() && far_.empty(); }
  void clear() {
    near_.clear();
    far_.clear();
  }

 private:
  struct Place {
    Value value{};
    bool is_there = false;
  };
  static constexpr std::uint32_t most_near = 1u << 18;
  std::vector<Place> near_;
  std::unordered_map<std::uint32_t, Value> far_;
};

}  // namespace penstock::analysis
