// The outcome of an operation, as transports and the interposer report it: a code, and where it failed. Never
// allocates, so that it can be returned from any depth of another program's job. Knows neither MPI nor CUDA.
#pragma once

#include <cstdint>

namespace penstock {

enum class Code : std::uint8_t {
  ok,
  declined,       ///< this transport cannot carry the message; no byte has moved, take the next
  out_of_memory,  ///< host, pinned or device memory, or slots
  cuda_failed,    ///< `detail` is the CUresult
  system_failed,  ///< `detail` is errno
  peer_lost,      ///< the other process is gone, or what it published cannot be trusted
  bad_argument,   ///< a pointer that no allocation holds, a layout past its allocation
  truncated,      ///< more or less has arrived than is expected
};

/// Thread: a value. `where` is a string literal that names the failing call, for the line that reports it.
class [[nodiscard]] Status {
 public:
  constexpr Status() noexcept = default;
  constexpr Status(Code code, const char* where, int detail = 0) noexcept
      : where_(where), detail_(detail), code_(code) {}

  [[nodiscard]] constexpr bool ok() const noexcept { return code_ == Code::ok; }
  [[nodiscard]] constexpr Code code() const noexcept { return code_; }
  [[nodiscard]] constexpr int detail() const noexcept { return detail_; }
  [[nodiscard]] constexpr const char* where() const noexcept { return where_; }

 private:
  const char* where_ = "";
  int detail_ = 0;
  Code code_ = Code::ok;
};

}  // namespace penstock
