#include <array>
#include <atomic>
#include <cstring>
#include <new>

#include "transports/cuda/context.hpp"
#include "transports/cuda/driver.hpp"
#include "transports/device_memory/host_access.hpp"
#include "transports/device_memory/host_ranges.hpp"
#include "transports/host/callers_mutex.hpp"
#include "transports/host/in_call.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports {
namespace {

/// The driver's results, each in a word of its own: attributes have types of one to eight bytes, and those
/// that do not apply stay zero.
template <std::size_t count>
class Attributes {
 public:
  /// Uses the plural query, which, unlike the singular one, does not fail (slowly) for pointers that the
  /// driver does not know.
  Attributes(const cuda::Driver& driver, const void* pointer,
             std::array<CUpointer_attribute, count> names) noexcept {
    std::array<void*, count> places{};
    for (std::size_t i = 0; i < count; ++i) places[i] = &words_[i];
    known_ = driver.cuPointerGetAttributes(count, names.data(), places.data(),
                                           reinterpret_cast<CUdeviceptr>(pointer)) == CUDA_SUCCESS;
  }

  template <class Type>
  [[nodiscard]] Type get(std::size_t index) const noexcept {
    Type value{};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): some answers are handles, which are pointers
    if (known_) std::memcpy(&value, &words_[index], sizeof(Type));
    return value;
  }

 private:
  std::array<std::uint64_t, count> words_{};
  bool known_ = false;
};

bool is_mapped_by_virtual_memory_management(const cuda::Driver& driver, const void* pointer) noexcept {
  if (driver.cuMemRetainAllocationHandle == nullptr || driver.cuMemRelease == nullptr) return false;
  CUmemGenericAllocationHandle handle = 0;
  if (driver.cuMemRetainAllocationHandle(&handle, const_cast<void*>(pointer)) != CUDA_SUCCESS) return false;
  driver.cuMemRelease(handle);
  return true;
}

/// The allocations met last by this thread. For cudaMalloc's memory, one cheap query shows that nothing has
/// changed, since a buffer id is never used again. Within one MPI call no second query is needed, unless
/// other threads are in calls meanwhile: this thread may move their messages, and once one has arrived its
/// owner may free the buffer. Plain data in the static TLS block.
struct KnownBuffers {
  static constexpr std::size_t count = 4;
  struct Known {
    Buffer buffer;
    std::uint64_t call = 0;  ///< number_of_call() when it was last seen to exist
  };
  std::array<Known, count> all{};
  std::size_t next = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local KnownBuffers known_buffers;

/// Returns null if the pointer lies in none of them, or not any more.
const Buffer* find_known(const cuda::Driver& driver, const void* pointer) noexcept {
  const std::uint64_t call = callers_take_turns() ? number_of_call() : 0;
  const auto address = reinterpret_cast<CUdeviceptr>(pointer);
  for (KnownBuffers::Known& known : known_buffers.all) {
    if (address - known.buffer.range_base >= known.buffer.range_bytes) continue;
    if (call != 0 && known.call == call) return &known.buffer;
    const Attributes<1> attributes(driver, pointer, {CU_POINTER_ATTRIBUTE_BUFFER_ID});
    if (attributes.get<std::uint64_t>(0) == known.buffer.buffer_id) {
      known.call = call;
      return &known.buffer;
    }
    known = {};
  }
  return nullptr;
}

void remember(const Buffer& buffer) noexcept {
  if (buffer.kind != BufferKind::device || buffer.buffer_id == 0) return;
  known_buffers.all[known_buffers.next++ % KnownBuffers::count] = {buffer, number_of_call()};
}

/// The addresses that this thread last found to be host memory, and the MPI call in which it did: a call's
/// own buffers stay what they are until it returns. While recording, a call checks twice, and an exchange has
/// two buffers. Plain data in the static TLS block.
struct HostAnswers {
  static constexpr std::size_t count = 2;
  struct Answer {
    const void* pointer = nullptr;
    std::uint64_t call = 0;  ///< number_of_call() of the check
  };
  std::array<Answer, count> all{};
  std::size_t next = 0;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local HostAnswers host_answers;

bool was_host_in_this_call(const void* pointer) noexcept {
  const std::uint64_t call = number_of_call();
  if (call == 0) return false;
  for (const HostAnswers::Answer& answer : host_answers.all) {
    if (answer.pointer == pointer && answer.call == call) return true;
  }
  return false;
}

void remember_as_host(const void* pointer) noexcept {
  host_answers.all[host_answers.next++ % HostAnswers::count] = {pointer, number_of_call()};
}

Buffer inspect(const cuda::Driver& driver, const void* pointer) noexcept {
  if (const Buffer* known = find_known(driver, pointer)) {
    Buffer buffer = *known;
    buffer.pointer = const_cast<void*>(pointer);
    return buffer;
  }
  const Attributes<9> attributes(
      driver, pointer,
      {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_CONTEXT,
       CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_BUFFER_ID,
       CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
       CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER});
  Buffer buffer;
  buffer.pointer = const_cast<void*>(pointer);
  const auto type = attributes.get<unsigned>(0);
  const bool managed = attributes.get<std::uint8_t>(1) != 0;
  if (type == CU_MEMORYTYPE_HOST && !managed) {
    buffer.kind = BufferKind::pinned;
    // some devices address registered memory otherwise than the host does: kernels are kept from it
    if (attributes.get<const void*>(8) == pointer) {
      buffer.range_base = attributes.get<CUdeviceptr>(6);
      buffer.range_bytes = attributes.get<std::size_t>(7);
    }
  }
  if (type != CU_MEMORYTYPE_DEVICE && !managed) {
    if (type != CU_MEMORYTYPE_HOST && !cuda::host_can_access(pointer)) buffer.kind = BufferKind::unknown;
    return buffer;
  }

  if (!managed) cuda::note_device_address(pointer);
  buffer.context = attributes.get<CUcontext>(2);
  buffer.device = attributes.get<int>(3);
  buffer.buffer_id = attributes.get<std::uint64_t>(4);
  buffer.range_base = attributes.get<CUdeviceptr>(6);
  buffer.range_bytes = attributes.get<std::size_t>(7);
  if (managed) {
    buffer.kind = BufferKind::managed;
  } else if (attributes.get<CUmemoryPool>(5) != nullptr) {
    buffer.kind = BufferKind::async_pool;
  } else if (buffer.context == nullptr && is_mapped_by_virtual_memory_management(driver, pointer)) {
    buffer.kind = BufferKind::virtual_memory;
  } else {
    buffer.kind = BufferKind::device;
  }
  try {
    // memory of pools and virtual memory belongs to no context
    if (buffer.context == nullptr && buffer.device >= 0)
      buffer.context = cuda::Context::handle_on(buffer.device);
  } catch (const std::bad_alloc&) {
    // still known to be device memory; its copy meets the lack of memory again
  }
  remember(buffer);
  return buffer;
}

}  // namespace

const char* name_of(BufferKind kind) noexcept {
  switch (kind) {
    case BufferKind::unknown:
      return "unknown";
    case BufferKind::pageable:
      return "pageable";
    case BufferKind::pinned:
      return "pinned";
    case BufferKind::device:
      return "device";
    case BufferKind::async_pool:
      return "async pool";
    case BufferKind::virtual_memory:
      return "virtual memory";
    case BufferKind::managed:
      return "managed";
  }
  return "unknown";
}

Buffer inspect(const void* pointer) noexcept {
  Buffer unknown_to_cuda;
  unknown_to_cuda.pointer = const_cast<void*>(pointer);
  const cuda::Driver* driver = pointer == nullptr ? nullptr : cuda::driver();
  return driver == nullptr ? unknown_to_cuda : inspect(*driver, pointer);
}

bool is_on_device(const void* pointer) noexcept {
  if (pointer == nullptr || cuda::is_surely_host(pointer) || was_host_in_this_call(pointer)) return false;
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr) return false;
  if (find_known(*driver, pointer) != nullptr) return true;
  const Attributes<2> attributes(*driver, pointer,
                                 {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED});
  const auto type = attributes.get<unsigned>(0);
  if (attributes.get<std::uint8_t>(1) != 0) return true;
  if (type == CU_MEMORYTYPE_DEVICE) {
    cuda::note_device_address(pointer);
    return true;
  }
  if (type != CU_MEMORYTYPE_HOST && !cuda::host_can_access(pointer)) return true;
  remember_as_host(pointer);
  return false;
}

}  // namespace penstock::transports
