// Gives equal texts of different recordings the same number. Must not know what the texts mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace penstock::analysis {

/// Owns the texts; their addresses never change. Numbers count from 0.
class StringPool {
 public:
  StringPool() = default;
  StringPool(StringPool&&) = default;  // the views in ids_ stay valid
  StringPool& operator=(StringPool&&) = default;
  StringPool(const StringPool&) = delete;
  StringPool& operator=(const StringPool&) = delete;
  ~StringPool() = default;

  [[nodiscard]] std::uint32_t id_of(std::string_view text) {
    if (const auto known = ids_.find(text); known != ids_.end()) {
      return known->second;
    }
    const auto id = static_cast<std::uint32_t>(texts_.size());
    ids_.emplace(texts_.emplace_back(text), id);
    return id;
  }
  [[nodiscard]] const std::string& at(std::uint32_t id) const { return texts_.at(id); }
  /// Returns nullopt for a text that was never passed to id_of().
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view text) const {
    const auto known = ids_.find(text);
    return known == ids_.end() ? std::nullopt : std::optional(known->second);
  }
  /// Adds the texts of another pool, in its order. Returns this pool's number for each number of the other
  /// pool.
  [[nodiscard]] std::vector<std::uint32_t> take_in(const StringPool& other) {
    std::vector<std::uint32_t> ids;
    for (const std::string& text : other.texts_) {
      ids.push_back(id_of(text));
    }
    return ids;
  }
  /// See archive.hpp. Only an empty pool may read.
  template <typename Archive>
  void exchange(Archive& archive) {
    std::size_t count = texts_.size();
    archive(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::string text = Archive::reads ? std::string() : texts_[i];
      archive(text);
      static_cast<void>(id_of(text));
    }
  }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

}  // namespace penstock::analysis
