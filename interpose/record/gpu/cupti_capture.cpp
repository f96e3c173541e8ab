#include "interpose/record/gpu/cupti_capture.hpp"

#include <cupti.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <span>
#include <string>
#include <thread>

#include "interpose/record/file/recording.hpp"
#include "interpose/record/file/window.hpp"
#include "interpose/record/gpu/activity_buffers.hpp"
#include "interpose/record/gpu/activity_writer.hpp"
#include "interpose/record/gpu/cuda_presence.hpp"
#include "interpose/record/gpu/cupti_library.hpp"
#include "interpose/record/gpu/traced_calls.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/background_thread.hpp"

namespace penstock::record {

namespace {

using namespace std::chrono_literals;

/// GPU activity that a killed job leaves unwritten is at most this old.
constexpr auto flush_period = 250ms;

/// A launch took 4.27 us instead of 3.42, a copy 2.96 instead of 2.29, a synchronisation 0.4 more (H200,
/// CUPTI 13.0).
constexpr std::uint64_t cost_of_traced_call_ns = 800;

constexpr CUpti_ActivityKind activity_kinds[] = {
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
};

/// Stops the tracing of all calls but these. Calls enabled one by one gave no records if CUDA had been
/// initialised before (H200, CUPTI 13.0).
void leave_only(std::span<const std::uint32_t> calls, CUptiResult (*enable)(std::uint32_t, std::uint8_t)) {
  for (std::uint32_t call = 1; call < calls_end; ++call) {
    if (!issues_work(calls, call)) enable(call, 0);
  }
}

class CuptiCapture {
 public:
  /// Returns an empty string, or why there is no capture.
  [[nodiscard]] std::string start();
  void stop() noexcept;
  [[nodiscard]] std::uint64_t traced_calls() const noexcept { return writer_.traced_calls(); }
  [[nodiscard]] bool is_running() const noexcept { return is_running_.load(std::memory_order_relaxed); }

  CuptiLibrary library;
  ActivityBuffers buffers;

 private:
  void watch_profiler();
  [[nodiscard]] std::string enable_kinds();
  /// Returns false if Penstock's own work cannot be distinguished.
  bool trace_calls_that_issue_work(bool traced) noexcept;
  [[nodiscard]] std::string refusal(const char* what, CUptiResult result) const;
  void collect() noexcept;
  void read_filled() noexcept;

  ActivityWriter writer_;
  std::thread collector_;
  std::atomic<bool> is_running_{false};
  std::atomic<bool> stopping_{false};
  std::uint64_t dropped_by_cupti_ = 0;
};

/// Never destroyed, as CUPTI may call back until the process ends.
std::atomic<CuptiCapture*> capture{nullptr};
std::atomic<bool> was_tried{false};

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = capture.load(std::memory_order_acquire)->buffers.take_empty();
  *size = ActivityBuffers::buffer_bytes;
  *most_records = 0;  // as many as fit
}

void CUPTIAPI buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                               std::size_t valid_bytes) {
  if (buffer != nullptr) capture.load(std::memory_order_acquire)->buffers.put_filled({buffer, valid_bytes});
}

std::uint64_t CUPTIAPI timestamp() {
  return now_ns();
}

/// Called in the thread that calls cuProfilerStart or cuProfilerStop, at begin and end of either. What
/// happens in the one is not in the window, nor what happens in the other.
void CUPTIAPI profiler_was_called(void*, CUpti_CallbackDomain, CUpti_CallbackId call, const void* data) {
  const bool has_ended = static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_EXIT;
  if (call == call_of_profiler_start && has_ended) window().profiler_starts(now_ns());
  if (call == call_of_profiler_stop && !has_ended) window().profiler_stops(now_ns());
}

/// Says so if it cannot: then the window never begins.
void CuptiCapture::watch_profiler() {
  if (!window().is_by_profiler()) return;
  CUpti_SubscriberHandle subscriber = nullptr;
  CUptiResult result = CUPTI_ERROR_NOT_SUPPORTED;
  if (library.subscribe != nullptr && library.enable_callback != nullptr)
    result = library.subscribe(&subscriber, profiler_was_called, nullptr);
  for (const std::uint32_t call : {call_of_profiler_start, call_of_profiler_stop}) {
    if (result == CUPTI_SUCCESS)
      result = library.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, call);
  }
  if (result != CUPTI_SUCCESS) notice("PENSTOCK_WINDOW=profiler: " + refusal("callbacks", result));
}

std::string CuptiCapture::start() {
  if (std::string why = open_cupti(library); !why.empty()) return why;
  watch_profiler();
  buffers.top_up();
  // The clock is set before any kind is enabled: earlier records would have CUPTI's realtime clock.
  CUptiResult result = library.register_timestamp_callback(timestamp);
  if (result != CUPTI_SUCCESS) return refusal("timestamp callback", result);
  result = library.register_callbacks(buffer_requested, buffer_completed);
  if (result != CUPTI_SUCCESS) return refusal("buffer callbacks", result);
  // CUPTI's own ids are the lower half of pthread_self(), which tell nobody else's records.
  if (library.set_thread_id_type != nullptr &&
      library.set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) == CUPTI_SUCCESS)
    writer_.threads_are_known();
  if (std::string why = enable_kinds(); !why.empty()) return why;

  collector_ = start_background_thread("penstock-gpu", [this] { collect(); });
  is_running_.store(true, std::memory_order_relaxed);
  return {};
}

std::string CuptiCapture::enable_kinds() {
  for (std::size_t i = 0; i < std::size(activity_kinds); ++i) {
    const CUptiResult result = library.enable(activity_kinds[i]);
    if (result == CUPTI_SUCCESS) continue;
    while (i-- > 0) library.disable(activity_kinds[i]);
    return refusal("activity", result);
  }
  if (!trace_calls_that_issue_work(true)) {
    // It is better to have no kernels than to count Penstock's as the application's.
    for (const CUpti_ActivityKind kind : activity_kinds) library.disable(kind);
    return "CUPTI traces no driver calls, so Penstock's own GPU work could not be separated from the "
           "program's";
  }
  return {};
}

/// CUPTI makes external-correlation records only for calls that it traces. Tracing every call would slow down
/// each of thousands of event queries; the calls that issue GPU work are enough.
bool CuptiCapture::trace_calls_that_issue_work(bool traced) noexcept {
  if (!traced) {
    library.disable(CUPTI_ACTIVITY_KIND_RUNTIME);
    return library.disable(CUPTI_ACTIVITY_KIND_DRIVER) == CUPTI_SUCCESS;
  }
  // The runtime of CUDA 13 launches and copies by calls of the driver that are not traced (two H200, CUPTI
  // 13.0). Without records of its own calls, the thread that launched a kernel, and when, are not known.
  if (library.enable_runtime_api != nullptr && library.enable(CUPTI_ACTIVITY_KIND_RUNTIME) == CUPTI_SUCCESS)
    leave_only(runtime_calls_that_issue_work, library.enable_runtime_api);
  if (library.enable(CUPTI_ACTIVITY_KIND_DRIVER) != CUPTI_SUCCESS) return false;
  if (library.enable_driver_api != nullptr)  // an older CUPTI has none
    leave_only(driver_calls_that_issue_work, library.enable_driver_api);
  return true;
}

std::string CuptiCapture::refusal(const char* what, CUptiResult result) const {
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    return "another tool (Nsight, a profiler) uses CUPTI in this process";
  }
  const char* text = nullptr;
  library.get_result_string(result, &text);
  return std::string("CUPTI refused: ") + what + ": " + (text == nullptr ? "unknown error" : text);
}

void CuptiCapture::collect() noexcept {
  if (Lane* lane = lane_of_this_thread()) {
    lane->belongs_to_recorder();
    lane->hold_back(recording().file().most_blocks() / 8);  // what is still missing comes later
    // before the program's threads have all of a small limit's blocks: then nothing of the GPU would be known
    static_cast<void>(lane->reserve(1));
  }
  auto next_flush = std::chrono::steady_clock::now() + flush_period;
  while (!stopping_.load(std::memory_order_acquire)) {
    buffers.wait(flush_period);
    if (std::chrono::steady_clock::now() >= next_flush) {
      library.flush_all(0);
      next_flush = std::chrono::steady_clock::now() + flush_period;
    }
    read_filled();
    buffers.top_up();
  }
  library.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  read_filled();
  is_running_.store(false, std::memory_order_relaxed);
  trace_calls_that_issue_work(false);
  for (const CUpti_ActivityKind kind : activity_kinds) library.disable(kind);
}

void CuptiCapture::read_filled() noexcept {
  std::array<FilledBuffer, ActivityBuffers::most_buffers> filled;
  const std::size_t count = buffers.take_filled(filled);
  for (const FilledBuffer& buffer : std::span(filled).first(count)) {
    CUpti_Activity* record = nullptr;
    while (library.get_next_record(buffer.begin, buffer.bytes, &record) == CUPTI_SUCCESS)
      writer_.write(*record);
    buffers.put_empty(buffer.begin);
  }
  std::size_t dropped = 0;  // since the last query
  if (library.get_dropped_records(nullptr, 0, &dropped) == CUPTI_SUCCESS) dropped_by_cupti_ += dropped;
  trace::FileHeader& header = recording().file().header();
  std::atomic_ref<std::uint64_t>(header.dropped_gpu_records).store(dropped_by_cupti_ + writer_.incomplete());
  std::atomic_ref<std::uint64_t>(header.clock_error_ns)
      .store(gpu_is_simulated ? 0 : writer_.clock_error_ns());  // the simulated GPU has the host's clock
}

void CuptiCapture::stop() noexcept {
  stopping_.store(true, std::memory_order_release);
  buffers.wake();
  if (collector_.joinable()) collector_.join();
}

}  // namespace

void start_cupti_capture() noexcept try {
  if (was_tried.exchange(true)) return;
  auto* const started = new CuptiCapture;
  capture.store(started, std::memory_order_release);
  const std::string why = started->start();
  if (why.empty()) {
    recording().add_features(trace::feature::kernels);
    std::atexit(stop_cupti_capture);  // for programs that end without MPI_Finalize
  } else {
    notice("GPU activity is not recorded: " + why);
    recording().explain("GPU activity: " + why);
  }
} catch (...) {
  notice("GPU activity is not recorded: out of memory");
}

void stop_cupti_capture() noexcept {
  CuptiCapture* running = capture.load(std::memory_order_acquire);
  if (running != nullptr && recording().file().belongs_to_this_process()) running->stop();
}

std::uint64_t cupti_cost_ns() noexcept {
  const CuptiCapture* const started = capture.load(std::memory_order_acquire);
  return started == nullptr || gpu_is_simulated ? 0 : started->traced_calls() * cost_of_traced_call_ns;
}

const CuptiLibrary* cupti_in_use() noexcept {
  const CuptiCapture* running = capture.load(std::memory_order_acquire);
  return running != nullptr && running->is_running() ? &running->library : nullptr;
}

}  // namespace penstock::record
