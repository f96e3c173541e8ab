// Finds the interpreter of Python in this process, if there is one, and the state of the calling thread in
// it. Nothing is linked: what is not loaded is not there. Never takes the interpreter's lock: an MPI call
// that waited for it could wait for ever, as its holder may be in MPI and wait for this one.
#pragma once

#include <cstdint>

#include "interpose/record/python/python_layout.hpp"
#include "interpose/record/python/python_stack.hpp"

namespace penstock::record {

class PythonInterpreter {
 public:
  /// Returns false if there is none that can be read. Cost: some look-ups of symbols. Thread: one, once.
  [[nodiscard]] bool find() noexcept;
  /// Returns the minor version of an interpreter that was found but is not known; 0: there is none such.
  [[nodiscard]] unsigned unknown_minor() const noexcept { return unknown_minor_; }

  /// Returns the calling thread's PyThreadState; 0: it has none, or the interpreter does not run (any more).
  /// Two functions of CPython are called that read a word each, which is allowed without the lock. Thread:
  /// any.
  [[nodiscard]] std::uint64_t state_of_this_thread() const noexcept;
  /// Returns true for code of the interpreter's module.
  [[nodiscard]] bool has_code(std::uint64_t address) const noexcept {
    return code_begin_ <= address && address < code_end_;
  }
  [[nodiscard]] const PythonLayout& layout() const noexcept { return *layout_; }
  [[nodiscard]] const PythonTypes& types() const noexcept { return types_; }

 private:
  const PythonLayout* layout_ = nullptr;
  PythonTypes types_;
  void* (*state_of_this_thread_)() = nullptr;
  int (*is_initialised_)() = nullptr;
  std::uint64_t code_begin_ = 0;
  std::uint64_t code_end_ = 0;
  unsigned unknown_minor_ = 0;
};

}  // namespace penstock::record
