// Errors: exceptions inside the library, error codes at its C interface. This file calls neither CUDA nor
// MPI.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "examples/gmh/gmh.h"

namespace gmh {

class Error : public std::exception {
 public:
  Error(gmh_error code, std::string line) : code_(code), line_(std::move(line)) {}
  [[nodiscard]] gmh_error code() const noexcept { return code_; }
  [[nodiscard]] const std::string& line() const noexcept { return line_; }
  [[nodiscard]] const char* what() const noexcept override { return line_.c_str(); }

 private:
  gmh_error code_;
  std::string line_;
};

[[gnu::format(printf, 1, 2)]] [[nodiscard]] std::string text(const char* format, ...);
/// Throws an Error. `format` is printf's.
[[noreturn, gnu::format(printf, 2, 3)]] void fail(gmh_error code, const char* format, ...);
/// Stores the line that gmh_error_string returns to this thread. Returns the code.
int remember(gmh_error code, const char* line) noexcept;

/// Calls `body` and turns its exception, if any, into an error code.
template <typename Body>
int guarded(Body&& body) noexcept {
  try {
    body();
    return GMH_OK;
  } catch (const Error& error) {
    return remember(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return remember(GMH_ERR_MEMORY, "out of host memory");
  } catch (const std::exception& error) {
    return remember(GMH_ERR_INTERNAL, error.what());
  } catch (...) {
    return remember(GMH_ERR_INTERNAL, "an exception of unknown type");
  }
}

}  // namespace gmh
