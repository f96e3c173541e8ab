#include "transports/cuda/devices.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <vector>

#include "transports/cuda/driver.hpp"

namespace penstock::transports::cuda {
namespace {

struct Table {
  std::vector<Uuid> uuids;
  std::vector<std::vector<bool>> access;
};

Table read(const Driver& driver, int devices) {
  Table table;
  for (CUdevice device = 0; device < devices; ++device) {
    CUuuid raw{};
    Uuid uuid{};
    if (driver.cuDeviceGetUuid(&raw, device) == CUDA_SUCCESS)
      std::memcpy(uuid.data(), raw.bytes, uuid.size());
    table.uuids.push_back(uuid);
    std::vector<bool> row;
    for (CUdevice peer = 0; peer < devices; ++peer) {
      int can = device == peer;
      if (device != peer) driver.cuDeviceCanAccessPeer(&can, device, peer);
      row.push_back(can != 0);
    }
    table.access.push_back(std::move(row));
  }
  return table;
}

/// Read once CUDA is initialised; the devices of a process do not change after that.
const Table& table() {
  static std::atomic<const Table*> known{nullptr};
  static const Table none;
  static std::mutex once;
  if (const Table* result = known.load(std::memory_order_acquire)) return *result;
  const Driver* driver = cuda::driver();
  int devices = 0;
  if (driver == nullptr || driver->cuDeviceGetCount(&devices) != CUDA_SUCCESS) return none;
  const std::lock_guard lock(once);
  if (known.load(std::memory_order_relaxed) == nullptr) {
    known.store(new Table(read(*driver, devices)), std::memory_order_release);
  }
  return *known.load(std::memory_order_relaxed);
}

}  // namespace

Uuid uuid_of(int device) {
  const auto& uuids = table().uuids;
  return device >= 0 && static_cast<std::size_t>(device) < uuids.size()
             ? uuids[static_cast<std::size_t>(device)]
             : Uuid{};
}

int device_of(const Uuid& uuid) {
  const auto& uuids = table().uuids;
  for (std::size_t device = 0; device < uuids.size(); ++device) {
    if (uuids[device] == uuid) return static_cast<int>(device);
  }
  return -1;
}

bool can_access(int device, int peer) {
  const auto& access = table().access;
  const auto row = static_cast<std::size_t>(device);
  const auto column = static_cast<std::size_t>(peer);
  return device >= 0 && peer >= 0 && row < access.size() && column < access.size() && access[row][column];
}

}  // namespace penstock::transports::cuda
