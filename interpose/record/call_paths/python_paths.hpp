// Puts the functions of Python that run on the calling thread into its call path, in place of the frames of
// their interpreter. Remembers what it read for a path, and looks at that alone the next time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/record/call_paths/path_numbers.hpp"
#include "interpose/record/python/python_interpreter.hpp"

namespace penstock::record {

/// Thread: any; a call takes a lock only for what it did not meet before.
class PythonPaths {
 public:
  /// `most`: frames of a path. `numbers` must outlive the object.
  PythonPaths(const PythonInterpreter& interpreter, std::size_t most, PathNumbers& numbers) noexcept
      : interpreter_(interpreter), most_(most), numbers_(numbers) {}
  /// Returns the call site with Python's functions, for one without; the same if there are none.
  [[nodiscard]] std::uint64_t site_of(std::uint64_t site) noexcept;

 private:
  struct Known;
  struct OfThread;

  static OfThread* of_this_thread();
  [[nodiscard]] std::uint64_t look_up(std::uint64_t site, std::uint64_t thread_state);
  [[nodiscard]] Known* find(std::uint64_t site, std::uint64_t thread_state, OfThread& thread);
  [[nodiscard]] std::uint64_t walk(std::uint64_t site, std::uint64_t frame, PythonStack& stack);

  const PythonInterpreter interpreter_;
  const std::size_t most_;
  PathNumbers& numbers_;
};

/// Returns nullptr if the process has no Python that can be read. `says`: whether to say so if it has
/// another.
[[nodiscard]] PythonPaths* start_python_paths(std::size_t most, PathNumbers& numbers, bool says) noexcept;

}  // namespace penstock::record
