// Encodes many small numbers in few characters: variable-length integers, seven bits a byte, lowest first (as
// LEB128), and bytes as base64. Must not know what the numbers mean.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::analysis::job_timeline {

class ByteWriter {
 public:
  void integer(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_.push_back(static_cast<std::uint8_t>(value | 0x80));
    }
    bytes_.push_back(static_cast<std::uint8_t>(value));
  }
  void byte(std::uint8_t value) { bytes_.push_back(value); }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

[[nodiscard]] inline std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const std::uint32_t three = static_cast<std::uint32_t>(bytes[i]) << 16 |
                                (left > 1 ? static_cast<std::uint32_t>(bytes[i + 1]) << 8 : 0u) |
                                (left > 2 ? static_cast<std::uint32_t>(bytes[i + 2]) : 0u);
    text += digits[three >> 18];
    text += digits[three >> 12 & 63];
    text += left > 1 ? digits[three >> 6 & 63] : '=';
    text += left > 2 ? digits[three & 63] : '=';
  }
  return text;
}

}  // namespace penstock::analysis::job_timeline
