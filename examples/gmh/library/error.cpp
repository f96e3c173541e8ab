#include "examples/gmh/library/error.hpp"

#include <cstdarg>
#include <cstdio>

namespace gmh {
namespace {

thread_local int last_code = GMH_OK;
thread_local char last_line[512];

std::string formatted(const char* format, std::va_list arguments) {
  char line[512];
  std::vsnprintf(line, sizeof line, format, arguments);
  return line;
}

const char* meaning_of(int code) {
  switch (code) {
    case GMH_OK:
      return "no error";
    case GMH_ERR_ARGUMENT:
      return "an invalid argument";
    case GMH_ERR_HANDLE:
      return "a handle that was freed, or never created";
    case GMH_ERR_THREAD:
      return "a handle of another thread, or a thread that GMH has not started";
    case GMH_ERR_THREAD_LEVEL:
      return "MPI runs below MPI_THREAD_MULTIPLE";
    case GMH_ERR_GPUS:
      return "fewer GPUs than requested";
    case GMH_ERR_PEER:
      return "no such GMH rank";
    case GMH_ERR_TAG:
      return "a tag that is negative, or above the bound";
    case GMH_ERR_PERMISSION:
      return "memory without the permission to be read, or written";
    case GMH_ERR_MEMORY:
      return "out of memory";
    case GMH_ERR_CUDA:
      return "CUDA failed";
    case GMH_ERR_MPI:
      return "MPI failed";
    case GMH_ERR_TASK:
      return "a function of the program returned an error";
    case GMH_ERR_STUCK:
      return "no command of the list can ever start";
    case GMH_ERR_UNFINISHED:
      return "a thread function returned with messages pending";
    case GMH_ERR_INTERNAL:
      return "an exception in the program's functions, or a bug in GMH";
    default:
      return "not an error code of GMH";
  }
}

}  // namespace

std::string text(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::string line = formatted(format, arguments);
  va_end(arguments);
  return line;
}

void fail(gmh_error code, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::string line = formatted(format, arguments);
  va_end(arguments);
  throw Error(code, std::move(line));
}

int remember(gmh_error code, const char* line) noexcept {
  last_code = code;
  std::snprintf(last_line, sizeof last_line, "%s", line);
  return code;
}

}  // namespace gmh

const char* gmh_error_string(int error) {
  return error != GMH_OK && error == gmh::last_code ? gmh::last_line : gmh::meaning_of(error);
}
