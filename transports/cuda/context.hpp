// The state that Penstock keeps in each CUDA context that it meets: a few streams of its own, events for
// reuse, and flags that kernels write. Contexts are the application's and may be destroyed at any moment;
// their ids distinguish a context from a later one at the same address. Knows neither transports nor
// messages.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "transports/cuda/driver.hpp"
#include "transports/cuda/flag_page.hpp"
#include "transports/host/callers_mutex.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports::cuda {

class Context;
class Event;
using ContextRef = std::shared_ptr<Context>;

/// The uses of streams; streams of different uses never wait for each other. All but `beside_capture` are
/// non-blocking streams.
enum class StreamUse : std::uint8_t {
  pull_0,
  pull_1,
  pull_2,
  pull_3,
  download,
  upload,
  blocking_download,  ///< for callers that wait in place: never behind work that is not done
  blocking_upload,    ///< the same
  blocking_in_order,  ///< for callers that wait for the application's work, too
  relay,
  order,
  resident,
  reduction,
  one_shot,         ///< kernels that wait for those of other processes, which have arrived
  one_shot_beside,  ///< the same, while others may not have arrived
  layout_tables,    ///< never waits for the application
  beside_capture
};
inline constexpr std::size_t stream_uses = 17;

/// Owns its streams, idle events and flags. Thread: any. Methods that make CUDA objects need the context to
/// be current (ContextScope).
class Context {
 public:
  // The references that these three return stay valid until the MPI call is over and beyond, unless the
  // context dies. A caller that keeps one longer takes a copy.

  /// Returns the context of that handle; null if it is dead or there is no driver.
  [[nodiscard]] static const ContextRef& of(CUcontext handle);
  /// Returns the context to copy a buffer in: the buffer's own, or for host memory any().
  [[nodiscard]] static const ContextRef& of(const Buffer& buffer);
  /// Returns a context that the process already has: on `device` if possible (-1: no preference), else the
  /// thread's current one, else any seen or active. Makes none; null if there is none.
  [[nodiscard]] static const ContextRef& any(int device = -1);
  /// Returns the contexts that were met so far, some of which may be gone. Errors: std::bad_alloc.
  [[nodiscard]] static std::vector<ContextRef> met();
  /// Returns false if the driver, before it unmaps or frees memory, would wait for work of the application or
  /// for kernels of Penstock's that wait for other processes, as far as can be told: streams of the
  /// application that do not wait for the legacy stream are not seen. False also while a legacy stream must
  /// not be queried. Never waits. Cost: some queries.
  [[nodiscard]] static bool all_are_quiet() noexcept;
  /// Returns the context of a device for memory that belongs to none (async pools, VMM): the thread's current
  /// one if it is of that device, else the primary one if it is active, else one seen on the device, else the
  /// primary one, which is made and kept until drop_all().
  [[nodiscard]] static CUcontext handle_on(int device);
  /// Waits for what is queued on Penstock's streams, at most `timeout_ms` in all, and frees everything.
  static void drop_all(int timeout_ms) noexcept;

  Context(CUcontext handle, unsigned long long id, int device) noexcept
      : handle_(handle), id_(id), device_(device) {}
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] CUcontext handle() const noexcept { return handle_; }
  [[nodiscard]] unsigned long long id() const noexcept { return id_; }
  [[nodiscard]] int device() const noexcept { return device_; }
  [[nodiscard]] bool is_alive() const noexcept;
  /// The last time when the application's streams were seen idle (steady clock, ns): work queued before it is
  /// done. 0: never seen.
  [[nodiscard]] std::uint64_t idle_at_ns() const noexcept {
    return idle_at_ns_.load(std::memory_order_acquire);
  }
  void note_idle(std::uint64_t at_ns) noexcept { idle_at_ns_.store(at_ns, std::memory_order_release); }
  /// Notes that work queued before that time is done, unless a later time is noted already.
  void note_idle_since(std::uint64_t at_ns) noexcept {
    if (idle_at_ns() < at_ns) note_idle(at_ns);
  }

  /// True if Penstock's kernels have been loaded into the context (kernels.hpp).
  [[nodiscard]] bool has_kernels() const noexcept { return has_kernels_.load(std::memory_order_relaxed); }
  void note_kernels() noexcept { has_kernels_.store(true, std::memory_order_relaxed); }

  /// Returns the stream of that use; makes it on first use. The work of `beside_capture` waits for the legacy
  /// stream's, which may not be touched itself while the application captures one of its blocking streams.
  [[nodiscard]] Status stream(StreamUse use, CUstream& stream) noexcept;
  /// Finds out at such a time whether the legacy stream has done the work that it was given before
  /// `since_ns`. Polls for some 20 µs; to be called until `done`. Errors: it cannot be found out.
  [[nodiscard]] Status ask_beside_capture(std::uint64_t since_ns, bool& done) noexcept;
  /// Returns the pull streams in turn, so that pulls from different peers run side by side.
  [[nodiscard]] Status next_pull_stream(CUstream& stream) noexcept;
  /// Takes an idle event or makes one (no timing).
  [[nodiscard]] static Status take_event(const ContextRef& context, Event& event) noexcept;
  /// Returns the context's page of completion flags, which lives as long as the context.
  [[nodiscard]] Status flags(const FlagPage*& page) noexcept;

 private:
  friend class Event;
  [[nodiscard]] bool is_quiet() noexcept;
  /// As of(handle), by querying the driver.
  [[nodiscard]] static const ContextRef& find(CUcontext handle);
  void give_back(CUevent event) noexcept;

  CUcontext handle_;
  unsigned long long id_;  ///< cuCtxGetId; 0 if the driver has none
  int device_;
  std::atomic<unsigned> turn_{0};
  mutable std::atomic<std::uint64_t> seen_alive_in_{0};  ///< number_of_call() of the program's only thread
  std::atomic<std::uint64_t> idle_at_ns_{0};
  std::atomic<bool> has_kernels_{false};
  CallersMutex mutex_;
  std::array<CUstream, stream_uses> streams_{};
  std::vector<CUevent> idle_events_;
  /// Behind the legacy stream's work, recorded at that time (steady clock, ns; 0: not pending).
  CUevent mark_ = nullptr;
  std::uint64_t marked_ns_ = 0;
  std::optional<FlagPage> flags_;
};

/// While it lives, CUDA calls of this thread are allowed beside stream captures of the application and do not
/// spoil them (relaxed capture mode). Thread: the calling one.
class CaptureScope {
 public:
  CaptureScope() noexcept { exchange(); }
  ~CaptureScope() { exchange(); }
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;

 private:
  void exchange() noexcept;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

/// True while the legacy stream may not be touched: the application captures a blocking stream of the current
/// context, and a touch would spoil its graph.
[[nodiscard]] bool legacy_stream_is_captured(const Driver& driver) noexcept;

/// Makes a context current on this thread while it lives, and holds a CaptureScope. Thread: the calling one.
class ContextScope {
 public:
  explicit ContextScope(const Context& context) noexcept;
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  [[nodiscard]] Status status() const noexcept { return status_; }

 private:
  CaptureScope capture_;
  bool pushed_ = false;
  Status status_;
};

/// An event on loan from its context. Owns the loan. Thread: one at a time.
class Event {
 public:
  Event() noexcept = default;
  Event(ContextRef context, CUevent handle) noexcept : context_(std::move(context)), handle_(handle) {}
  Event(Event&& other) noexcept;
  Event& operator=(Event&& other) noexcept;
  ~Event();

  [[nodiscard]] CUevent handle() const noexcept { return handle_; }
  [[nodiscard]] const ContextRef& context() const noexcept { return context_; }
  [[nodiscard]] explicit operator bool() const noexcept { return handle_ != nullptr; }
  [[nodiscard]] Status record(CUstream stream) noexcept;
  /// Sets `done` once the recorded work is done. An error is the work's own, or its context is gone.
  [[nodiscard]] Status query(bool& done) const noexcept;
  /// Polls until the work is done: spins a little, then yields the core.
  [[nodiscard]] Status wait() const noexcept;

 private:
  ContextRef context_;
  CUevent handle_ = nullptr;
};

}  // namespace penstock::transports::cuda
