// Events. Within a process one is a point in a stream's work; an interprocess one is also two counters in a
// shared page (times recorded, times reached), which other processes poll.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>

#include "activity.hpp"
#include "call.hpp"
#include "capture.hpp"
#include "context.hpp"
#include "physical_memory.hpp"
#include "poll.hpp"
#include "registry.hpp"

namespace simulated_gpu {
namespace {

/// In a page that processes share.
struct SharedCounters {
  std::atomic<std::uint64_t> recorded;
  std::atomic<std::uint64_t> reached;
};

/// Owns: its descriptor and mapping.
class SharedPage {
 public:
  explicit SharedPage(int file) : file_(file) {
    require(file_ >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    void* page = ftruncate(file_, sizeof(SharedCounters)) != 0
                     ? MAP_FAILED
                     : mmap(nullptr, sizeof(SharedCounters), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (page == MAP_FAILED) close(file_);
    require(page != MAP_FAILED, CUDA_ERROR_MAP_FAILED);
    counters_ = static_cast<SharedCounters*>(page);
  }
  ~SharedPage() {
    munmap(counters_, sizeof(SharedCounters));
    close(file_);
  }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;

  [[nodiscard]] int file() const noexcept { return file_; }
  [[nodiscard]] SharedCounters& counters() const noexcept { return *counters_; }

 private:
  int file_;
  SharedCounters* counters_ = nullptr;
};

void mark_reached(SharedCounters& counters, std::uint64_t number) {
  std::uint64_t reached = counters.reached.load();
  while (reached < number && !counters.reached.compare_exchange_weak(reached, number)) {
  }
}

struct Event {
  Context& context;
  bool timed;
  std::shared_ptr<SharedPage> page;  // interprocess events only
  unsigned id;

  std::mutex mutex;                                     // point, time
  WorkPoint point;                                      // last record in this process
  std::shared_ptr<std::atomic<std::uint64_t>> time_ns;  // of that record; null before the first
};

Registry<Event, CUevent>& events() {
  static auto& all = *new Registry<Event, CUevent>;
  return all;
}

CUevent add_event(unsigned flags, std::shared_ptr<SharedPage> page) {
  static std::atomic<unsigned> last_id{0};
  const bool timed = (flags & CU_EVENT_DISABLE_TIMING) == 0;
  return events().add(
      std::shared_ptr<Event>(new Event{current_context(), timed, std::move(page), ++last_id, {}, {}, {}}));
}

void record(Event& event, Stream& stream) {
  require(&event.context == &stream.context(), CUDA_ERROR_INVALID_HANDLE);
  const std::scoped_lock lock(event.mutex);
  event.time_ns = std::make_shared<std::atomic<std::uint64_t>>(0);
  const std::uint64_t number = event.page == nullptr ? 0 : event.page->counters().recorded.fetch_add(1) + 1;
  event.point = stream.submit([time = event.time_ns, page = event.page, number] {
    *time = monotonic_ns();
    if (page != nullptr) mark_reached(page->counters(), number);
  });
}

WorkPoint point_of(Event& event) {
  const std::scoped_lock lock(event.mutex);
  return event.point;
}

/// True once everything recorded before the call has been reached.
class Reached {
 public:
  explicit Reached(Event& event) : point_(point_of(event)), page_(event.page) {
    if (page_ != nullptr) number_ = page_->counters().recorded.load();
  }
  bool operator()() const {
    return page_ == nullptr ? point_.reached() : page_->counters().reached.load() >= number_;
  }
  void wait() const {
    if (page_ == nullptr) {
      point_.wait();
    } else {
      poll_until(*this);
    }
  }

 private:
  WorkPoint point_;
  std::shared_ptr<SharedPage> page_;
  std::uint64_t number_ = 0;
};

std::uint64_t time_of(Event& event) {
  const std::scoped_lock lock(event.mutex);
  require(event.timed && event.time_ns != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return *event.time_ns;
}

/// What an event's IPC handle says. Another process's word: checked by inode when opened.
struct EventTicket {
  char magic[8];
  std::int64_t process;
  std::int64_t file;
  std::uint64_t inode;
};
static_assert(sizeof(EventTicket) <= sizeof(CUipcEventHandle));
constexpr char event_magic[8] = {'s', 'i', 'm', 'e', 'v', 'e', 'n', 't'};

}  // namespace
}  // namespace simulated_gpu

using namespace simulated_gpu;

CUresult cuEventCreate(CUevent* handle, unsigned flags) {
  return driver_call(__func__, [&] {
    constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    const bool interprocess = (flags & CU_EVENT_INTERPROCESS) != 0;
    require(handle != nullptr && (flags & ~known) == 0, CUDA_ERROR_INVALID_VALUE);
    require(!interprocess || (flags & CU_EVENT_DISABLE_TIMING) != 0, CUDA_ERROR_INVALID_VALUE);
    std::shared_ptr<SharedPage> page;
    if (interprocess) page = std::make_shared<SharedPage>(memfd_create("simulated_gpu_event", MFD_CLOEXEC));
    *handle = add_event(flags, std::move(page));
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy(CUevent handle) {
  return driver_call(__func__, [&] {
    events().take(handle);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventRecord(CUevent handle, CUstream stream) {
  return driver_call(__func__, [&] {
    record(*events().get(handle), *stream_of(stream));
    return CUDA_SUCCESS;
  });
}

CUresult cuEventQuery(CUevent handle) {
  return driver_call(__func__, [&] {
    refuse_unsafe_call();
    return Reached(*events().get(handle))() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return driver_call(__func__, [&] {
    const auto event = events().get(handle);
    const WaitActivity activity(SIMULATED_GPU_WAIT_EVENT, event->context, 0, event->id);
    Reached(*event).wait();
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned flags) {
  return driver_call(__func__, [&] {
    require(flags == CU_EVENT_WAIT_DEFAULT, CUDA_ERROR_INVALID_VALUE);
    const auto stream = stream_of(handle);
    const auto event = events().get(event_handle);
    const WaitActivity activity(SIMULATED_GPU_WAIT_STREAM_FOR_EVENT, stream->context(), stream->id(),
                                event->id);
    if (event->page == nullptr) {
      stream->submit([] {}, {point_of(*event)});
    } else {
      stream->submit([reached = Reached(*event)] { reached.wait(); });
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  return driver_call(__func__, [&] {
    require(milliseconds != nullptr, CUDA_ERROR_INVALID_VALUE);
    const std::uint64_t start = time_of(*events().get(start_handle));
    const std::uint64_t end = time_of(*events().get(end_handle));
    if (start == 0 || end == 0) return CUDA_ERROR_NOT_READY;
    *milliseconds = static_cast<float>(static_cast<std::int64_t>(end - start)) * 1e-6f;
    return CUDA_SUCCESS;
  });
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event_handle) {
  return driver_call(__func__, [&] {
    require(handle != nullptr, CUDA_ERROR_INVALID_VALUE);
    const auto event = events().get(event_handle);
    require(event->page != nullptr, CUDA_ERROR_INVALID_HANDLE);
    EventTicket ticket{};
    std::memcpy(ticket.magic, event_magic, sizeof ticket.magic);
    ticket.process = getpid();
    ticket.file = event->page->file();
    ticket.inode = inode_of(event->page->file());
    *handle = {};
    std::memcpy(handle, &ticket, sizeof ticket);
    return CUDA_SUCCESS;
  });
}

CUresult cuIpcOpenEventHandle(CUevent* handle, CUipcEventHandle received) {
  return driver_call(__func__, [&] {
    require(handle != nullptr, CUDA_ERROR_INVALID_VALUE);
    EventTicket ticket{};
    std::memcpy(&ticket, &received, sizeof ticket);
    require(std::memcmp(ticket.magic, event_magic, sizeof ticket.magic) == 0, CUDA_ERROR_INVALID_HANDLE);
    require(ticket.process != getpid(), CUDA_ERROR_INVALID_CONTEXT);
    const int file = open_file_of(ticket.process, static_cast<int>(ticket.file), ticket.inode);
    require(file >= 0, CUDA_ERROR_INVALID_HANDLE);
    *handle = add_event(CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS, std::make_shared<SharedPage>(file));
    return CUDA_SUCCESS;
  });
}
