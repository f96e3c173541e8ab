// The texts of a timeline's document, each once, within a limit of bytes. Must not know what they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace penstock::analysis::job_timeline {

/// Text 0 is empty; text 1 replaces texts that did not fit.
class TextTable {
 public:
  explicit TextTable(std::size_t most_bytes) : left_bytes_(most_bytes) {}
  [[nodiscard]] std::uint32_t id_of(std::string_view text) {
    const std::string_view kept = text.substr(0, end_of(text));
    if (const auto known = ids_.find(std::string(kept)); known != ids_.end()) {
      return known->second;
    }
    if (kept.size() > left_bytes_) {
      return no_room;
    }
    left_bytes_ -= kept.size();
    const auto id = static_cast<std::uint32_t>(texts_.size());
    texts_.push_back(kept.size() < text.size() ? std::string(kept) + "…" : std::string(kept));
    ids_.emplace(kept, id);
    return id;
  }
  [[nodiscard]] const std::vector<std::string>& all() const noexcept { return texts_; }

 private:
  static constexpr std::uint32_t no_room = 1;
  static constexpr std::size_t longest_bytes = 240;  // template arguments of kernels can fill pages

  /// Never cuts within a character.
  [[nodiscard]] static std::size_t end_of(std::string_view text) noexcept {
    if (text.size() <= longest_bytes) {
      return text.size();
    }
    std::size_t end = longest_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
      --end;
    }
    return end;
  }

  std::size_t left_bytes_;
  std::vector<std::string> texts_{"", "(one of too many names)"};
  std::unordered_map<std::string, std::uint32_t> ids_{{"", 0}};
};

}  // namespace penstock::analysis::job_timeline
