#include "tests/support/virtual_memory.hpp"

#include <cuda.h>

#include <cstdio>
#include <cstdlib>

namespace penstock::test_support {

namespace {

void require(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: error %d\n", call, static_cast<int>(result));
  std::abort();
}

CUmemAllocationProp properties_on(int device) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return properties;
}

std::size_t chunk_bytes(const CUmemAllocationProp& properties) {
  std::size_t bytes = 0;
  require(cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
          "cuMemGetAllocationGranularity");
  return bytes;
}

std::size_t rounded(std::size_t bytes, std::size_t chunk) {
  return (bytes + chunk - 1) / chunk * chunk;
}

}  // namespace

void* map_virtual_memory(std::size_t bytes, int device) {
  const CUmemAllocationProp properties = properties_on(device);
  const std::size_t chunk = chunk_bytes(properties);
  const std::size_t range = rounded(bytes, chunk);
  CUdeviceptr base = 0;
  require(cuMemAddressReserve(&base, range, 0, 0, 0), "cuMemAddressReserve");
  for (std::size_t offset = 0; offset < range; offset += chunk) {
    CUmemGenericAllocationHandle handle{};
    require(cuMemCreate(&handle, chunk, &properties, 0), "cuMemCreate");
    require(cuMemMap(base + offset, chunk, 0, handle, 0), "cuMemMap");
    require(cuMemRelease(handle), "cuMemRelease");  // lives as long as it is mapped
  }
  CUmemAccessDesc access{};
  access.location = properties.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  require(cuMemSetAccess(base, range, &access, 1), "cuMemSetAccess");
  return reinterpret_cast<void*>(base);
}

void unmap_virtual_memory(void* pointer, std::size_t bytes, int device) {
  const std::size_t range = rounded(bytes, chunk_bytes(properties_on(device)));
  const auto base = reinterpret_cast<CUdeviceptr>(pointer);
  require(cuMemUnmap(base, range), "cuMemUnmap");
  require(cuMemAddressFree(base, range), "cuMemAddressFree");
}

}  // namespace penstock::test_support
