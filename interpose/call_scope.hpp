// What every wrapper opens first: counts nesting (an MPI library may call MPI_* from inside MPI_*), times the
// call and records it when recording is on. Knows no message protocol.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>

#include "interpose/function_names.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::interpose {

/// Thread: the calling one only. Never throws. With recording off it costs a thread-local increment.
class CallScope {
 public:
  CallScope(Function function, const void* return_address) noexcept;
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// True inside another MPI call of this thread, before MPI_Init and after MPI_Finalize: the wrapper then
  /// calls PMPI at once and does nothing else.
  [[nodiscard]] bool stands_aside() const noexcept { return stands_aside_; }
  [[nodiscard]] bool recording() const noexcept { return recording_; }
  [[nodiscard]] std::uint64_t begin_ns() const noexcept { return begin_ns_; }  ///< 0 when not recording
  [[nodiscard]] std::uint64_t call_site() const noexcept { return call_site_; }

  /// What the record shall say; each does nothing when not recording. Ranks are of `communicator`.
  void message(MPI_Comm communicator, int peer, int tag, std::uint64_t bytes) noexcept;
  void collective(MPI_Comm communicator, int root_or_minus_one, std::uint64_t bytes) noexcept;
  void buffer(trace::BufferKind kind) noexcept;
  void add_bytes(std::uint64_t bytes) noexcept;

 private:
  std::uint64_t begin_ns_ = 0;
  std::uint64_t call_site_ = 0;
  trace::MpiCall record_{};
  Function function_;
  bool is_outermost_ = false;
  bool stands_aside_ = false;
  bool recording_ = false;
  bool has_turn_ = false;  ///< Turn
};

/// When an outermost call ends while `*pieces` is not zero, `finish` is called: for work that must not be
/// left between two calls of the application. Before wake_up(); `pieces` lives for ever.
void finish_at_end_of_calls(const std::atomic<unsigned>* pieces, void (*finish)() noexcept) noexcept;

/// For a thread of Penstock's own that calls the MPI library: wrappers that it reaches from there stand
/// aside.
void stand_aside_on_this_thread() noexcept;

/// Between MPI_Init and MPI_Finalize the interposer is awake; else every wrapper stands aside.
void wake_up() noexcept;
void fall_asleep() noexcept;
[[nodiscard]] bool is_awake() noexcept;

}  // namespace penstock::interpose

/// Exported although the library is built with hidden visibility.
#define PENSTOCK_EXPORT extern "C" __attribute__((visibility("default")))
