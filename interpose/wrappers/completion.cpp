// The wrappers that complete requests. The MPI library alone handles requests without pending work of
// Penstock's; the others are stepped until both the MPI library and Penstock are done.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/calls/quiet_errors.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/posted/message_order.hpp"
#include "interpose/progress/arrivals.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/progress/user_request.hpp"

namespace penstock::interpose {
namespace {

/// Returns true if the MPI library may get the whole array: no request has pending work, and no rank waits
/// for this one.
bool is_plain(int count, const MPI_Request* requests) {
  if (count < 0 || (count > 0 && requests == nullptr)) return true;  // the MPI library reports the error
  if (must_poll()) return false;
  if (request_table().is_empty()) return true;
  const RequestTable::Lock lock(request_table());
  for (int i = 0; i < count; ++i) {
    if (requests[i] != MPI_REQUEST_NULL && request_table().find(requests[i]) != nullptr) return false;
  }
  return true;
}

/// Notes the operations that the call completes, for whoever looks while it waits.
template <typename Items>
void note_operations(CallScope& scope, const Items& items) {
  if (!scope.recording()) return;
  std::uint32_t count = 0;
  std::uint64_t first_ns = ~std::uint64_t{0};
  std::uint64_t last_ns = 0;
  for (const UserRequest& item : items) {
    const RequestEntry* const entry = item.active_entry();
    if (entry == nullptr || entry->posted_ns == 0) continue;
    ++count;
    first_ns = std::min(first_ns, entry->posted_ns);
    last_ns = std::max(last_ns, entry->posted_ns);
  }
  if (count != 0) scope.completes(count, first_ns, last_ns);
}

/// Completes the pending work of a request that the MPI library has completed.
int finish_detached(Pending& pending, MPI_Status& status, int code) {
  for (Backoff backoff; !pending.advance(true, status); backoff.pause()) progress();
  pending.fix_status(status);
  return pending.complete(status, code);
}

/// `tells_error`: the call returns MPI_ERR_IN_STATUS; otherwise MPI_ERROR keeps the user's value.
void copy_status_to(const MPI_Status& status, MPI_Status* statuses, int index, bool tells_error) {
  if (statuses == MPI_STATUSES_IGNORE) return;
  copy_status(status, &statuses[index]);
  if (tells_error) statuses[index].MPI_ERROR = status.MPI_ERROR;
}

/// Moves the operations of all items out of the table into `pending`, for a wait by the MPI library itself
/// (null where an item has none there), and returns true. Moves none, and returns false, if envelopes may
/// come, which only polling finds.
bool detach_all(std::span<UserRequest> items, std::unique_ptr<Pending>* pending) {
  if (must_poll() || !std::ranges::all_of(items, &UserRequest::may_detach)) return false;
  const RequestTable::Lock lock(request_table());
  // another thread may have begun to step them meanwhile
  if (must_poll()) return false;
  for (UserRequest& item : items) *pending++ = item.detach();
  return true;
}

int wait_one(CallScope& scope, MPI_Request* request, MPI_Status* status) {
  UserRequest item(request);
  note_operations(scope, std::span(&item, 1));
  if (!item.has_entry()) {
    if (!must_poll()) return PMPI_Wait(request, status);
    return raise_quieted(MPI_COMM_WORLD, wait_polling(request, status));
  }
  MPI_Status local = local_copy_of(status);
  int code = MPI_SUCCESS;
  if (std::unique_ptr<Pending> pending; detach_all(std::span(&item, 1), &pending)) {
    code = PMPI_Wait(request, &local);
    code = finish_detached(*pending, local, code);
  } else {
    const Attended attended(item.active_entry());
    for (Backoff backoff; !item.is_done(); backoff.pause()) progress();
    code = item.complete(local);
  }
  copy_status(local, status);
  return raise_unraised(item, code);
}

/// Completes all items, which are done, in order, and reports them like MPI_Waitall and MPI_Testall.
int complete_all(std::vector<UserRequest>& items, MPI_Status* statuses) {
  std::vector<int> codes(items.size());
  std::vector<MPI_Status> local(items.size());
  bool failed = false;
  for (std::size_t i = 0; i < items.size(); ++i) {
    local[i] = local_copy_of_at(statuses, static_cast<int>(i));
    codes[i] = items[i].complete(local[i]);
    failed = failed || codes[i] != MPI_SUCCESS;
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    local[i].MPI_ERROR = codes[i];
    copy_status_to(local[i], statuses, static_cast<int>(i), failed);
  }
  return failed ? raise_unraised(items, MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

/// For host traffic only, so far: the MPI library waits, then each envelope that arrived nevertheless is
/// delivered.
int wait_all_detached(int count, MPI_Request* requests, const std::vector<UserRequest>& items,
                      std::vector<std::unique_ptr<Pending>>& pending, MPI_Status* statuses) {
  std::vector<MPI_Status> local(items.size());
  for (std::size_t i = 0; i < local.size(); ++i) local[i] = local_copy_of_at(statuses, static_cast<int>(i));
  int code = PMPI_Waitall(count, requests, local.data());
  bool failed = code != MPI_SUCCESS;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (pending[i] != nullptr && requests[i] == MPI_REQUEST_NULL) pending[i]->arrived(local[i]);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (pending[i] == nullptr) continue;
    if (requests[i] != MPI_REQUEST_NULL) {  // not complete, since another one failed
      request_table().insert(requests[i], Operation{requests[i], std::move(pending[i]), true}, Handle::own);
      continue;
    }
    const int before = failed ? local[i].MPI_ERROR : MPI_SUCCESS;
    const int after = finish_detached(*pending[i], local[i], before);
    if (after == before) continue;
    if (!failed) {
      for (MPI_Status& status : local) status.MPI_ERROR = MPI_SUCCESS;
    }
    local[i].MPI_ERROR = after;
    failed = true;
    code = MPI_ERR_IN_STATUS;
  }
  for (std::size_t i = 0; i < items.size(); ++i)
    copy_status_to(local[i], statuses, static_cast<int>(i), failed);
  return code;
}

/// Steps all items in rounds until all are done: none may wait for another.
template <typename Look, typename IsDone>
void step_until_done(const std::vector<UserRequest>& items, Look look, IsDone is_done) {
  std::vector<const UserRequest*> unfinished;
  unfinished.reserve(items.size());
  for (const UserRequest& item : items) unfinished.push_back(&item);
  for (Backoff backoff;; backoff.pause()) {
    look();
    std::erase_if(unfinished, [&](const UserRequest* item) { return is_done(*item); });
    if (unfinished.empty()) return;
    progress();
  }
}

int wait_all(CallScope& scope, int count, MPI_Request* requests, MPI_Status* statuses) {
  std::vector<UserRequest> items = user_requests(count, requests);
  note_operations(scope, items);
  if (std::vector<std::unique_ptr<Pending>> pending(items.size()); detach_all(items, pending.data()))
    return wait_all_detached(count, requests, items, pending, statuses);
  if (request_table().is_threaded()) {
    step_until_done(
        items, [] {}, [](const UserRequest& item) { return item.is_done(); });
  } else {
    Arrivals arrivals(items);
    step_until_done(
        items, [&] { arrivals.look(); }, [](const UserRequest& item) { return item.is_done_as_arrived(); });
  }
  return complete_all(items, statuses);
}

/// Returns true if all are done. After the first that is not, it steps some more, as payloads that have
/// arrived for them should advance meanwhile, but not thousands.
bool are_all_done(int count, MPI_Request* requests) {
  int end = count;
  bool all = true;
  for (int i = 0; i < end; ++i) {
    if (UserRequest(&requests[i]).is_done() || !std::exchange(all, false)) continue;
    if (count - i > policy::most_looked_at) end = i + policy::most_looked_at;
  }
  return all;
}

int test_all(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  const bool all = are_all_done(count, requests);
  *flag = all ? 1 : 0;
  if (all) {
    std::vector<UserRequest> items = user_requests(count, requests);
    return complete_all(items, statuses);
  }
  progress();
  return MPI_SUCCESS;
}

struct AnyResult {
  int index = MPI_UNDEFINED;
  bool any_active = false;
};

/// Completes the first item that is done, in one round. The caller still raises the code, by
/// raise_unraised().
int try_any(std::vector<UserRequest>& items, AnyResult& result, MPI_Status& status) {
  int code = MPI_SUCCESS;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const UserRequest::Outcome outcome = items[i].try_complete(status, code);
    if (outcome == UserRequest::Outcome::completed) {
      result.index = static_cast<int>(i);
      return code;
    }
    result.any_active = result.any_active || outcome == UserRequest::Outcome::pending;
    if (code != MPI_SUCCESS) return code;
  }
  return code;
}

int wait_any(std::vector<UserRequest>& items, int* index, MPI_Status* status) {
  for (Backoff backoff;; backoff.pause()) {
    AnyResult result;
    MPI_Status local = local_copy_of(status);
    const int code = try_any(items, result, local);
    if (code != MPI_SUCCESS || result.index != MPI_UNDEFINED || !result.any_active) {
      *index = result.index;
      if (result.index == MPI_UNDEFINED) copy_without_error(empty_status(), local);
      copy_status(local, status);
      return raise_unraised(items, code);
    }
    progress();
  }
}

/// Completes all items that are done, in one round.
int try_some(std::vector<UserRequest>& items, int* done_count, int* indices, MPI_Status* statuses) {
  bool any_active = false;
  bool failed = false;
  std::vector<int> codes;
  *done_count = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    MPI_Status local = local_copy_of_at(statuses, *done_count);
    int code = MPI_SUCCESS;
    const UserRequest::Outcome outcome = items[i].try_complete(local, code);
    any_active = any_active || outcome != UserRequest::Outcome::inactive;
    if (outcome != UserRequest::Outcome::completed && code == MPI_SUCCESS) continue;
    failed = failed || code != MPI_SUCCESS;
    codes.push_back(code);
    indices[*done_count] = static_cast<int>(i);
    copy_status_to(local, statuses, *done_count, false);
    ++*done_count;
  }
  if (!any_active) *done_count = MPI_UNDEFINED;
  if (failed && statuses != MPI_STATUSES_IGNORE) {
    for (std::size_t i = 0; i < codes.size(); ++i) statuses[i].MPI_ERROR = codes[i];
  }
  return failed ? raise_unraised(items, MPI_ERR_IN_STATUS) : MPI_SUCCESS;
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

PENSTOCK_EXPORT int MPI_Wait(MPI_Request* request, MPI_Status* status) try {
  CallScope scope(Function::Wait, __builtin_return_address(0));
  if (scope.stands_aside() || (request_table().is_empty() && !must_poll())) return PMPI_Wait(request, status);
  return wait_one(scope, request, status);
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) try {
  CallScope scope(Function::Test, __builtin_return_address(0));
  if (scope.stands_aside() || request_table().is_empty()) return PMPI_Test(request, flag, status);
  UserRequest item(request);
  if (!item.has_entry()) {
    const int code = PMPI_Test(request, flag, status);
    if (code == MPI_SUCCESS && *flag == 0) progress();
    return code;
  }
  *flag = item.is_done() ? 1 : 0;
  if (*flag == 0) {
    progress();
    return MPI_SUCCESS;
  }
  MPI_Status local = local_copy_of(status);
  const int code = item.complete(local);
  copy_status(local, status);
  return raise_unraised(item, code);
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) try {
  CallScope scope(Function::Waitall, __builtin_return_address(0));
  if (scope.stands_aside() || is_plain(count, requests)) return PMPI_Waitall(count, requests, statuses);
  return wait_all(scope, count, requests, statuses);
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) try {
  CallScope scope(Function::Testall, __builtin_return_address(0));
  if (scope.stands_aside() || is_plain(count, requests)) return PMPI_Testall(count, requests, flag, statuses);
  return test_all(count, requests, flag, statuses);
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) try {
  CallScope scope(Function::Waitany, __builtin_return_address(0));
  if (scope.stands_aside() || is_plain(count, requests)) return PMPI_Waitany(count, requests, index, status);
  std::vector<UserRequest> items = user_requests(count, requests);
  note_operations(scope, items);
  return wait_any(items, index, status);
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                                MPI_Status* status) try {
  CallScope scope(Function::Testany, __builtin_return_address(0));
  if (scope.stands_aside() || is_plain(count, requests)) {
    return PMPI_Testany(count, requests, index, flag, status);
  }
  std::vector<UserRequest> items = user_requests(count, requests);
  AnyResult result;
  MPI_Status local = local_copy_of(status);
  const int code = try_any(items, result, local);
  *index = result.index;
  *flag = (result.index != MPI_UNDEFINED || !result.any_active) ? 1 : 0;
  if (*flag != 0) {
    if (result.index == MPI_UNDEFINED) copy_without_error(empty_status(), local);
    copy_status(local, status);
  } else {
    progress();
  }
  return raise_unraised(items, code);
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Waitsome(int count, MPI_Request requests[], int* done_count, int indices[],
                                 MPI_Status statuses[]) try {
  CallScope scope(Function::Waitsome, __builtin_return_address(0));
  if (scope.stands_aside() || is_plain(count, requests)) {
    return PMPI_Waitsome(count, requests, done_count, indices, statuses);
  }
  std::vector<UserRequest> items = user_requests(count, requests);
  note_operations(scope, items);
  for (Backoff backoff;; backoff.pause()) {
    const int code = try_some(items, done_count, indices, statuses);
    if (code != MPI_SUCCESS || *done_count != 0) return code;
    progress();
  }
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Testsome(int count, MPI_Request requests[], int* done_count, int indices[],
                                 MPI_Status statuses[]) try {
  CallScope scope(Function::Testsome, __builtin_return_address(0));
  if (scope.stands_aside() || is_plain(count, requests)) {
    return PMPI_Testsome(count, requests, done_count, indices, statuses);
  }
  std::vector<UserRequest> items = user_requests(count, requests);
  const int code = try_some(items, done_count, indices, statuses);
  if (*done_count == 0) progress();
  return code;
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Request_free(MPI_Request* request) try {
  CallScope scope(Function::Request_free, __builtin_return_address(0));
  RequestEntry* entry = scope.stands_aside() ? nullptr : find_entry(*request);
  if (entry == nullptr) return PMPI_Request_free(request);
  if (entry->kind == Handle::persistent && !entry->active) {
    request_table().erase(entry);
    return PMPI_Request_free(request);
  }
  request_table().orphan(entry);
  *request = MPI_REQUEST_NULL;
  progress();
  return MPI_SUCCESS;
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

PENSTOCK_EXPORT int MPI_Cancel(MPI_Request* request) try {
  CallScope scope(Function::Cancel, __builtin_return_address(0));
  RequestEntry* entry = scope.stands_aside() ? nullptr : find_entry(*request);
  if (entry == nullptr) return cancel_unknown(request);
  // a message that a probe had taken ahead is matched and cannot be cancelled any more
  if (!entry->active || entry->operation.request == MPI_REQUEST_NULL) return MPI_SUCCESS;
  return cancel(entry->operation);
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)
