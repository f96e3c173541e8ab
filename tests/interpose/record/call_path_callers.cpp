// Compiled once for each way; PENSTOCK_CALLERS is the function's name.
#include "call_path_callers.hpp"

#include <alloca.h>

#include "tests/support/kept_function.hpp"

namespace penstock::test {
namespace {

PENSTOCK_KEPT_FUNCTION void plain(Callee callee, void* data) {
  callee(data);
  PENSTOCK_NO_TAIL_CALL;
}

PENSTOCK_KEPT_FUNCTION void recursive(int depth, Callee callee, void* data) {
  if (depth > 1) {
    recursive(depth - 1, callee, data);
  } else {
    callee(data);
  }
  PENSTOCK_NO_TAIL_CALL;
}

PENSTOCK_KEPT_FUNCTION void with_array(std::size_t bytes, Callee callee, void* data) {
  auto* const array = static_cast<volatile char*>(alloca(bytes + 1));
  array[bytes] = 1;
  callee(data);
  array[0] = array[bytes];
}

PENSTOCK_KEPT_FUNCTION void realigned(Callee callee, void* data) {
  alignas(64) volatile char array[64] = {};
  array[1] = 1;
  callee(data);
  array[0] = array[1];
}

PENSTOCK_KEPT_FUNCTION void wrapper(Callee callee, void* data) {
  callee(data);
  PENSTOCK_NO_TAIL_CALL;
}

PENSTOCK_KEPT_FUNCTION void first_of_wrapper(Callee callee, void* data) {
  wrapper(callee, data);
  PENSTOCK_NO_TAIL_CALL;
}

PENSTOCK_KEPT_FUNCTION void second_of_wrapper(Callee callee, void* data) {
  wrapper(callee, data);
  PENSTOCK_NO_TAIL_CALL;
}

}  // namespace

const Callers& PENSTOCK_CALLERS() {
  static const Callers callers{
      PENSTOCK_HOW_COMPILED, plain, recursive, with_array, realigned, first_of_wrapper, second_of_wrapper};
  return callers;
}

}  // namespace penstock::test
