// Text in UTF-8 from code points.
#pragma once

#include <cstdint>
#include <string>

namespace penstock::record {

/// Appends a code point. What is none gives bytes that are no UTF-8. Errors: std::bad_alloc.
inline void append_utf8(std::string& text, std::uint32_t code_point) {
  const auto put = [&text](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto tail = [&](unsigned shift) { put(0x80 | (code_point >> shift & 0x3f)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0 | code_point >> 6);
    tail(0);
  } else if (code_point < 0x10000) {
    put(0xe0 | code_point >> 12);
    tail(6);
    tail(0);
  } else {
    put(0xf0 | (code_point >> 18 & 7));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace penstock::record
