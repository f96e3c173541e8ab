#include "tests/support/faulty_driver/faulty_driver.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "tests/support/fault_table.hpp"

namespace {

/// Never destroyed: calls may come until the process ends.
penstock::test_support::FaultTable& faults() {
  static auto& table = *new penstock::test_support::FaultTable("DRIVER_FAULTS", std::getenv("DRIVER_FAULTS"));
  return table;
}

// two steps, so that <cuda.h>'s mapping to a versioned symbol happens before the name becomes a string
#define SYMBOL_OF(name) SYMBOL_OF_EXPANDED(name)
#define SYMBOL_OF_EXPANDED(name) #name

/// One function of the driver, by its row in the table of those that Penstock calls.
template <class Name, class Function>
struct Wrapper;
template <class Name, class... Arguments>
struct Wrapper<Name, CUresult (*)(Arguments...)> {
  static inline CUresult (*real)(Arguments...) = nullptr;
  static CUresult call(Arguments... arguments) {
    if (const int error = faults().error_of(Name::symbol)) return static_cast<CUresult>(error);
    return real(arguments...);
  }
  static void* wrap(void* found) {
    real = reinterpret_cast<CUresult (*)(Arguments...)>(found);
    return reinterpret_cast<void*>(&call);
  }
};

#define ROW(function)                                          \
  struct NameOf_##function {                                   \
    static constexpr const char* symbol = SYMBOL_OF(function); \
  };
#define NEEDED(function) ROW(function)
#define OPTIONAL(function) ROW(function)
#include "transports/cuda/driver_functions.def"
#undef OPTIONAL
#undef NEEDED
#undef ROW

struct Row {
  const char* symbol;
  void* (*wrap)(void*);
};
#define ROW(function) {SYMBOL_OF(function), Wrapper<NameOf_##function, decltype(&function)>::wrap},
#define NEEDED(function) ROW(function)
#define OPTIONAL(function) ROW(function)
constexpr Row rows[] = {
#include "transports/cuda/driver_functions.def"
};
#undef OPTIONAL
#undef NEEDED
#undef ROW

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
