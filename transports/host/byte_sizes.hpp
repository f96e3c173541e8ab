// Numbers of bytes as people write them in settings and files: 65536, 64K, 1G. Knows nothing of their use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::transports {

/// Parses a number, with K, M or G for powers of 1024. Returns false if it is none, or does not fit.
[[nodiscard]] bool parse_bytes(std::string_view text, std::uint64_t& bytes) noexcept;
/// Returns the number with the largest unit that divides it.
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace penstock::transports
