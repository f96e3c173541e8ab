// Looks up a function of a library that is opened at run time.
#pragma once

#include <dlfcn.h>

namespace penstock::transports {

/// Sets `function`, a pointer to a function, to the symbol's address. If the library has no such symbol, sets
/// it to null and returns false.
template <class Function>
bool find_symbol(void* library, const char* symbol, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr;
}

}  // namespace penstock::transports
