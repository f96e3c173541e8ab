// Reads the frames of a thread of Python from the interpreter's memory, without its lock and without a call
// of its functions. What is damaged, or no frame of Python at all, ends the reading. Must be used for the
// calling thread alone, whose frames stay as they are meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "interpose/record/python/own_memory.hpp"
#include "interpose/record/python/python_layout.hpp"

namespace penstock::record {

/// A function that runs. Text is UTF-8 without line ends.
struct PythonFrame {
  std::string function;  ///< with its class, from 3.11 on
  std::string file;      ///< as the code was compiled
  int line = 0;          ///< 0: not known
};

/// Addresses of type objects, by which objects are known.
struct PythonTypes {
  std::uint64_t code = 0;
  std::uint64_t str = 0;
  std::uint64_t bytes = 0;
};

/// What tells an innermost frame from others.
struct PythonFrameHead {
  std::uint64_t address;
  std::uint64_t position;
};

/// All that decides what is found is read through `log`. `log` must outlive the object. Thread: one.
class PythonStack {
 public:
  PythonStack(const PythonLayout& layout, const PythonTypes& types, ReadLog& log) noexcept
      : layout_(layout), types_(types), log_(log) {}
  /// Returns the innermost frame of the calling thread, whose PyThreadState is at `thread_state`; nullopt if
  /// it runs no Python, or the state is not its own.
  [[nodiscard]] std::optional<PythonFrameHead> innermost(std::uint64_t thread_state);
  /// Returns at most `most` functions, innermost first, from a frame on.
  [[nodiscard]] std::vector<PythonFrame> frames(std::uint64_t frame, std::size_t most);

 private:
  template <typename Number>
  bool read(std::uint64_t at, Number& number);
  bool read_frame(std::uint64_t at);
  std::uint64_t in_frame(std::uint16_t offset) const noexcept;
  bool is_of_type(std::uint64_t object, std::uint64_t type) const noexcept;
  bool read_code(std::uint64_t code);
  std::optional<PythonFrame> function_at(std::uint64_t code, std::uint64_t position);
  std::optional<std::string> text(std::uint64_t str);
  int line(std::uint64_t offset);

  const PythonLayout& layout_;
  const PythonTypes& types_;
  ReadLog& log_;
  std::vector<std::byte> frame_;
  /// The code object that was read last: a recursion has one again and again.
  struct Code {
    std::uint64_t at = 0;  ///< 0: none
    int first_line = 0;
    std::string function;
    std::uint64_t file_at = 0;
    std::string file;
    std::uint64_t table_at = 0;
    std::uint64_t table_bytes = 0;
    std::vector<std::byte> table;  ///< as much as was needed
  };
  Code code_;
};

}  // namespace penstock::record
