#include "tests/transports/gpu_memory.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace penstock::transports::test {
namespace {

/// Rows of 256 bytes of payload, one for each value that what is common to a row can have.
const auto& payload_rows() {
  static const auto& rows = *[] {
    auto* const made = new std::array<std::array<std::uint8_t, 256>, 256>;
    for (std::size_t common = 0; common < made->size(); ++common) {
      for (std::size_t index = 0; index < 256; ++index) {
        (*made)[common][index] =
            static_cast<std::uint8_t>(payload_byte(0, index) - payload_byte(0, 0) + common);
      }
    }
    return made;
  }();
  return rows;
}

/// A row at a time: byte by byte, the sanitizers' watch over each took half the time of all tests.
void write_payload(std::uint8_t* to, std::size_t index, std::size_t bytes, std::uint64_t seed) {
  while (bytes > 0) {
    const std::size_t in_row = index % 256;
    const std::size_t count = std::min(bytes, 256 - in_row);
    std::memcpy(to, payload_rows()[payload_byte(seed, index - in_row)].data() + in_row, count);
    to += count;
    index += count;
    bytes -= count;
  }
}

std::vector<std::uint8_t> content(std::size_t bytes, const Layout& layout, std::size_t payload_bytes,
                                  std::uint64_t seed) {
  std::vector<std::uint8_t> result(bytes, guard_byte);
  std::size_t index = 0;
  const Layout payload = layout.prefix(payload_bytes);
  for (const Block& block : payload.blocks()) {
    for (std::size_t row = 0; row < block.count; ++row) {
      const std::ptrdiff_t at = block.offset + static_cast<std::ptrdiff_t>(row) * block.stride;
      write_payload(result.data() + at, index, block.bytes, seed);
      index += block.bytes;
    }
  }
  return result;
}

}  // namespace

void require(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: CUDA error %d\n", call, static_cast<int>(result));
  std::abort();
}

void use_device(int device) {
  REQUIRE_CUDA(cuInit(0));
  CUcontext context = nullptr;
  REQUIRE_CUDA(cuDevicePrimaryCtxRetain(&context, device));
  REQUIRE_CUDA(cuCtxSetCurrent(context));
}

int device_count() {
  int count = 0;
  REQUIRE_CUDA(cuInit(0));
  REQUIRE_CUDA(cuDeviceGetCount(&count));
  return count;
}

bool enable_peer_access(int device, int peer) {
  use_device(peer);
  CUcontext context = nullptr;
  REQUIRE_CUDA(cuCtxGetCurrent(&context));
  use_device(device);
  const CUresult enabled = cuCtxEnablePeerAccess(context, 0);
  return enabled == CUDA_SUCCESS || enabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

GpuMemory::GpuMemory(BufferKind kind, std::size_t bytes, int device)
    : kind_(kind), bytes_(bytes), device_(device) {
  const std::size_t asked = bytes == 0 ? 1 : bytes;
  if (kind == BufferKind::pageable) {
    data_ = reinterpret_cast<CUdeviceptr>(std::malloc(asked));
    return;
  }
  use_device(device);
  void* host = nullptr;
  switch (kind) {
    case BufferKind::pinned:
      REQUIRE_CUDA(cuMemHostAlloc(&host, asked, CU_MEMHOSTALLOC_PORTABLE));
      data_ = reinterpret_cast<CUdeviceptr>(host);
      break;
    case BufferKind::device:
      REQUIRE_CUDA(cuMemAlloc(&data_, asked));
      break;
    case BufferKind::async_pool:
      REQUIRE_CUDA(cuMemAllocAsync(&data_, asked, CU_STREAM_LEGACY));
      REQUIRE_CUDA(cuStreamSynchronize(CU_STREAM_LEGACY));
      break;
    case BufferKind::virtual_memory:
      map_chunks();
      break;
    case BufferKind::managed:
      REQUIRE_CUDA(cuMemAllocManaged(&data_, asked, CU_MEM_ATTACH_GLOBAL));
      break;
    case BufferKind::pageable:
    case BufferKind::unknown:
      std::abort();
  }
}

GpuMemory::~GpuMemory() {
  switch (kind_) {
    case BufferKind::pageable:
      std::free(data());
      break;
    case BufferKind::pinned:
      REQUIRE_CUDA(cuMemFreeHost(data()));
      break;
    case BufferKind::async_pool:
      use_device(device_);
      REQUIRE_CUDA(cuMemFreeAsync(data_, CU_STREAM_LEGACY));
      REQUIRE_CUDA(cuStreamSynchronize(CU_STREAM_LEGACY));
      break;
    case BufferKind::virtual_memory:
      unmap_chunks();
      break;
    case BufferKind::device:
    case BufferKind::managed:
    case BufferKind::unknown:
      REQUIRE_CUDA(cuMemFree(data_));
      break;
  }
}

void GpuMemory::map_chunks() {
  CUmemAllocationProp property{};
  property.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  property.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  property.location.id = device_;
  std::size_t granularity = 0;
  REQUIRE_CUDA(cuMemGetAllocationGranularity(&granularity, &property, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  chunk_bytes_ = (bytes_ / 2 + granularity) / granularity * granularity;
  REQUIRE_CUDA(cuMemAddressReserve(&reserved_, 2 * chunk_bytes_, 0, 0, 0));
  for (std::size_t chunk = 0; chunk < 2; ++chunk) {
    CUmemGenericAllocationHandle handle = 0;
    REQUIRE_CUDA(cuMemCreate(&handle, chunk_bytes_, &property, 0));
    REQUIRE_CUDA(cuMemMap(reserved_ + chunk * chunk_bytes_, chunk_bytes_, 0, handle, 0));
    chunks_.push_back(handle);
  }
  CUmemAccessDesc access{};
  access.location = property.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  REQUIRE_CUDA(cuMemSetAccess(reserved_, 2 * chunk_bytes_, &access, 1));
  data_ = reserved_ + chunk_bytes_ - bytes_ / 2;
}

void GpuMemory::unmap_chunks() {
  REQUIRE_CUDA(cuMemUnmap(reserved_, 2 * chunk_bytes_));
  for (CUmemGenericAllocationHandle chunk : chunks_) REQUIRE_CUDA(cuMemRelease(chunk));
  REQUIRE_CUDA(cuMemAddressFree(reserved_, 2 * chunk_bytes_));
}

void GpuMemory::write(const std::vector<std::uint8_t>& bytes) const {
  if (bytes.empty()) return;
  if (lives_on_device(kind_)) {
    use_device(device_);
    REQUIRE_CUDA(cuMemcpyHtoD(data_, bytes.data(), bytes.size()));
    REQUIRE_CUDA(cuStreamSynchronize(CU_STREAM_LEGACY));
  } else {
    std::memcpy(data(), bytes.data(), bytes.size());
  }
}

std::vector<std::uint8_t> GpuMemory::read() const {
  std::vector<std::uint8_t> bytes(bytes_);
  if (bytes.empty()) return bytes;
  if (lives_on_device(kind_)) {
    use_device(device_);
    REQUIRE_CUDA(cuMemcpyDtoH(bytes.data(), data_, bytes.size()));
  } else {
    std::memcpy(bytes.data(), data(), bytes.size());
  }
  return bytes;
}

void fill(const GpuMemory& memory, const Layout& layout, std::size_t payload_bytes, std::uint64_t seed) {
  memory.write(content(memory.bytes(), layout, payload_bytes, seed));
}

std::ptrdiff_t first_difference(const GpuMemory& memory, const Layout& layout, std::size_t payload_bytes,
                                std::uint64_t seed) {
  const std::vector<std::uint8_t> wanted = content(memory.bytes(), layout, payload_bytes, seed);
  const std::vector<std::uint8_t> found = memory.read();
  if (wanted.empty() || std::memcmp(wanted.data(), found.data(), wanted.size()) == 0) return -1;
  for (std::size_t index = 0; index < wanted.size(); ++index) {
    if (wanted[index] != found[index]) return static_cast<std::ptrdiff_t>(index);
  }
  return -1;
}

}  // namespace penstock::transports::test
