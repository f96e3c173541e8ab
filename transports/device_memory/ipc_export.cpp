#include "transports/device_memory/ipc_export.hpp"

#include <mutex>
#include <unordered_map>

#include "transports/cuda/context.hpp"
#include "transports/host/callers_mutex.hpp"

namespace penstock::transports::cuda {
namespace {

struct Known {
  Export outcome;
  unsigned questions = 0;  ///< lookups that it has served
};

/// Buffer ids are never used twice in a process, so a handle cannot become wrong, only useless. A refusal can
/// become wrong: the driver may have been short of memory at that moment.
struct Exports {
  CallersMutex mutex;
  std::unordered_map<std::uint64_t, Known> by_buffer_id;
};

Exports& exports() {
  static auto* const instance = new Exports;
  return *instance;
}

Export ask_driver(const Buffer& buffer) {
  Export result;
  const Driver* driver = cuda::driver();
  const ContextRef context = Context::of(buffer);
  if (driver == nullptr || context == nullptr) {
    result.why_not = "sender's CUDA context is gone";
    return result;
  }
  const ContextScope scope(*context);
  result.error = driver->cuIpcGetMemHandle(&result.handle, buffer.range_base);
  if (result.error != CUDA_SUCCESS) {
    result.why_not = "the driver refused to export the sender's memory";
  }
  return result;
}

}  // namespace

Export export_range(const Buffer& buffer) {
  constexpr std::size_t most_remembered = 1024;
  constexpr unsigned refused_to = 64;  // lookups, each for a payload; the driver takes some microseconds
  // A handle of legacy IPC stands for one cudaMalloc. Other kinds are not even tried: a driver that exported
  // a range of several chunks would export its first chunk only.
  switch (buffer.kind) {
    case BufferKind::device:
      break;
    case BufferKind::async_pool:
      return {{}, "sender's memory is from an async pool and cannot be exported"};
    case BufferKind::virtual_memory:
      return {{}, "sender's memory is mapped by cuMemMap and cannot be exported"};
    case BufferKind::managed:
      return {{}, "sender's memory is managed and cannot be exported"};
    case BufferKind::pinned:
    case BufferKind::pageable:
    case BufferKind::unknown:
      return {{}, "sender's memory is host memory"};
  }
  if (buffer.buffer_id == 0 || buffer.range_base == 0)
    return {{}, "sender's allocation is unknown to the driver"};
  Exports& all = exports();
  {
    const std::lock_guard lock(all.mutex);
    const auto known = all.by_buffer_id.find(buffer.buffer_id);
    if (known != all.by_buffer_id.end()) {
      const bool is_refusal = known->second.outcome.why_not != nullptr;
      if (!is_refusal || ++known->second.questions < refused_to) return known->second.outcome;
    }
  }
  const Export result = ask_driver(buffer);
  const std::lock_guard lock(all.mutex);
  if (all.by_buffer_id.size() >= most_remembered) all.by_buffer_id.clear();  // costs one driver call each
  all.by_buffer_id.insert_or_assign(buffer.buffer_id, Known{result});
  return result;
}

}  // namespace penstock::transports::cuda
