#include "interpose/progress/request_table.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/calls/quiet_errors.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/progress/host_receives.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/tokens.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/in_call.hpp"
#include "transports/small/batched_pull.hpp"
#include "transports/stream_order/ready_flags.hpp"

namespace penstock::interpose {
namespace {

/// Completes an operation that the MPI library has released with `code`. May raise an MPI error.
int complete(const Operation& operation, MPI_Status& status, int code) {
  if (operation.pending == nullptr) return code;
  operation.pending->fix_status(status);
  return operation.pending->complete(status, code);
}

std::uint64_t begin_of_recorded_call() noexcept {
  return record::is_on() ? record::open_call().call.begin_ns : 0;
}

}  // namespace

void RequestTable::look_for_arrival(RequestEntry& entry) {
  entry.operation.in_turn_on == nullptr ? test(entry) : request_table().test_in_turn(entry);
}

void RequestTable::test_in_turn(const RequestEntry& entry) {
  std::size_t i = 0;
  while (!entry.arrived && i < in_turn_.size()) {
    RequestEntry& next = *in_turn_[i];
    if (next.operation.in_turn_on != entry.operation.in_turn_on) {
      ++i;
      continue;
    }
    test(next);
    if (!next.arrived) return;
    in_turn_.erase(in_turn_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void RequestTable::test(RequestEntry& entry) {
  if (entry.arrived) return;
  if (entry.operation.request == MPI_REQUEST_NULL) {
    entry.status = empty_status();
    entry.arrived = true;
    return;
  }
  int flag = 0;
  int code = MPI_SUCCESS;
  // the call that ends the request raises its error
  if (entry.operation.asked == Asked::by_test) {
    code = test_quietly(&entry.operation.request, &flag, &entry.status);
    if (flag != 0) entry.code = code;
  } else {
    const QuietErrors quiet;
    code = PMPI_Request_get_status(entry.operation.request, &flag, &entry.status);
  }
  entry.arrived = flag != 0;
  // the code of a complete request is returned when it is released
  if (code != MPI_SUCCESS && flag == 0) fail(entry, code);
}

void RequestTable::fail(RequestEntry& entry, int code) noexcept {
  // the library, if it still knows the request, must not write to its buffer any more
  if (entry.operation.request != MPI_REQUEST_NULL && !entry.operation.is_persistent) {
    PMPI_Cancel(&entry.operation.request);
    PMPI_Request_free(&entry.operation.request);
  }
  if (entry.operation.pending != nullptr) entry.operation.pending->detached();
  entry.operation.request = MPI_REQUEST_NULL;
  entry.status = empty_status();
  PMPI_Status_set_cancelled(&entry.status, 1);
  entry.code = code;
  entry.arrived = true;
}

void RequestTable::link(RequestEntry* entry) noexcept {
  entry->previous = nullptr;
  entry->next = first_;
  if (first_ != nullptr) first_->previous = entry;
  first_ = entry;
  if (unlooked_at_ == nullptr) unlooked_at_ = entry;
  entry->filed = Filed::idle;
  entry->settled_by = 0;
  file(*entry);
}

void RequestTable::unlink(RequestEntry* entry) noexcept {
  file_as(*entry, Filed::out);
  (entry->previous == nullptr ? first_ : entry->previous->next) = entry->next;
  if (entry->next != nullptr) entry->next->previous = entry->previous;
  if (entry == unlooked_at_) unlooked_at_ = entry->previous;
}

void RequestTable::file_as(RequestEntry& entry, Filed filed) noexcept {
  const bool counts = filed != Filed::out && entry.active && !entry.finished;
  if (entry.is_counted != counts) unfinished_count_ += counts ? 1u : -1u;
  entry.is_counted = counts;
  if (entry.filed == filed) return;
  if (entry.filed >= Filed::receive) {
    RequestEntry*& first = entry.filed == Filed::busy ? busy_ : receives_;
    if (next_receive_ == &entry) next_receive_ = entry.filed_next;
    (entry.filed_previous == nullptr ? first : entry.filed_previous->filed_next) = entry.filed_next;
    if (entry.filed_next != nullptr) entry.filed_next->filed_previous = entry.filed_previous;
  }
  entry.filed = filed;
  if (filed < Filed::receive) return;
  RequestEntry*& first = filed == Filed::busy ? busy_ : receives_;
  entry.filed_previous = nullptr;
  entry.filed_next = first;
  if (first != nullptr) first->filed_previous = &entry;
  first = &entry;
}

void RequestTable::file(RequestEntry& entry) noexcept {
  if (entry.orphan) return file_as(entry, Filed::busy);
  switch (need_of(entry)) {
    case Pending::Progress::none:
      return file_as(entry, Filed::idle);
    case Pending::Progress::receive:
      return file_as(entry, Filed::receive);
    case Pending::Progress::always:
    case Pending::Progress::open_ended:
      return file_as(entry, Filed::busy);
  }
}

RequestEntry* RequestTable::insert(MPI_Request handle, Operation&& operation, Handle kind,
                                   std::unique_ptr<Recipe> recipe) {
  const Lock lock(*this);
  if (operation.in_turn_on != nullptr) in_turn_.reserve(in_turn_.size() + 1);
  if (free_.empty()) {
    free_.reserve(pool_.size() + 1);  // erase() must not allocate
    free_.push_back(&pool_.emplace_back());
  }
  RequestEntry* const entry = free_.back();
  table_.insert(handle, entry);
  free_.pop_back();
  entry->handle = handle;
  entry->operation = std::move(operation);
  if (entry->operation.in_turn_on != nullptr) in_turn_.push_back(entry);
  entry->kind = kind;
  entry->active = recipe == nullptr;
  entry->recipe = std::move(recipe);
  entry->arrived = entry->finished = entry->orphan = false;
  entry->code = MPI_SUCCESS;
  entry->posted_ns = begin_of_recorded_call();
  link(entry);
  count_entries(+1);
  note_posted();
  return entry;
}

bool RequestTable::advance(RequestEntry& entry) {
  if (entry.finished) return true;
  look_for_arrival(entry);
  return advance_pending(entry);
}

bool RequestTable::advance_pending(RequestEntry& entry) {
  if (entry.finished) return true;
  Pending* pending = entry.operation.pending.get();
  entry.finished = pending == nullptr ? entry.arrived : pending->advance(entry.arrived, entry.status);
  if (entry.filed != Filed::out) request_table().file(entry);
  return entry.finished;
}

int RequestTable::release(RequestEntry* entry, MPI_Status& status, int& library_code) {
  Operation operation;
  MPI_Request handle = MPI_REQUEST_NULL;
  Handle kind = Handle::own;
  int code = MPI_SUCCESS;
  {
    // another thread's progress() reads all entries
    const Lock lock(*this);
    // no step may have been taken, as all was complete
    if (posting_.has_posted()) note_wait(transports::steady_now_ns());
    // emptied, since the next start of a persistent request may find its message without an MPI request
    operation = std::exchange(entry->operation, {});
    handle = entry->handle;
    kind = entry->kind;
    code = std::exchange(entry->code, MPI_SUCCESS);
    copy_without_error(entry->status, status);
    if (kind == Handle::persistent) {
      entry->active = entry->arrived = entry->finished = false;
      entry->settled_by = 0;
      file(*entry);
    } else {
      // erased before the MPI library may reuse the handle
      erase(entry);
    }
  }
  if (operation.request != MPI_REQUEST_NULL) code = wait_quietly(&operation.request, &status);
  library_code = code;
  if (kind == Handle::token) end_token(handle);
  return complete(operation, status, code);
}

int RequestTable::start(RequestEntry& entry, const CallScope& scope) {
  Operation operation;
  const int code = entry.recipe->start(scope, operation);
  const Lock lock(*this);
  entry.operation = std::move(operation);
  entry.active = code == MPI_SUCCESS;
  entry.arrived = entry.finished = false;
  unlink(&entry);  // its operation is the newest now
  link(&entry);
  note_posted();
  return code;
}

void RequestTable::note_posted() noexcept {
  if (!is_watched_) return;
  posted_.fetch_add(1);
  posted_.notify_one();
}

void RequestTable::orphan(RequestEntry* entry) {
  std::unique_ptr<Recipe> recipe;  // destroyed after the lock is released: it may free a communicator
  const Lock lock(*this);
  table_.erase(entry->handle);
  entry->orphan = true;
  if (entry->kind == Handle::persistent) {
    if (!entry->operation.is_persistent) PMPI_Request_free(&entry->handle);
    recipe = std::move(entry->recipe);
    entry->kind = Handle::own;
  } else if (entry->kind == Handle::token) {
    end_token(entry->handle);
    entry->kind = Handle::own;
  }
  // the user has no handle any more; the operation keeps its own, which a persistent one may start only later
  if (!entry->operation.is_persistent) entry->handle = MPI_REQUEST_NULL;
  file(*entry);
}

void RequestTable::adopt(std::unique_ptr<Pending> pending) noexcept {
  Pending* const kept = pending.release();  // if memory is short, what MPI still works on must leak
  try {
    const Lock lock(*this);
    RequestEntry* const entry = insert(MPI_REQUEST_NULL, {}, Handle::own);
    entry->operation.pending.reset(kept);
    orphan(entry);
  } catch (const std::bad_alloc&) {
  }
}

void RequestTable::erase(RequestEntry* entry) {
  std::unique_ptr<Recipe> recipe;  // destroyed after the lock is released: it may free a communicator
  const Lock lock(*this);
  if (!entry->orphan) table_.erase(entry->handle);
  unlink(entry);
  set_attended(*entry, false);
  if (entry->operation.in_turn_on != nullptr) std::erase(in_turn_, entry);
  entry->operation = {};
  recipe = std::move(entry->recipe);
  recycle(entry);
}

void RequestTable::recycle(RequestEntry* entry) noexcept {
  free_.push_back(entry);
  count_entries(-1);
}

Pending::Progress RequestTable::need_of(const RequestEntry& entry) noexcept {
  if (!entry.active || entry.finished || entry.operation.pending == nullptr) return Pending::Progress::none;
  return entry.operation.pending->progress();
}

bool RequestTable::envelopes_are_coming() const noexcept {
  if (poll_other_nodes_ != nullptr) return true;  // other nodes' envelopes are not announced
  const DirectoryRow* row = node_directory().own_row();
  return row != nullptr &&
         row->offers.load(std::memory_order_relaxed) != envelopes_seen_.load(std::memory_order_relaxed);
}

void RequestTable::open_sentinel() {
  if (PMPI_Comm_dup(MPI_COMM_SELF, &sentinel_communicator_) != MPI_SUCCESS) {
    sentinel_communicator_ = MPI_COMM_NULL;
  } else {
    PMPI_Comm_set_errhandler(sentinel_communicator_, MPI_ERRORS_RETURN);
    const int code = PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, 0, sentinel_communicator_, &sentinel_);
    if (code != MPI_SUCCESS) sentinel_ = MPI_REQUEST_NULL;
  }
  if (sentinel_ == MPI_REQUEST_NULL)
    record::notice(
        "MPI_Irecv failed in MPI_Init: Penstock makes the MPI library progress by MPI_Iprobe instead");
}

void RequestTable::close_sentinel() {
  const Lock lock(*this);
  if (sentinel_ != MPI_REQUEST_NULL && PMPI_Cancel(&sentinel_) == MPI_SUCCESS)
    PMPI_Wait(&sentinel_, MPI_STATUS_IGNORE);
  sentinel_ = MPI_REQUEST_NULL;
  if (sentinel_communicator_ != MPI_COMM_NULL) PMPI_Comm_free(&sentinel_communicator_);
}

void RequestTable::make_library_progress() noexcept {
  int flag = 0;
  if (sentinel_ != MPI_REQUEST_NULL) {
    PMPI_Test(&sentinel_, &flag, MPI_STATUS_IGNORE);
  } else {
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
}

void RequestTable::step(bool release_orphans) {
  if (advance_all(release_orphans)) release_finished_orphans();
}

bool RequestTable::advance_all(bool takes_orphans) {
  const Lock lock(*this);
  const std::uint64_t now_ns = transports::steady_now_ns();
  round_ns_.store(now_ns, std::memory_order_relaxed);
  if (takes_orphans) note_wait(now_ns);  // otherwise this is the progress thread's step
  if (transports::has_marked_signals()) transports::settle_signals();
  make_library_progress();
  if (poll_other_nodes_ != nullptr) poll_other_nodes_();
  expect_envelopes_if(NodeDirectory::gpu_seen());
  if (entry_count_.load(std::memory_order_relaxed) == attended_count_) return false;
  advance_busy(takes_orphans);
  if (receives_ != nullptr && envelopes_are_coming()) advance_some_receives();
  // nor those that another thread has taken: the program's error handlers run in its own threads
  return takes_orphans && finished_orphans_ != nullptr;
}

void RequestTable::advance_busy(bool takes_orphans) {
  for (RequestEntry* entry = busy_; entry != nullptr;) {
    RequestEntry* const next = entry->filed_next;
    if (entry->orphan || (!entry->is_attended && need_of(*entry) != Pending::Progress::none)) {
      advance(*entry);
    } else if (!entry->is_attended) {
      file(*entry);  // the other rank has ended it
    }
    if (takes_orphans && entry->orphan && entry->finished) {
      unlink(entry);
      entry->next = std::exchange(finished_orphans_, entry);
    }
    entry = next;
  }
}

void RequestTable::advance_some_receives() {
  const RequestEntry* const begin = next_receive_;
  bool has_wrapped = false;
  for (int looked_at = 0; looked_at < policy::most_looked_at; ++looked_at) {
    if (next_receive_ == nullptr) {
      if (std::exchange(has_wrapped, true)) return;
      next_receive_ = receives_;
      if (next_receive_ == nullptr) return;
    }
    if (has_wrapped && next_receive_ == begin) return;
    RequestEntry& entry = *next_receive_;
    next_receive_ = entry.filed_next;
    if (!entry.is_attended) advance(entry);
  }
}

void RequestTable::release_finished_orphans() {
  // one by one: if an error handler throws, the next call continues with the others
  for (;;) {
    Operation operation;
    MPI_Request handle = MPI_REQUEST_NULL;
    MPI_Status status;
    int code = MPI_SUCCESS;
    {
      const Lock lock(*this);
      if (finished_orphans_ == nullptr) return;
      RequestEntry* const entry = std::exchange(finished_orphans_, finished_orphans_->next);
      operation = std::exchange(entry->operation, {});
      handle = entry->handle;
      status = entry->status;
      code = entry->code;
      recycle(entry);
    }
    // errors of a freed request are not reported
    if (operation.request != MPI_REQUEST_NULL) code = wait_quietly(&operation.request, &status);
    if (handle != MPI_REQUEST_NULL) PMPI_Request_free(&handle);
    static_cast<void>(complete(operation, status, code));
  }
}

void RequestTable::note_wait(std::uint64_t now_ns) noexcept {
  if (posting_.has_posted()) posting_.note_wait(now_ns);
  has_begun_ = false;
}

bool RequestTable::is_amid_sends() {
  const Lock lock(*this);
  return posting_.is_amid_sends();
}

bool RequestTable::computes_before_it_waits() {
  const Lock lock(*this);
  return posting_.computes_before_it_waits();
}

void RequestTable::begin_large_arrivals(Posted posted, bool takes_long) {
  const Lock lock(*this);
  posting_.note(posted, transports::time_of_call_ns());
  const bool has_more_to_send = posting_.has_more_to_send();
  // the last send may have been from host memory
  if (!has_more_to_send) transports::settle_signals();
  if (!has_more_to_send || posted == Posted::send || !has_begun_) begin_large_arrivals(has_more_to_send);
  if (has_begun_ && posting_.is_about_to_compute()) transports::launch_collected();
  // what was started, here or in the call before, has taken many microseconds, which are no computation
  if (has_begun_ || takes_long) posting_.note_end(transports::steady_now_ns());
}

void RequestTable::begin_large_arrivals(bool only_one) {
  for (; unlooked_at_ != nullptr; unlooked_at_ = unlooked_at_->previous) {
    RequestEntry& entry = *unlooked_at_;
    if (need_of(entry) == Pending::Progress::none || !entry.operation.pending->may_be_large()) continue;
    const bool was_probed = entry.operation.request == MPI_REQUEST_NULL;
    if (!entry.arrived && !was_probed && !envelopes_are_coming()) return;
    look_for_arrival(entry);
    if (!entry.arrived) return;
    const Pending& pending = *entry.operation.pending;
    if (!pending.should_begin(entry.status)) continue;
    // its sender may not have published the payload's place yet
    if (!advance_pending(entry) && pending.should_begin(entry.status)) return;
    has_begun_ = true;
    if (only_one) return;
  }
}

RequestTable::Outlook RequestTable::outlook() {
  const Lock lock(*this);
  Outlook outlook;
  outlook.unfinished = unfinished_count_;
  if (receives_ != nullptr) outlook.need = Pending::Progress::receive;
  for (const RequestEntry* entry = busy_; entry != nullptr; entry = entry->filed_next)
    outlook.need = std::max(outlook.need, need_of(*entry));
  return outlook;
}

bool RequestTable::has_need(Pending::Progress need) {
  const Lock lock(*this);
  for (const RequestEntry* entry = busy_; entry != nullptr; entry = entry->filed_next) {
    if (need_of(*entry) == need) return true;
  }
  return false;
}

bool RequestTable::must_settle(std::uint64_t number) {
  const Lock lock(*this);
  for (const RequestEntry* entry = busy_; entry != nullptr; entry = entry->filed_next) {
    const bool is_awaited = entry->settled_by != 0 && entry->settled_by <= number;
    if (is_awaited && need_of(*entry) == Pending::Progress::always) return true;
  }
  return false;
}

/// What other threads begin meanwhile is not waited for: they may go on for ever.
void RequestTable::settle(const std::function<bool()>& others_have_come) {
  std::uint64_t number = 0;
  {
    const Lock lock(*this);
    number = ++newest_settle_;
    for (RequestEntry* entry = first_; entry != nullptr; entry = entry->next) {
      if (entry->active && entry->settled_by == 0) entry->settled_by = number;
    }
    // leaving() neither links entries nor unlinks any
    for (RequestEntry* entry = busy_; entry != nullptr; entry = entry->filed_next) {
      if (need_of(*entry) != Pending::Progress::none) entry->operation.pending->leaving();
    }
  }
  for (Backoff backoff; must_settle(number) && !others_have_come(); backoff.pause()) progress();
}

void RequestTable::drain(std::uint64_t limit_ns) {
  const std::uint64_t begin_ns = record::now_ns();
  for (Backoff backoff;; backoff.pause()) {
    progress();
    const bool is_waited_for = has_need(Pending::Progress::always) || has_need(Pending::Progress::open_ended);
    if (!is_waited_for || record::now_ns() - begin_ns > limit_ns) return;
  }
}

}  // namespace penstock::interpose
