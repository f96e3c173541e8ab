// Copies and fills. All become strided copies on a stream; which of them make the caller wait follows
// NVIDIA's rules: synchronous ones do unless both sides are on a device or few bytes come from pageable host
// memory, asynchronous ones only for pageable host memory.
#include <cstring>
#include <memory>
#include <vector>

#include "activity.hpp"
#include "call.hpp"
#include "cupti_kinds.hpp"
#include "memory.hpp"

namespace simulated_gpu {
namespace {

enum class Wait { as_synchronous, as_asynchronous };

/// One side of a copy: where its bytes are and what kind of memory that is.
struct Side {
  Address address = 0;
  std::size_t row_stride = 0;
  std::size_t plane_stride = 0;
};

struct Extent {
  std::size_t row_bytes = 0;
  std::size_t rows = 1;
  std::size_t planes = 1;

  [[nodiscard]] bool empty() const noexcept { return row_bytes == 0 || rows == 0 || planes == 0; }
  [[nodiscard]] std::size_t bytes() const noexcept { return row_bytes * rows * planes; }
  [[nodiscard]] std::size_t span(const Side& side) const noexcept {
    return (planes - 1) * side.plane_stride + (rows - 1) * side.row_stride + row_bytes;
  }
};

bool lives_on_device(const AllocationRef& allocation) {
  return allocation != nullptr && !is_host_accessible(allocation->kind);
}

SimulatedGpuActivity describe_copy(const AllocationRef& destination, const AllocationRef& source,
                                   std::size_t bytes, Wait wait) {
  SimulatedGpuActivity activity{};
  const bool between_devices =
      lives_on_device(source) && lives_on_device(destination) && source->device != destination->device;
  activity.kind = between_devices ? SIMULATED_GPU_PEER_COPY : SIMULATED_GPU_COPY;
  activity.bytes = bytes;
  activity.source_kind = cupti_memory_kind(source.get());
  activity.destination_kind = cupti_memory_kind(destination.get());
  activity.source_device = source == nullptr ? 0 : static_cast<std::uint32_t>(source->device->ordinal);
  activity.destination_device =
      destination == nullptr ? 0 : static_cast<std::uint32_t>(destination->device->ordinal);
  activity.is_async = wait == Wait::as_asynchronous;
  return activity;
}

/// Up to so many bytes of pageable host memory are kept by the driver, which then lets the caller go on
/// before they are on the device: other streams than the copy's must wait for it.
constexpr std::size_t most_kept_bytes = 64 << 10;

CUresult copy_kept(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes,
                   const SimulatedGpuActivity& activity) {
  for (const WorkPoint& point : stream.last()) point.wait();
  const auto kept = std::make_shared<std::vector<std::byte>>(from, from + bytes);
  submit_observed(stream, activity, [=] { std::memcpy(to, kept->data(), kept->size()); });
  return CUDA_SUCCESS;
}

CUresult copy(Stream& stream, const Side& destination, const Side& source, const Extent& extent, Wait wait) {
  if (extent.empty()) return CUDA_SUCCESS;
  require(destination.address != 0 && source.address != 0, CUDA_ERROR_INVALID_VALUE);
  std::byte* const to = accessible(destination.address, extent.span(destination));
  const std::byte* const from = accessible(source.address, extent.span(source));
  const AllocationRef to_memory = find_allocation(destination.address);
  const AllocationRef from_memory = find_allocation(source.address);
  const SimulatedGpuActivity activity = describe_copy(to_memory, from_memory, extent.bytes(), wait);
  if (wait == Wait::as_synchronous && from_memory == nullptr && lives_on_device(to_memory) &&
      extent.rows == 1 && extent.planes == 1 && extent.row_bytes <= most_kept_bytes)
    return copy_kept(stream, to, from, extent.row_bytes, activity);
  const auto work = [=] {
    for (std::size_t plane = 0; plane < extent.planes; ++plane) {
      for (std::size_t row = 0; row < extent.rows; ++row) {
        std::memmove(to + plane * destination.plane_stride + row * destination.row_stride,
                     from + plane * source.plane_stride + row * source.row_stride, extent.row_bytes);
      }
    }
  };
  const bool pageable = to_memory == nullptr || from_memory == nullptr;
  const bool on_devices = lives_on_device(to_memory) && lives_on_device(from_memory);
  if (wait == Wait::as_asynchronous ? pageable : !on_devices)
    perform_observed(stream, activity, work);
  else
    submit_observed(stream, activity, work);
  return CUDA_SUCCESS;
}

CUresult copy(Stream& stream, Address destination, Address source, std::size_t bytes, Wait wait) {
  return copy(stream, Side{destination}, Side{source}, Extent{bytes}, wait);
}

Address address_of(const void* pointer) {
  return reinterpret_cast<Address>(pointer);
}

/// Where NVIDIA's description of one side of a 2D or 3D copy starts.
Side side_of(CUmemorytype type, const void* host, CUdeviceptr device, std::size_t x_bytes, std::size_t y,
             std::size_t z, std::size_t pitch, std::size_t plane_rows, std::size_t row_bytes) {
  require(type != CU_MEMORYTYPE_ARRAY, CUDA_ERROR_NOT_SUPPORTED);
  require(pitch == 0 || pitch >= x_bytes + row_bytes, CUDA_ERROR_INVALID_VALUE);
  const Address base = type == CU_MEMORYTYPE_HOST ? address_of(host) : device;
  const std::size_t plane = pitch * plane_rows;
  return {base + z * plane + y * pitch + x_bytes, pitch, plane};
}

CUresult copy_2d(Stream& stream, const CUDA_MEMCPY2D* what, Wait wait) {
  require(what != nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::size_t width = what->WidthInBytes;
  return copy(stream,
              side_of(what->dstMemoryType, what->dstHost, what->dstDevice, what->dstXInBytes, what->dstY, 0,
                      what->dstPitch == 0 ? width : what->dstPitch, 0, width),
              side_of(what->srcMemoryType, what->srcHost, what->srcDevice, what->srcXInBytes, what->srcY, 0,
                      what->srcPitch == 0 ? width : what->srcPitch, 0, width),
              {width, what->Height, 1}, wait);
}

CUresult copy_3d(Stream& stream, const CUDA_MEMCPY3D* what, Wait wait) {
  require(what != nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::size_t width = what->WidthInBytes;
  const auto or_else = [](std::size_t given, std::size_t otherwise) {
    return given == 0 ? otherwise : given;
  };
  return copy(
      stream,
      side_of(what->dstMemoryType, what->dstHost, what->dstDevice, what->dstXInBytes, what->dstY, what->dstZ,
              or_else(what->dstPitch, width), or_else(what->dstHeight, what->Height), width),
      side_of(what->srcMemoryType, what->srcHost, what->srcDevice, what->srcXInBytes, what->srcY, what->srcZ,
              or_else(what->srcPitch, width), or_else(what->srcHeight, what->Height), width),
      {width, what->Height, what->Depth}, wait);
}

/// Both contexts' earlier work comes first, as the documentation says of cuMemcpyPeer.
void serialise_with(CUcontext destination, CUcontext source) {
  context_of(destination).synchronise();
  context_of(source).synchronise();
}

template <typename Value>
CUresult fill(Stream& stream, CUdeviceptr address, Value value, std::size_t count, Wait wait) {
  require(address % sizeof(Value) == 0, CUDA_ERROR_INVALID_VALUE);
  if (count == 0) return CUDA_SUCCESS;
  const AllocationRef memory = find_allocation(address);
  require(memory != nullptr, CUDA_ERROR_INVALID_VALUE);
  auto* const to = reinterpret_cast<Value*>(accessible(address, count * sizeof(Value)));
  SimulatedGpuActivity activity{};
  activity.kind = SIMULATED_GPU_SET;
  activity.bytes = count * sizeof(Value);
  activity.value = value;
  activity.destination_kind = cupti_memory_kind(memory.get());
  activity.is_async = wait == Wait::as_asynchronous;
  const WorkPoint done = submit_observed(stream, activity, [=] {
    for (std::size_t i = 0; i < count; ++i) to[i] = value;
  });
  if (wait == Wait::as_synchronous && !lives_on_device(memory)) done.wait();
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace simulated_gpu

using namespace simulated_gpu;

CUresult cuMemcpy(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes) {
  return driver_call(
      __func__, [&] { return copy(*stream_of(nullptr), destination, source, bytes, Wait::as_synchronous); });
}

CUresult cuMemcpyHtoD(CUdeviceptr destination, const void* source, std::size_t bytes) {
  return driver_call(__func__, [&] {
    return copy(*stream_of(nullptr), destination, address_of(source), bytes, Wait::as_synchronous);
  });
}

CUresult cuMemcpyDtoH(void* destination, CUdeviceptr source, std::size_t bytes) {
  return driver_call(__func__, [&] {
    return copy(*stream_of(nullptr), address_of(destination), source, bytes, Wait::as_synchronous);
  });
}

CUresult cuMemcpyDtoD(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes) {
  return driver_call(
      __func__, [&] { return copy(*stream_of(nullptr), destination, source, bytes, Wait::as_synchronous); });
}

CUresult cuMemcpyPeer(CUdeviceptr destination, CUcontext destination_context, CUdeviceptr source,
                      CUcontext source_context, std::size_t bytes) {
  return driver_call(__func__, [&] {
    serialise_with(destination_context, source_context);
    return copy(*stream_of(nullptr), destination, source, bytes, Wait::as_synchronous);
  });
}

CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes, CUstream stream) {
  return driver_call(
      __func__, [&] { return copy(*stream_of(stream), destination, source, bytes, Wait::as_asynchronous); });
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr destination, const void* source, std::size_t bytes, CUstream stream) {
  return driver_call(__func__, [&] {
    return copy(*stream_of(stream), destination, address_of(source), bytes, Wait::as_asynchronous);
  });
}

CUresult cuMemcpyDtoHAsync(void* destination, CUdeviceptr source, std::size_t bytes, CUstream stream) {
  return driver_call(__func__, [&] {
    return copy(*stream_of(stream), address_of(destination), source, bytes, Wait::as_asynchronous);
  });
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes, CUstream stream) {
  return driver_call(
      __func__, [&] { return copy(*stream_of(stream), destination, source, bytes, Wait::as_asynchronous); });
}

CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext destination_context, CUdeviceptr source,
                           CUcontext source_context, std::size_t bytes, CUstream stream) {
  return driver_call(__func__, [&] {
    static_cast<void>(context_of(destination_context));
    static_cast<void>(context_of(source_context));
    return copy(*stream_of(stream), destination, source, bytes, Wait::as_asynchronous);
  });
}

// The attributes are hints, except the source's access order, which stream order always satisfies.
CUresult cuMemcpyBatchAsync(CUdeviceptr* destinations, CUdeviceptr* sources, std::size_t* sizes,
                            std::size_t count, CUmemcpyAttributes* attributes, std::size_t* attribute_starts,
                            std::size_t attribute_count, CUstream handle) {
  return driver_call(__func__, [&] {
    require(handle != nullptr && handle != CU_STREAM_LEGACY, CUDA_ERROR_INVALID_VALUE);
    require(destinations != nullptr && sources != nullptr && sizes != nullptr && count > 0,
            CUDA_ERROR_INVALID_VALUE);
    require(attributes != nullptr && attribute_starts != nullptr && attribute_count > 0 &&
                attribute_count <= count && attribute_starts[0] == 0,
            CUDA_ERROR_INVALID_VALUE);
    const auto stream = stream_of(handle);
    for (std::size_t i = 0; i < count; ++i) {
      copy(*stream, destinations[i], sources[i], sizes[i], Wait::as_asynchronous);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* what) {
  return driver_call(__func__, [&] { return copy_2d(*stream_of(nullptr), what, Wait::as_synchronous); });
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* what) {
  return driver_call(__func__, [&] { return copy_2d(*stream_of(nullptr), what, Wait::as_synchronous); });
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* what, CUstream stream) {
  return driver_call(__func__, [&] { return copy_2d(*stream_of(stream), what, Wait::as_asynchronous); });
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D* what) {
  return driver_call(__func__, [&] { return copy_3d(*stream_of(nullptr), what, Wait::as_synchronous); });
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* what, CUstream stream) {
  return driver_call(__func__, [&] { return copy_3d(*stream_of(stream), what, Wait::as_asynchronous); });
}

CUresult cuMemsetD8(CUdeviceptr address, unsigned char value, std::size_t count) {
  return driver_call(__func__,
                     [&] { return fill(*stream_of(nullptr), address, value, count, Wait::as_synchronous); });
}

CUresult cuMemsetD16(CUdeviceptr address, unsigned short value, std::size_t count) {
  return driver_call(__func__,
                     [&] { return fill(*stream_of(nullptr), address, value, count, Wait::as_synchronous); });
}

CUresult cuMemsetD32(CUdeviceptr address, unsigned value, std::size_t count) {
  return driver_call(__func__,
                     [&] { return fill(*stream_of(nullptr), address, value, count, Wait::as_synchronous); });
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, std::size_t count, CUstream stream) {
  return driver_call(__func__,
                     [&] { return fill(*stream_of(stream), address, value, count, Wait::as_asynchronous); });
}

CUresult cuMemsetD32Async(CUdeviceptr address, unsigned value, std::size_t count, CUstream stream) {
  return driver_call(__func__,
                     [&] { return fill(*stream_of(stream), address, value, count, Wait::as_asynchronous); });
}
