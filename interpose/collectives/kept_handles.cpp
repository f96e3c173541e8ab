#include "interpose/collectives/kept_handles.hpp"

#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "interpose/collectives/reduction_kind.hpp"
#include "interpose/datatypes/datatype_contents.hpp"

namespace penstock::interpose {
namespace {

/// To be freed once all are gone that were there when the program freed it.
struct Freed {
  std::uint64_t newest_keeper = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  MPI_Op operation = MPI_OP_NULL;
};

struct Keepers {
  std::mutex lock;
  std::atomic<std::size_t> count{0};
  std::uint64_t newest = 0;
  std::set<std::uint64_t> numbers;
  std::deque<Freed> freed;  ///< in that order
};

// never destroyed: calls may be completed from static destructors of the application
Keepers& keepers() {
  static Keepers& all = *new Keepers;
  return all;
}

bool add(Freed freed) {
  Keepers& all = keepers();
  const std::lock_guard guard(all.lock);
  if (all.numbers.empty()) return false;
  freed.newest_keeper = all.newest;
  all.freed.push_back(freed);
  return true;
}

}  // namespace

HandlesKept::HandlesKept() {
  Keepers& all = keepers();
  const std::lock_guard guard(all.lock);
  number_ = ++all.newest;
  all.numbers.insert(number_);
  all.count.store(all.numbers.size());
}

HandlesKept::~HandlesKept() {
  Keepers& all = keepers();
  std::vector<Freed> unneeded;
  {
    const std::lock_guard guard(all.lock);
    all.numbers.erase(number_);
    all.count.store(all.numbers.size());
    while (!all.freed.empty() &&
           (all.numbers.empty() || *all.numbers.begin() > all.freed.front().newest_keeper)) {
      unneeded.push_back(all.freed.front());
      all.freed.pop_front();
    }
  }
  for (Freed& one : unneeded) {
    if (one.datatype != MPI_DATATYPE_NULL) PMPI_Type_free(&one.datatype);
    if (one.operation != MPI_OP_NULL) PMPI_Op_free(&one.operation);
  }
}

bool free_datatype_later(MPI_Datatype datatype) {
  if (keepers().count.load() == 0 || datatype == MPI_DATATYPE_NULL) return false;
  return !DatatypeContents::is_predefined(datatype) && add({.datatype = datatype});
}

bool free_operation_later(MPI_Op operation) {
  if (keepers().count.load() == 0 || operation == MPI_OP_NULL || is_predefined(operation)) return false;
  return add({.operation = operation});
}

}  // namespace penstock::interpose
