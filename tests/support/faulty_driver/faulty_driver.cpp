#include "tests/support/faulty_driver/faulty_driver.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "tests/support/fault_table.hpp"
#include "transports/cuda/driver_symbol.hpp"

namespace {

/// Never destroyed: calls may come until the process ends.
penstock::test_support::FaultTable& faults() {
  static auto& table = *new penstock::test_support::FaultTable("DRIVER_FAULTS", std::getenv("DRIVER_FAULTS"));
  return table;
}

/// A function's name, to tell its wrapper from those of others with the same parameters.
template <std::size_t size>
struct Symbol {
  char text[size];
  consteval explicit(false) Symbol(const char (&name)[size]) { std::copy_n(name, size, text); }
};

template <Symbol symbol, class Function>
struct Wrapper;
template <Symbol symbol, class... Arguments>
struct Wrapper<symbol, CUresult (*)(Arguments...)> {
  static inline CUresult (*real)(Arguments...) = nullptr;
  static CUresult call(Arguments... arguments) {
    if (const int error = faults().error_of(symbol.text)) return static_cast<CUresult>(error);
    return real(arguments...);
  }
  static void* wrap(void* found) {
    real = reinterpret_cast<CUresult (*)(Arguments...)>(found);
    return reinterpret_cast<void*>(&call);
  }
};

struct Row {
  const char* symbol;
  void* (*wrap)(void*);
};
constexpr Row rows[] = {
#define NEEDED(function) \
  {PENSTOCK_DRIVER_SYMBOL(function), Wrapper<PENSTOCK_DRIVER_SYMBOL(function), decltype(&function)>::wrap},
#define OPTIONAL(function) NEEDED(function)
#include "transports/cuda/driver_functions.def"
#undef OPTIONAL
#undef NEEDED
};

using Lookup = void* (*)(void*, const char*);
Lookup real_lookup() {
  static const auto real = reinterpret_cast<Lookup>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"));
  return real;
}

void* wrapped(const char* symbol, void* found) {
  for (const Row& row : rows) {
    if (found != nullptr && std::strcmp(row.symbol, symbol) == 0) return row.wrap(found);
  }
  return found;
}

}  // namespace

void faulty_driver_fail(const char* text) {
  faults().set(text);
}

/// Everybody's, as this library is preloaded. RTLD_NEXT is relative to who calls: that must stay a tail call,
/// so this file is always optimised.
extern "C" void* dlsym(void* handle, const char* symbol) {
  const Lookup real = real_lookup();
  if (handle == RTLD_NEXT || handle == RTLD_DEFAULT || std::strncmp(symbol, "cu", 2) != 0)
    return real(handle, symbol);
  return wrapped(symbol, real(handle, symbol));
}
