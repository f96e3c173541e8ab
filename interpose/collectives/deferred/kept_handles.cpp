#include "interpose/collectives/deferred/kept_handles.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "interpose/collectives/schedules/reduction_kind.hpp"
#include "interpose/datatypes/datatype_contents.hpp"

namespace penstock::interpose {
namespace {

struct Keepers {
  std::mutex lock;
  std::atomic<std::size_t> count{0};
  std::uint64_t newest = 0;
  std::map<std::uint64_t, std::vector<MPI_Datatype>> datatypes;  ///< those of each keeper, by its number
  std::list<FreedHandle> freed;                                  ///< ordered by newest_keeper
};

// never destroyed: static destructors of the application may complete calls
Keepers& keepers() {
  static Keepers& all = *new Keepers;
  return all;
}

/// `is_needed(its datatypes)` returns whether a keeper needs the handle.
template <typename IsNeeded>
bool add(FreedHandle freed, IsNeeded is_needed) {
  Keepers& all = keepers();
  const std::lock_guard guard(all.lock);
  if (std::ranges::none_of(all.datatypes, [&](const auto& one) { return is_needed(one.second); }))
    return false;
  freed.newest_keeper = all.newest;
  all.freed.push_back(freed);
  return true;
}

}  // namespace

HandlesKept::HandlesKept(std::vector<MPI_Datatype> datatypes) {
  Keepers& all = keepers();
  const std::lock_guard guard(all.lock);
  number_ = ++all.newest;
  all.datatypes.emplace(number_, std::move(datatypes));
  all.count.store(all.datatypes.size());
}

void HandlesKept::end() noexcept {
  Keepers& all = keepers();
  const std::lock_guard guard(all.lock);
  if (all.datatypes.erase(number_) == 0) return;
  all.count.store(all.datatypes.size());
  const auto needed = std::ranges::find_if(all.freed, [&](const FreedHandle& one) {
    return !all.datatypes.empty() && all.datatypes.begin()->first <= one.newest_keeper;
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
  return !DatatypeContents::is_predefined(datatype) &&
         add({.datatype = datatype}, [&](const std::vector<MPI_Datatype>& used) {
           return std::ranges::find(used, datatype) != used.end();
         });
}

bool free_operation_later(MPI_Op operation) {
  if (keepers().count.load() == 0 || operation == MPI_OP_NULL || is_predefined(operation)) return false;
  return add({.operation = operation}, [](const auto&) { return true; });
}

}  // namespace penstock::interpose
