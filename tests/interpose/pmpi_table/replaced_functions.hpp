// Makes PMPI functions missing or failing while the interposer, which is linked into the test, goes on
// calling them.
#pragma once

#include <string_view>

#include "interpose/binding/mpi_level.hpp"

extern "C" {
#define PENSTOCK_ROW(owner, waits, name, ...) \
  __attribute__((visibility("hidden"))) extern void* penstock_pmpi_##name;
#include "interpose/binding/mpi_functions.def"
__attribute__((visibility("hidden"))) int penstock_no_such_function() noexcept;
}

namespace penstock::test {

/// What functions that fail return: no error class that the interposer has a use for.
inline constexpr int failure = MPI_ERR_INTERN;

/// For any function: changes none of its results.
inline int fail() {
  return failure;
}

/// Puts `function` in the place of a PMPI function while it lives. Usage:
///   const Replaced isend(penstock_pmpi_Isend, fail);
class Replaced {
 public:
  template <typename Result, typename... Arguments>
  Replaced(void*& slot, Result (*function)(Arguments...)) : slot_(&slot), original_(slot) {
    slot = reinterpret_cast<void*>(function);
  }
  ~Replaced() { *slot_ = original_; }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;

 private:
  void** slot_;
  void* original_;
};

/// For the rest of the process. `name` is without MPI_; false if there is no such function.
bool make_missing(std::string_view name);
bool make_failing(std::string_view name);
/// All functions whose names end in _c, as in a library of MPI-3.
void make_large_counts_missing();

}  // namespace penstock::test
