#include "interpose/collectives/deferred/kept_handles.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>

#include "interpose/collectives/schedules/reduction_kind.hpp"
#include "interpose/datatypes/datatype_contents.hpp"

namespace penstock::interpose {
namespace {

struct Keepers {
  std::mutex lock;
  std::atomic<std::size_t> count{0};
  std::uint64_t newest = 0;
  std::set<std::uint64_t> numbers;
  std::list<FreedHandle> freed;  ///< ordered by newest_keeper
};

// never destroyed: static destructors of the application may complete calls
Keepers& keepers() {
  static Keepers& all = *new Keepers;
  return all;
}

bool add(FreedHandle freed) {
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

void HandlesKept::end() noexcept {
  Keepers& all = keepers();
  const std::lock_guard guard(all.lock);
  if (all.numbers.erase(number_) == 0) return;
  all.count.store(all.numbers.size());
  const auto needed = std::ranges::find_if(all.freed, [&](const FreedHandle& one) {
    return !all.numbers.empty() && *all.numbers.begin() <= one.newest_keeper;
  });
  unneeded_.splice(unneeded_.end(), all.freed, all.freed.begin(), needed);
}

HandlesKept::~HandlesKept() {
  end();
  for (FreedHandle& one : unneeded_) {
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
