#include "tests/interpose/pmpi_table/replaced_functions.hpp"

namespace penstock::test {
namespace {

struct Row {
  std::string_view name;
  void** slot;
};

constexpr Row rows[] = {
#define PENSTOCK_ROW(owner, waits, name, ...) {#name, &penstock_pmpi_##name},
#include "interpose/binding/mpi_functions.def"
};

bool replace(std::string_view name, void* function) {
  for (const Row& row : rows) {
    if (row.name != name) continue;
    *row.slot = function;
    return true;
  }
  return false;
}

}  // namespace

bool make_missing(std::string_view name) {
  return replace(name, reinterpret_cast<void*>(&penstock_no_such_function));
}

bool make_failing(std::string_view name) {
  return replace(name, reinterpret_cast<void*>(&fail));
}

void make_large_counts_missing() {
  for (const Row& row : rows) {
    if (row.name.ends_with("_c")) make_missing(row.name);
  }
}

}  // namespace penstock::test
