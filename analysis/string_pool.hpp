// Gives equal texts of different recordings the same number. Knows nothing of what the texts mean.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace penstock::analysis {

/// Owns the texts; they stay where they are. Numbers count from 0.
class StringPool {
 public:
  [[nodiscard]] std::uint32_t id_of(std::string_view text) {
    if (const auto known = ids_.find(text); known != ids_.end()) {
      return known->second;
    }
    const auto id = static_cast<std::uint32_t>(texts_.size());
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }
  [[nodiscard]] const std::string& at(std::uint32_t id) const { return texts_.at(id); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

}  // namespace penstock::analysis
