// The state that the progress files share: the request table, what is in progress, and the lock around both.
// Internal to requests, progress and completion; code that posts operations uses requests.hpp and
// progress.hpp. Knows no message protocol: of envelopes it only counts whether some are coming.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "interpose/node/node_directory.hpp"
#include "interpose/progress/handle_table.hpp"
#include "interpose/progress/polling_lock.hpp"
#include "interpose/progress/posting_forecast.hpp"
#include "interpose/progress/requests.hpp"

namespace penstock::interpose {

/// How the user's handle relates to the operation behind it.
enum class Handle : std::uint8_t {
  own,         ///< the operation's own request
  token,       ///< one that does nothing (tokens.hpp), as the MPI library's own handle may be shared
  persistent,  ///< a persistent request; each start posts an operation behind it, unless the request is its
               ///< own
};

/// The code that must step an entry, besides the call that waits for it.
enum class Filed : std::uint8_t {
  out,      ///< the entry is not in the table
  idle,     ///< nothing
  receive,  ///< progress(), once an envelope may have come
  busy,     ///< progress(), each time
};

/// One row of the request table.
struct RequestEntry {
  MPI_Request handle = MPI_REQUEST_NULL;  ///< the user's
  Operation operation;
  std::uint64_t posted_ns =
      0;                   ///< begin of the recorded call that posted or initialised the operation; 0: none
  MPI_Status status{};     ///< of the operation's request, once `arrived`
  int code = MPI_SUCCESS;  ///< the code of that request, if it is gone by then
  std::unique_ptr<Recipe> recipe;  ///< persistent ones only
  RequestEntry* previous = nullptr;
  RequestEntry* next = nullptr;
  RequestEntry* filed_previous = nullptr;  ///< in the list of the receives or of the busy entries
  RequestEntry* filed_next = nullptr;
  Handle kind = Handle::own;
  Filed filed = Filed::out;
  bool is_counted = false;       ///< among the unfinished operations
  bool active = true;            ///< false: persistent and not started
  bool arrived = false;          ///< the operation's request is complete (kept until release)
  bool finished = false;         ///< all of its pending work is done too
  bool orphan = false;           ///< the user freed the request; progress completes it
  bool is_attended = false;      ///< a call that waits for it steps it in every round, so progress() need not
  std::uint64_t settled_by = 0;  ///< number of the first settle() since it began that waits for it; 0: none
};

/// Thread: one at a time is inside MPI. With MPI_THREAD_MULTIPLE, callers hold Lock where a comment requires
/// it.
class RequestTable {
 public:
  /// Recursive, as the functions below call each other. Never held while the user's code may run (an error
  /// handler may wait for another thread that calls MPI) or during a wait for the GPU.
  class Lock {
   public:
    explicit Lock(RequestTable& table) : table_(table.threaded_ ? &table : nullptr) {
      if (table_ != nullptr) table_->mutex_.lock();
    }
    ~Lock() {
      if (table_ != nullptr) table_->mutex_.unlock();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    RequestTable* table_;
  };

  void set_threaded(bool threaded) noexcept { threaded_ = threaded; }
  [[nodiscard]] bool is_threaded() const noexcept { return threaded_; }
  [[nodiscard]] bool is_empty() const noexcept { return entry_count_.load(std::memory_order_relaxed) == 0; }

  /// Enters an operation under the user's handle. Errors: std::bad_alloc, the operation stays the caller's.
  /// Takes Lock.
  RequestEntry* insert(MPI_Request handle, Operation&& operation, Handle kind,
                       std::unique_ptr<Recipe> recipe = nullptr);

  /// Returns the entry of a handle; null: it has none. The caller holds Lock.
  [[nodiscard]] RequestEntry* find(MPI_Request handle) const noexcept { return table_.find(handle); }

  /// Steps an entry; returns true when it is finished. Never blocks. The caller holds Lock.
  static bool advance(RequestEntry& entry);
  /// Tests whether the entry's request is complete in the MPI library. The caller holds Lock.
  static void look_for_arrival(RequestEntry& entry);
  /// Ends an operation whose test returns an error although its request is not complete. The operation gets
  /// that code, and its pending work ends as if it had been cancelled. The caller holds Lock.
  static void fail(RequestEntry& entry, int code) noexcept;
  /// The same as advance(), without a test of the operation's request.
  static bool advance_pending(RequestEntry& entry);
  /// Returns whether progress() must step the entry. The caller holds Lock.
  [[nodiscard]] static Pending::Progress need_of(const RequestEntry& entry) noexcept;

  /// Ends a finished entry: releases the MPI library's request, sets `status` to the payload's true status,
  /// removes or deactivates the entry. Returns the code of the operation. May raise an MPI error, so it is
  /// called without Lock. `library_code` is the MPI library's code of the request, which the caller raises
  /// (quiet_errors.hpp).
  int release(RequestEntry* entry, MPI_Status& status, int& library_code);

  /// Posts a persistent entry's operation. That may wait for the GPU and may raise an MPI error, so it is
  /// called without Lock. No other thread starts or completes an inactive request meanwhile.
  int start(RequestEntry& entry, const CallScope& scope);

  /// Detaches the entry from the user's handle; progress() completes it. Takes Lock.
  void orphan(RequestEntry* entry);
  /// Takes over work that no user's request stands for any more, and completes it. Takes Lock.
  void adopt(std::unique_ptr<Pending> pending) noexcept;
  /// Removes the entry from the table, in any state. Takes Lock.
  void erase(RequestEntry* entry);

  /// Sets whether the caller steps the entry itself in every round. Not for use where other threads may be
  /// inside MPI.
  void set_attended(RequestEntry& entry, bool attended) noexcept {
    if (entry.is_attended != attended) attended_count_ += attended ? 1u : -1u;
    entry.is_attended = attended;
  }

  /// Steps everything that other ranks may wait for, the MPI library's own messages included. If envelopes
  /// may have arrived, it steps some of the receives, in turns, so that a step with many costs no more.
  /// Completes freed requests that are done, which may raise their errors. Takes Lock.
  void progress() { step(true); }
  /// The same but raises nothing: the next progress() completes freed requests.
  void progress_quietly() { step(false); }

  /// Returns the time of the last step, steady clock. Every round of a wait needs a time, and reading the
  /// clock would cost as much as the rest of the round.
  [[nodiscard]] std::uint64_t round_ns() const noexcept { return round_ns_.load(std::memory_order_relaxed); }

  /// See amid_sends(). Takes Lock.
  [[nodiscard]] bool is_amid_sends();
  /// See computes_before_it_waits(). Takes Lock.
  [[nodiscard]] bool computes_before_it_waits();
  /// Starts large arrived payloads in a call that waits for nothing. Goes through large receives in the order
  /// of posting, up to the first without a message. Each start takes microseconds, during which other ranks
  /// wait for this rank's sends. While more sends are expected, each send and the first receive therefore
  /// start only one. Before a computation, launches what was collected for one launch. Raises nothing. Takes
  /// Lock. Cost, if no envelope is coming: some loads; otherwise a query of the MPI library.
  void begin_large_arrivals(Posted posted, bool takes_long);

  /// A summary of the pending operations.
  struct Outlook {
    std::uint32_t unfinished = 0;                      ///< pending operations
    Pending::Progress need = Pending::Progress::none;  ///< the greatest of their needs
    [[nodiscard]] bool operator==(const Outlook&) const = default;
  };
  /// Takes Lock.
  [[nodiscard]] Outlook outlook();

  /// Counts posted operations once watch_posts() was called. Threads may wait for a change.
  [[nodiscard]] std::atomic<std::uint32_t>& posted() noexcept { return posted_; }
  void watch_posts() noexcept { is_watched_ = true; }

  /// Opens a receive that never completes; tests of it make the MPI library progress. It exists from MPI_Init
  /// to MPI_Finalize, unless the library has no communicator left. A probe is worse: it returns at once where
  /// a message is found, or on a communicator of one rank. Takes Lock.
  void open_sentinel();
  void close_sentinel();
  /// Returns whether there is something to step.
  [[nodiscard]] bool has_work() const noexcept { return NodeDirectory::gpu_seen() && !is_empty(); }
  /// Returns whether a call that blocks must step: also for what another thread may post meanwhile, which may
  /// wait for the caller.
  [[nodiscard]] bool must_poll() const noexcept {
    return NodeDirectory::gpu_seen() && (threaded_ || !is_empty());
  }

  /// Progresses until this rank may leave MPI progress for any length of time. Until then, what others wait
  /// for and what can end without them must be over, or `others_have_come()` true. Takes Lock.
  void settle(const std::function<bool()>& others_have_come);
  /// For MPI_Finalize: progresses until others wait for nothing more, or until the time is over.
  void drain(std::uint64_t limit_ns);

  /// For ranks on other nodes: calls `poll` in each step; their envelopes may arrive at any time. Null: there
  /// are none. Call it before the first message and after the last.
  void poll_other_nodes(void (*poll)() noexcept) noexcept { poll_other_nodes_ = poll; }

  [[nodiscard]] bool polls_other_nodes() const noexcept { return poll_other_nodes_ != nullptr; }

  /// Returns true if some rank has, or may have, sent an envelope that this rank has not seen yet.
  [[nodiscard]] bool envelopes_are_coming() const noexcept;
  /// Counts an envelope from this node as seen, so that one fewer is expected.
  void note_envelope() noexcept { envelopes_seen_.fetch_add(1, std::memory_order_relaxed); }

  std::atomic<std::uint32_t> stashed_messages{0};  ///< in all communicators' stashes

 private:
  /// Returns true if some entry has this need, `always` or `open_ended`. Takes Lock.
  [[nodiscard]] bool has_need(Pending::Progress need);
  /// Returns true if entries for which that settle() waits must be stepped. Takes Lock.
  [[nodiscard]] bool must_settle(std::uint64_t number);
  void step(bool release_orphans);
  /// Returns true if it takes orphans and there are finished ones to release. Takes Lock.
  [[nodiscard]] bool advance_all(bool takes_orphans);
  /// May raise their errors, during which Lock is released.
  void release_finished_orphans();
  /// Makes an entry that is in no list available for another operation. The caller holds Lock.
  void recycle(RequestEntry* entry) noexcept;
  /// Tests the entry's request in the MPI library. The caller holds Lock.
  static void test(RequestEntry& entry);
  /// The same, after those of the operations on the same thing that were posted before.
  void test_in_turn(const RequestEntry& entry);
  void make_library_progress() noexcept;
  void note_posted() noexcept;
  void note_wait(std::uint64_t now_ns) noexcept;
  void begin_large_arrivals(bool only_one);
  /// Called under Lock, so not an atomic increment, which would cost several ns for each message.
  void count_entries(int more) noexcept {
    const std::uint32_t count = entry_count_.load(std::memory_order_relaxed);
    entry_count_.store(count + static_cast<std::uint32_t>(more), std::memory_order_relaxed);
  }

  /// Both update the list of all entries, newest first, and the list of the entry's kind.
  void link(RequestEntry* entry) noexcept;
  void unlink(RequestEntry* entry) noexcept;
  /// Updates what must step the entry. Called after anything that may change that.
  void file(RequestEntry& entry) noexcept;
  void file_as(RequestEntry& entry, Filed filed) noexcept;
  void advance_busy(bool takes_orphans);
  void advance_some_receives();

  HandleTable<RequestEntry> table_;
  std::deque<RequestEntry> pool_;  ///< entries never move; free ones are reused
  std::vector<RequestEntry*> free_;
  std::vector<RequestEntry*> in_turn_;        ///< entries that have not arrived, as they were posted
  std::uint64_t newest_settle_ = 0;           ///< number of the last settle()
  RequestEntry* first_ = nullptr;             ///< entries in the table and orphans, newest first
  RequestEntry* finished_orphans_ = nullptr;  ///< a separate list, linked by `next`
  RequestEntry* unlooked_at_ = nullptr;       ///< the oldest entry that begin_large_arrivals() has not passed
  RequestEntry* busy_ = nullptr;  ///< newest first; few, as each holds a slot, a ring, or a message's memory
  RequestEntry* receives_ = nullptr;      ///< newest first; as many as the application posts
  RequestEntry* next_receive_ = nullptr;  ///< the receive where the next step continues; null: at the newest
  std::uint32_t unfinished_count_ = 0;
  PostingForecast posting_;
  bool has_begun_ = false;  ///< begin_large_arrivals() has started something since the last wait
  std::atomic<std::uint32_t> entry_count_{0};
  std::uint32_t attended_count_ = 0;  ///< of these entries
  std::atomic<std::uint64_t> envelopes_seen_{0};
  std::atomic<std::uint32_t> posted_{0};
  std::atomic<std::uint64_t> round_ns_{0};
  MPI_Comm sentinel_communicator_ = MPI_COMM_NULL;
  MPI_Request sentinel_ = MPI_REQUEST_NULL;
  void (*poll_other_nodes_)() noexcept = nullptr;
  PollingLock mutex_;
  bool threaded_ = false;
  bool is_watched_ = false;
};

[[nodiscard]] inline RequestTable& request_table() noexcept {
  // never destroyed: static destructors of the application may complete requests
  static RequestTable& instance = *new RequestTable;
  return instance;
}

}  // namespace penstock::interpose
