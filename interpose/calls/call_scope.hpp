// The object that every wrapper creates first. It tells the program's calls from those that an MPI library
// makes inside of another call, times the call and records it if recording is on. Knows no message protocol.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "interpose/binding/function_names.hpp"
#include "interpose/calls/progress_lock.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/record/recorder.hpp"
#include "interpose/record/trace_format.hpp"
#include "transports/host/in_call.hpp"

namespace penstock::interpose {

namespace detail {
inline constinit std::atomic<bool> is_awake{false};
/// MPI calls that this thread is in. An access costs one instruction.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::uint32_t call_depth = 0;
/// See finish_at_end_of_calls(); ordered by is_awake.
inline constinit std::atomic<unsigned> no_pieces{0};
inline constinit const std::atomic<unsigned>* unfinished_pieces = &no_pieces;
}  // namespace detail

/// Thread: the calling one only. Never throws. Inline, so that it costs only some ns with recording off.
class CallScope {
 public:
  /// `return_address`: null for what Penstock itself does inside of a call, which is no part of the
  /// recording.
  CallScope(Function function, const void* return_address) noexcept
      : in_call_(detail::call_depth == 0 && (NodeDirectory::gpu_seen() || record::is_on())),
        function_(function) {
    const bool is_outermost = detail::call_depth++ == 0;
    if (!detail::is_awake.load(std::memory_order_acquire)) [[unlikely]] {
      stand_aside_asleep();
      return;
    }
    if (!is_outermost) [[unlikely]] {
      begin_inside(return_address);
      return;
    }
    recording_ = record::is_on();
    if (recording_) begin_record(return_address);
    if (progress_lock.take()) [[unlikely]]
      at_end_ = AtEnd::give_lock;
  }
  ~CallScope() {
    if (!stands_aside_ && detail::unfinished_pieces->load(std::memory_order_relaxed) != 0) [[unlikely]]
      finish_pieces();
    if (at_end_ != AtEnd::nothing) [[unlikely]]
      end_inside_or_give_lock();
    --detail::call_depth;
    if (recording_) end_record();
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// Returns true if the MPI library makes this call inside another one, before MPI_Init and after
  /// MPI_Finalize. The wrapper then calls PMPI at once and does nothing else. False in a callback of the
  /// program's (of an attribute, an error handler, a generalised request), which the library also runs inside
  /// a call.
  [[nodiscard]] bool stands_aside() const noexcept { return stands_aside_; }
  [[nodiscard]] bool recording() const noexcept { return recording_; }
  [[nodiscard]] std::uint64_t begin_ns() const noexcept { return begin_ns_; }  ///< 0 when not recording
  [[nodiscard]] std::uint64_t call_site() const noexcept { return call_site_; }
  /// 0 before collective(), and when not recording.
  [[nodiscard]] std::uint32_t collective_ordinal() const noexcept {
    return open_ == nullptr ? 0 : open_->call.collective_ordinal;
  }

  /// Set what the record contains; each does nothing when not recording. Ranks are of `communicator`.
  void message(MPI_Comm communicator, int peer, int tag, std::uint64_t bytes) noexcept;
  void collective(MPI_Comm communicator, int root_or_minus_one, std::uint64_t bytes) noexcept;
  /// The same for the n-th call in which the members of a window meet, and one that accesses one's memory.
  void meeting(std::uint32_t window, std::uint32_t ordinal) noexcept;
  void access(std::uint32_t window, int world_rank, std::uint64_t bytes) noexcept;
  void buffer(trace::BufferKind kind) noexcept;
  void add_bytes(std::uint64_t bytes) noexcept;
  /// Notes, for whoever looks at the recording while the call lasts, that a call which sends receives, too …
  void receives_from(MPI_Comm communicator, int source, int tag) noexcept;
  /// … and which operations a call completes: their number, and when the first and the last were posted.
  void completes(std::uint32_t operations, std::uint64_t first_post_ns, std::uint64_t last_post_ns) noexcept;
  /// Returns the record of a non-blocking collective, after collective(); only when recording.
  [[nodiscard]] trace::CollectiveOperation collective_operation() const noexcept;
  /// Returns the record of one start, by this call, of a persistent collective. `initialised`: the result of
  /// collective_operation() in the call that initialised it.
  [[nodiscard]] trace::CollectiveOperation collective_start(const trace::CollectiveOperation& initialised,
                                                            std::uint32_t start) const noexcept;

 private:
  enum class AtEnd : std::uint8_t { nothing, give_lock, end_inside };

  /// Binds the MPI library in the first MPI call of the process.
  void stand_aside_asleep() noexcept;
  /// For a call inside another one of this thread, which holds the progress lock. The record of that one ends
  /// here.
  void begin_inside(const void* return_address) noexcept;
  void end_inside_or_give_lock() noexcept;
  static void finish_pieces() noexcept;
  void begin_record(const void* return_address) noexcept;
  void end_record() noexcept;

  const transports::InCall in_call_;  ///< first, as everything else happens inside the call
  std::uint64_t begin_ns_ = 0;
  std::uint64_t call_site_ = 0;
  trace::OpenCall* open_ = nullptr;  ///< has the call's record; only if recording
  Function function_;
  bool stands_aside_ = false;
  bool recording_ = false;
  AtEnd at_end_ = AtEnd::nothing;
  unsigned suspended_quiet_ = 0;  ///< of the call around; only with AtEnd::end_inside
};

/// Sets `finish_them`, which is called whenever an outermost call ends while `*pieces` is not zero. It is for
/// work that must not remain between two calls of the application. Before wake_up(); `pieces` must live for
/// ever.
void finish_at_end_of_calls(const std::atomic<unsigned>* pieces, void (*finish_them)() noexcept) noexcept;

/// For a thread of Penstock's own that calls the MPI library: wrappers reached from there stand aside.
void stand_aside_on_this_thread() noexcept;

/// Between MPI_Init and MPI_Finalize the interposer is awake; otherwise every wrapper stands aside.
void wake_up() noexcept;
void fall_asleep() noexcept;
[[nodiscard]] inline bool is_awake() noexcept {
  return detail::is_awake.load(std::memory_order_acquire);
}

}  // namespace penstock::interpose

/// Exported although the library is built with hidden visibility.
#define PENSTOCK_EXPORT extern "C" __attribute__((visibility("default")))
