// Functions that call what they are given, with frames of each kind. They are compiled several times:
// optimised without frame pointers, with them, and not optimised.
#pragma once

#include <cstddef>
#include <span>

namespace penstock::test {

using Callee = void (*)(void* data);

struct Callers {
  const char* how_compiled;
  void (*plain)(Callee callee, void* data);
  void (*recursive)(int depth, Callee callee, void* data);
  void (*with_array)(std::size_t bytes, Callee callee, void* data);  ///< on the stack, of a size known late
  void (*realigned)(Callee callee, void* data);                      ///< its frame is aligned to 64 bytes
  void (*first_of_wrapper)(Callee callee, void* data);  ///< both call one wrapper, from frames of one size
  void (*second_of_wrapper)(Callee callee, void* data);
};

[[nodiscard]] const Callers& callers_without_frame_pointers();
[[nodiscard]] const Callers& callers_with_frame_pointers();
[[nodiscard]] const Callers& callers_not_optimised();

}  // namespace penstock::test
