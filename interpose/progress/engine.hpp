// The interposer's state that its parts share: the side table of requests, what is in progress, and the lock
// around both. Internal to requests, progress and completion; those who post operations go through
// requests.hpp and progress.hpp. Knows neither envelopes nor transports.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "interpose/node/node_directory.hpp"
#include "interpose/progress/handle_table.hpp"
#include "interpose/progress/posting_forecast.hpp"
#include "interpose/progress/requests.hpp"

namespace penstock::interpose {

/// How the user's handle relates to the operation behind it.
enum class Handle : std::uint8_t {
  own,         ///< it is the operation's own request
  token,       ///< a generalised request in its place, as the MPI library's own handle may be a shared one
  persistent,  ///< a persistent request; each start posts an operation behind it, if it is not its own
};

/// Who must step an entry besides the call that waits for it.
enum class Filed : std::uint8_t {
  out,      ///< it is not in the table
  idle,     ///< nobody
  receive,  ///< progress(), once an envelope may have come
  busy,     ///< progress(), each time
};

/// One row of the side table.
struct Entry {
  MPI_Request handle = MPI_REQUEST_NULL;  ///< as the user holds it
  Operation operation;
  MPI_Status status{};             ///< of the operation's request, once `arrived`
  int code = MPI_SUCCESS;          ///< and its code, where the request itself is gone by then
  std::unique_ptr<Recipe> recipe;  ///< persistent ones only
  Entry* previous = nullptr;
  Entry* next = nullptr;
  Entry* filed_previous = nullptr;  ///< in the list of the receives, or of the busy ones
  Entry* filed_next = nullptr;
  Handle kind = Handle::own;
  Filed filed = Filed::out;
  bool is_counted = false;   ///< among those that are under way
  bool active = true;        ///< false: persistent and not started
  bool arrived = false;      ///< the operation's request is complete (kept until release)
  bool finished = false;     ///< and so is all that hangs on it
  bool orphan = false;       ///< the user freed the request; progress completes it
  bool is_attended = false;  ///< a call that waits for it steps it in every round; progress need not
};

/// Thread: one thread at a time is inside MPI, or (MPI_THREAD_MULTIPLE) callers hold Lock where it says so.
class Engine {
 public:
  /// Recursive, as the functions below call each other. Never held where the user's code may be called (an
  /// error handler may wait for another thread that calls MPI) or the GPU be waited for.
  class Lock {
   public:
    explicit Lock(Engine& engine) : engine_(engine.threaded_ ? &engine : nullptr) {
      if (engine_ != nullptr) engine_->mutex_.lock();
    }
    ~Lock() {
      if (engine_ != nullptr) engine_->mutex_.unlock();
    }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Engine* engine_;
  };

  void set_threaded(bool threaded) noexcept { threaded_ = threaded; }
  [[nodiscard]] bool is_threaded() const noexcept { return threaded_; }
  [[nodiscard]] bool is_empty() const noexcept { return entry_count_.load(std::memory_order_relaxed) == 0; }

  /// Puts an operation under the user's handle. Takes Lock.
  Entry* insert(MPI_Request handle, Operation operation, Handle kind,
                std::unique_ptr<Recipe> recipe = nullptr);

  /// The entry of a handle; null: nothing hangs on it. The caller holds Lock.
  [[nodiscard]] Entry* find(MPI_Request handle) const noexcept { return table_.find(handle); }

  /// One step of an entry; true when it is finished. Never blocks. The caller holds Lock.
  static bool advance(Entry& entry);
  /// Asks the MPI library whether the entry's request is complete. The caller holds Lock.
  static void look_for_arrival(Entry& entry);
  /// Under Lock. The MPI library does not say what became of the operation's request, but returns an error
  /// when it is asked: the operation is over with that code, and what hangs on it ends as if it had been
  /// cancelled.
  static void fail(Entry& entry, int code) noexcept;
  /// As advance(), without asking the MPI library whether the operation's request is complete.
  static bool advance_pending(Entry& entry);
  /// Whether progress() must step the entry. The caller holds Lock.
  [[nodiscard]] static Pending::Progress need_of(const Entry& entry) noexcept;

  /// Ends a finished entry: releases the MPI library's request, tells the payload's truth in `status`, takes
  /// the entry out of the table or deactivates it. Returns the code of the operation; may raise an MPI error,
  /// so it is called without Lock. `library_code` is what the MPI library returned for the request, which the
  /// caller raises (quiet_errors.hpp).
  int release(Entry* entry, MPI_Status& status, int& library_code);

  /// Posts a persistent entry's operation, which may wait for the GPU and may raise an MPI error: not under
  /// Lock. Nobody else starts or completes an inactive request meanwhile.
  int start(Entry& entry, const CallScope& scope);

  /// Takes the entry out of the user's reach; progress() completes it. Takes Lock.
  void orphan(Entry* entry);
  /// Brings to its end what no request of the user's stands for any more. Takes Lock.
  void adopt(std::unique_ptr<Pending> pending) noexcept;
  /// Takes the entry out of the table, whatever state it is in. Takes Lock.
  void erase(Entry* entry);

  /// Whether the caller steps the entry itself in every round. Not if other threads may be inside MPI.
  void set_attended(Entry& entry, bool attended) noexcept {
    if (entry.is_attended != attended) attended_count_ += attended ? 1u : -1u;
    entry.is_attended = attended;
  }

  /// One step of everything that other ranks may wait for, the MPI library's own messages included; of the
  /// receives for which an envelope may have come, of some, in turns, so that a step costs no more with many.
  /// Requests that the user freed and that are done end here, which may raise their errors. Takes Lock.
  void progress() { step(true); }
  /// The same, but raises nothing: those are left to the next progress().
  void progress_quietly() { step(false); }

  /// When the last such step was taken, steady clock: for what is asked in every round of a wait, where
  /// reading the clock would cost as much as all else.
  [[nodiscard]] std::uint64_t round_ns() const noexcept { return round_ns_.load(std::memory_order_relaxed); }

  /// See amid_sends(). Takes Lock.
  [[nodiscard]] bool is_amid_sends();
  /// For calls that wait for nothing: begins with what has arrived for large receives, in the order in which
  /// they were posted, up to the first for which nothing has. That takes microseconds each, for which others
  /// would wait for what this rank sends; so as long as it is expected to send more, each send begins one,
  /// and only the first receive. Before a computation, what was collected for one launch is launched. Raises
  /// nothing. Takes Lock. Cost, if no envelope is coming: some loads; else a question to the MPI library.
  void begin_large_arrivals(Posted posted);

  /// What there is to be driven.
  struct Outlook {
    std::uint32_t unfinished = 0;                      ///< operations under way
    Pending::Progress need = Pending::Progress::none;  ///< the greatest of theirs
    [[nodiscard]] bool operator==(const Outlook&) const = default;
  };
  /// Takes Lock.
  [[nodiscard]] Outlook outlook();

  /// Counts up whenever an operation comes under way, once somebody watches. May be waited for.
  [[nodiscard]] std::atomic<std::uint32_t>& posted() noexcept { return posted_; }
  void watch_posts() noexcept { is_watched_ = true; }

  /// From MPI_Init to MPI_Finalize, or until the MPI library has no communicators left: a receive that never
  /// completes, by which the library is made to progress. (A probe is worse: it returns at once where
  /// something is found, or on a communicator of one.) Takes Lock.
  void open_sentinel();
  void close_sentinel();
  [[nodiscard]] bool must_poll() const noexcept { return NodeDirectory::gpu_seen() && !is_empty(); }

  /// Progresses until this rank may turn to something else for any length of time: what others wait for, and
  /// what can be ended without them, is over; or until `others_have_come()`. Takes Lock.
  void settle(const std::function<bool()>& others_have_come);
  /// For Finalize: progresses until nothing is left that others wait for, or the time is over.
  void drain(std::uint64_t limit_ns);

  /// With ranks on other nodes: `poll` is called in each step, and their envelopes may come at any time.
  /// Null: there are none. Before any message, and after the last.
  void poll_other_nodes(void (*poll)() noexcept) noexcept { poll_other_nodes_ = poll; }

  /// Somebody has, or may have, sent this rank an envelope that it has not seen yet.
  [[nodiscard]] bool envelopes_are_coming() const noexcept;
  /// An envelope of this node's for this rank was seen: there is one fewer to look out for.
  void note_envelope() noexcept { envelopes_seen_.fetch_add(1, std::memory_order_relaxed); }

  std::atomic<std::uint32_t> stashed_messages{0};  ///< of all communicators

 private:
  /// Some entry needs this rank as said: `always` or `open_ended`. Takes Lock.
  [[nodiscard]] bool has_need(Pending::Progress need);
  void step(bool release_orphans);
  /// True: there are finished orphans to release. Takes Lock.
  [[nodiscard]] bool advance_all(bool takes_orphans);
  /// May raise their errors, for which it lets go of Lock.
  void release_finished_orphans();
  /// Under Lock. An entry that is in no list any more may be used for another operation.
  void recycle(Entry* entry) noexcept;
  void make_library_progress() noexcept;
  void note_posted() noexcept;
  void note_wait(std::uint64_t now_ns) noexcept;
  void begin_large_arrivals(bool only_one);
  /// Under Lock, so that it need not be one instruction, which would cost several ns with each message.
  void count_entries(int more) noexcept {
    const std::uint32_t count = entry_count_.load(std::memory_order_relaxed);
    entry_count_.store(count + static_cast<std::uint32_t>(more), std::memory_order_relaxed);
  }

  /// In the list of all, newest first, and in that of its kind.
  void link(Entry* entry) noexcept;
  void unlink(Entry* entry) noexcept;
  /// Notes who must step it, after anything that may change that has happened to it.
  void file(Entry& entry) noexcept;
  void file_as(Entry& entry, Filed filed) noexcept;
  void advance_busy(bool takes_orphans);
  void advance_some_receives();

  HandleTable<Entry> table_;
  std::deque<Entry> pool_;  ///< entries never move; free ones are reused
  std::vector<Entry*> free_;
  Entry* first_ = nullptr;             ///< those in the table and orphans, newest first
  Entry* finished_orphans_ = nullptr;  ///< in a list of their own, by `next`
  Entry* unlooked_at_ = nullptr;       ///< the oldest of them that begin_large_arrivals() has not passed
  Entry* busy_ = nullptr;          ///< the newest: few, as each holds a slot, a ring, or a message's memory
  Entry* receives_ = nullptr;      ///< the newest: as many as the application likes to post
  Entry* next_receive_ = nullptr;  ///< of them, where the next step goes on; null: at the newest
  std::uint32_t unfinished_count_ = 0;
  PostingForecast posting_;
  bool has_begun_ = false;  ///< begin_large_arrivals(), something since the last wait
  std::atomic<std::uint32_t> entry_count_{0};
  std::uint32_t attended_count_ = 0;  ///< of them
  std::atomic<std::uint64_t> envelopes_seen_{0};
  std::atomic<std::uint32_t> posted_{0};
  std::atomic<std::uint64_t> round_ns_{0};
  MPI_Comm sentinel_communicator_ = MPI_COMM_NULL;
  MPI_Request sentinel_ = MPI_REQUEST_NULL;
  void (*poll_other_nodes_)() noexcept = nullptr;
  std::recursive_mutex mutex_;
  bool threaded_ = false;
  bool is_watched_ = false;
};

[[nodiscard]] inline Engine& engine() noexcept {
  // never destroyed: requests may be completed from static destructors of the application
  static Engine& instance = *new Engine;
  return instance;
}

}  // namespace penstock::interpose
