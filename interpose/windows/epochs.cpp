#include "interpose/windows/epochs.hpp"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "interpose/calls/window_record.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/progress/progress.hpp"

namespace penstock::interpose::epochs {
namespace {

/// Returns the members' ranks, or MPI's code.
int members_of_group(const Window& window, MPI_Group group, std::vector<std::size_t>& members) {
  int size = 0;
  if (const int code = PMPI_Group_size(group, &size); code != MPI_SUCCESS) return code;
  MPI_Group all = MPI_GROUP_NULL;
  if (const int code = PMPI_Win_get_group(window.handle(), &all); code != MPI_SUCCESS) return code;
  const auto count = static_cast<std::size_t>(size);
  std::vector<int> own(count);
  std::vector<int> translated(count);
  for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
  int code = PMPI_Group_translate_ranks(group, size, own.data(), all, translated.data());
  PMPI_Group_free(&all);
  for (std::size_t i = 0; code == MPI_SUCCESS && i < count; ++i) {
    if (translated[i] < 0) code = MPI_ERR_GROUP;
    if (code == MPI_SUCCESS) members.push_back(static_cast<std::size_t>(translated[i]));
  }
  return code;
}

/// Changes epochs by `change(epochs)`, which returns MPI's code, and raises that: not under the mutex, as the
/// program's handler may call MPI.
template <typename Change>
int change_epochs(Window& window, Change change) {
  int code = MPI_SUCCESS;
  {
    const std::lock_guard guard(window.mutex());
    code = change(window.epochs());
  }
  return code == MPI_SUCCESS ? code : window.raise(code);
}

bool is_without_access(const Epochs& epochs) noexcept {
  return epochs.access == Access::none || epochs.access == Access::fence;
}

/// For calls that no epoch allows but that of a fence.
int is_between_epochs(const Epochs& epochs) noexcept {
  return is_without_access(epochs) && !epochs.is_exposed ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

int end_of(const Window& window, const char* mpi_call, const Status& status) {
  return status.ok() ? MPI_SUCCESS : window.errors().raise_status(mpi_call, status);
}

bool is_target(const Window& window, int target) noexcept {
  return target >= 0 && static_cast<std::size_t>(target) < window.size();
}

/// Counted while a member waits for a lock.
class Queued {
 public:
  explicit Queued(WordRow& row) noexcept : row_(row) { row_.queued.fetch_add(1, std::memory_order_relaxed); }
  ~Queued() { row_.queued.fetch_sub(1, std::memory_order_relaxed); }
  Queued(const Queued&) = delete;
  Queued& operator=(const Queued&) = delete;

 private:
  WordRow& row_;
};

/// Rounds for which a rank lets others have a lock that they wait for: one that takes the lock again and
/// again would keep them out.
constexpr unsigned courtesy_rounds = 2 * policy::spinning_rounds;

void let_others_have(const WordRow& row) {
  unsigned rounds = 0;
  wait_with_progress(
      [&] { return row.queued.load(std::memory_order_relaxed) == 0 || ++rounds > courtesy_rounds; });
}

/// Records that a call waits, and for whom, each time that this changes.
class Awaited {
 public:
  Awaited(CallScope& scope, const Window& window) noexcept : scope_(scope), window_(window) {}

  /// None: for members that are not known, or as before, as a lock may just have been given back.
  void is(std::optional<std::size_t> member) noexcept {
    const int now = member ? static_cast<int>(*member) : unknown;
    if (now == noted_ || (now == unknown && noted_ != nobody)) return;
    noted_ = now;
    record_wait(scope_, window_.handle(), now);
  }

 private:
  static constexpr int unknown = -1;
  static constexpr int nobody = -2;

  CallScope& scope_;
  const Window& window_;
  int noted_ = nobody;  ///< a member, or one of these
};

void acquire(const Window& window, std::size_t target, bool exclusive, CallScope& scope) {
  const SharedWords& words = window.words();
  WordRow& row = words.row(target);
  let_others_have(row);
  if (words.try_lock(target, window.rank(), exclusive)) return;
  const Queued queued(row);
  Awaited awaited(scope, window);
  wait_with_progress([&] {
    if (words.try_lock(target, window.rank(), exclusive)) return true;
    awaited.is(words.exclusive_holder(target));
    return false;
  });
}

/// Takes the locks of all members. Holds none while it waits, as others may hold one and wait for another.
void acquire_all(const Window& window, CallScope& scope) {
  const SharedWords& words = window.words();
  Awaited awaited(scope, window);
  const auto try_all = [&] {
    for (std::size_t target = 0; target < window.size(); ++target) {
      if (words.try_lock(target, window.rank(), false)) continue;
      awaited.is(words.exclusive_holder(target));
      while (target > 0) words.unlock(--target, false);
      return false;
    }
    return true;
  };
  for (std::size_t target = 0; target < window.size(); ++target) let_others_have(words.row(target));
  wait_with_progress(try_all);
}

void release(const Window& window, std::size_t target, Held held) noexcept {
  if (held == Held::shared || held == Held::exclusive) window.words().unlock(target, held == Held::exclusive);
}

/// Returns whether each of them has done so once more than this rank has seen, and if so counts that; else
/// `awaited` is the first that has not.
template <typename Counter>
bool have_all_done(const std::vector<std::size_t>& members, Counter counter, std::vector<std::uint32_t>& seen,
                   std::optional<std::size_t>& awaited) {
  const auto has_done = [&](std::size_t member) {
    return counter(member).load(std::memory_order_acquire) != seen[member];
  };
  const auto missing = std::ranges::find_if_not(members, has_done);
  if (missing != members.end()) {
    awaited = *missing;
    return false;
  }
  for (const std::size_t member : members) ++seen[member];
  return true;
}

/// Waits until `are_all_done(missing)`, which names a member that is missing.
template <typename AreAllDone>
void wait_for_all(const Window& window, CallScope& scope, AreAllDone are_all_done) {
  Awaited awaited(scope, window);
  wait_with_progress([&] {
    std::optional<std::size_t> missing;
    if (are_all_done(missing)) return true;
    awaited.is(missing);
    return false;
  });
}

}  // namespace

int fence(Window& window, int assertion) {
  const int code = change_epochs(window, is_between_epochs);
  if (code != MPI_SUCCESS) return code;
  const Status completed = window.complete({});
  window.wait_for_kernels();
  window.meet();
  change_epochs(window, [&](Epochs& epochs) {
    epochs.access = (assertion & MPI_MODE_NOSUCCEED) != 0 ? Access::none : Access::fence;
    return MPI_SUCCESS;
  });
  return end_of(window, "MPI_Win_fence", completed);
}

int lock(Window& window, int kind, int target, int assertion, CallScope& scope) {
  if (kind != MPI_LOCK_SHARED && kind != MPI_LOCK_EXCLUSIVE) return window.raise(MPI_ERR_LOCKTYPE);
  if (target == MPI_PROC_NULL) return MPI_SUCCESS;
  if (!is_target(window, target)) return window.raise(MPI_ERR_RANK);
  const auto of = static_cast<std::size_t>(target);
  const bool is_exclusive = kind == MPI_LOCK_EXCLUSIVE;
  const bool is_checked = (assertion & MPI_MODE_NOCHECK) == 0;
  const int code = change_epochs(window, [&](Epochs& epochs) {
    if (epochs.access == Access::group || epochs.access == Access::all_locked || epochs.held[of] != Held::no)
      return MPI_ERR_RMA_SYNC;
    epochs.access = Access::locks;
    ++epochs.locks;
    epochs.held[of] = !is_checked ? Held::unchecked : is_exclusive ? Held::exclusive : Held::shared;
    return MPI_SUCCESS;
  });
  if (code == MPI_SUCCESS && is_checked) acquire(window, of, is_exclusive, scope);
  return code;
}

int unlock(Window& window, int target) {
  if (target == MPI_PROC_NULL) return MPI_SUCCESS;
  if (!is_target(window, target)) return window.raise(MPI_ERR_RANK);
  const auto of = static_cast<std::size_t>(target);
  const int code = change_epochs(window, [of](const Epochs& epochs) {
    return epochs.access == Access::locks && epochs.held[of] != Held::no ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
  });
  if (code != MPI_SUCCESS) return code;
  const Status completed = window.complete(of);
  if (of == window.rank()) window.wait_for_kernels();
  change_epochs(window, [&](Epochs& epochs) {
    release(window, of, std::exchange(epochs.held[of], Held::no));
    if (--epochs.locks == 0) epochs.access = Access::none;
    return MPI_SUCCESS;
  });
  return end_of(window, "MPI_Win_unlock", completed);
}

int lock_all(Window& window, int assertion, CallScope& scope) {
  const bool is_checked = (assertion & MPI_MODE_NOCHECK) == 0;
  const int code = change_epochs(window, [is_checked](Epochs& epochs) {
    if (!is_without_access(epochs)) return MPI_ERR_RMA_SYNC;
    epochs.access = Access::all_locked;
    std::ranges::fill(epochs.held, is_checked ? Held::shared : Held::unchecked);
    return MPI_SUCCESS;
  });
  if (code == MPI_SUCCESS && is_checked) acquire_all(window, scope);
  return code;
}

int unlock_all(Window& window) {
  const int code = change_epochs(window, [](const Epochs& epochs) {
    return epochs.access == Access::all_locked ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
  });
  if (code != MPI_SUCCESS) return code;
  const Status completed = window.complete({});
  window.wait_for_kernels();
  change_epochs(window, [&](Epochs& epochs) {
    for (std::size_t target = 0; target < window.size(); ++target)
      release(window, target, std::exchange(epochs.held[target], Held::no));
    epochs.access = Access::none;
    return MPI_SUCCESS;
  });
  return end_of(window, "MPI_Win_unlock_all", completed);
}

int flush(Window& window, const char* mpi_call, int target) {
  if (target == MPI_PROC_NULL) return MPI_SUCCESS;
  if (!is_target(window, target)) return window.raise(MPI_ERR_RANK);
  const auto of = static_cast<std::size_t>(target);
  const int code = change_epochs(window, [of](const Epochs& epochs) {
    return epochs.held[of] != Held::no ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
  });
  return code == MPI_SUCCESS ? end_of(window, mpi_call, window.complete(of)) : code;
}

int flush_all(Window& window, const char* mpi_call) {
  const int code = change_epochs(window, [](const Epochs& epochs) {
    return epochs.access == Access::locks || epochs.access == Access::all_locked ? MPI_SUCCESS
                                                                                 : MPI_ERR_RMA_SYNC;
  });
  return code == MPI_SUCCESS ? end_of(window, mpi_call, window.complete({})) : code;
}

int sync(Window& window) {
  window.begin_held_back();  // programs wait for each other's puts with this call
  window.wait_for_kernels();
  progress();  // programs poll their memory with this call in between
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return MPI_SUCCESS;
}

int post(Window& window, MPI_Group group) {
  std::vector<std::size_t> origins;
  if (const int failed = members_of_group(window, group, origins); failed != MPI_SUCCESS)
    return window.raise(failed);
  const int code = change_epochs(window, [&](Epochs& epochs) {
    if (epochs.is_exposed) return MPI_ERR_RMA_SYNC;
    if (epochs.access == Access::fence) epochs.access = Access::none;
    epochs.is_exposed = true;
    epochs.origins = origins;
    return MPI_SUCCESS;
  });
  if (code != MPI_SUCCESS) return code;
  window.wait_for_kernels();
  for (const std::size_t origin : origins)
    window.words().posts(window.rank(), origin).fetch_add(1, std::memory_order_release);
  return MPI_SUCCESS;
}

int start(Window& window, MPI_Group group, CallScope& scope) {
  std::vector<std::size_t> targets;
  if (const int failed = members_of_group(window, group, targets); failed != MPI_SUCCESS)
    return window.raise(failed);
  const int code = change_epochs(window, [&](Epochs& epochs) {
    if (!is_without_access(epochs)) return MPI_ERR_RMA_SYNC;
    epochs.access = Access::group;
    epochs.targets = targets;
    return MPI_SUCCESS;
  });
  if (code != MPI_SUCCESS) return code;
  const auto posts = [&](std::size_t target) -> SharedWords::Counter& {
    return window.words().posts(target, window.rank());
  };
  wait_for_all(window, scope, [&](std::optional<std::size_t>& missing) {
    const std::lock_guard guard(window.mutex());
    return have_all_done(targets, posts, window.epochs().posts_seen, missing);
  });
  return MPI_SUCCESS;
}

int complete(Window& window) {
  const int code = change_epochs(window, [](const Epochs& epochs) {
    return epochs.access == Access::group ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
  });
  if (code != MPI_SUCCESS) return code;
  const Status completed = window.complete({});
  change_epochs(window, [&](Epochs& epochs) {
    for (const std::size_t target : epochs.targets)
      window.words().completions(window.rank(), target).fetch_add(1, std::memory_order_release);
    epochs.access = Access::none;
    epochs.targets.clear();
    return MPI_SUCCESS;
  });
  return end_of(window, "MPI_Win_complete", completed);
}

namespace {

/// False: `awaited` is a member that has not completed its accesses.
bool is_exposure_over(Window& window, std::optional<std::size_t>& awaited) {
  const std::lock_guard guard(window.mutex());
  Epochs& epochs = window.epochs();
  const auto completions = [&](std::size_t origin) -> SharedWords::Counter& {
    return window.words().completions(origin, window.rank());
  };
  if (!have_all_done(epochs.origins, completions, epochs.completions_seen, awaited)) return false;
  epochs.is_exposed = false;
  epochs.origins.clear();
  return true;
}

int is_in_exposure(const Epochs& epochs) noexcept {
  return epochs.is_exposed ? MPI_SUCCESS : MPI_ERR_RMA_SYNC;
}

}  // namespace

int wait(Window& window, CallScope& scope) {
  if (const int code = change_epochs(window, is_in_exposure); code != MPI_SUCCESS) return code;
  wait_for_all(window, scope,
               [&](std::optional<std::size_t>& missing) { return is_exposure_over(window, missing); });
  return MPI_SUCCESS;
}

int test(Window& window, int* flag) {
  if (const int code = change_epochs(window, is_in_exposure); code != MPI_SUCCESS) return code;
  std::optional<std::size_t> awaited;
  const bool is_over = is_exposure_over(window, awaited);
  *flag = is_over ? 1 : 0;
  if (!is_over) progress();
  return MPI_SUCCESS;
}

int end_all(Window& window) {
  if (const int code = change_epochs(window, is_between_epochs); code != MPI_SUCCESS) return code;
  const Status completed = window.complete({});
  window.wait_for_kernels();
  window.meet();
  static_cast<void>(end_of(window, "MPI_Win_free", completed));  // the others free the window
  return MPI_SUCCESS;
}

}  // namespace penstock::interpose::epochs
