// A function of a library that is opened at run time.
#pragma once

#include <dlfcn.h>

namespace penstock::transports::cuda {

/// `function`: a pointer to a function, null afterwards where the library has no such symbol. Then false.
template <class Function>
bool find_symbol(void* library, const char* symbol, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

}  // namespace penstock::transports::cuda
