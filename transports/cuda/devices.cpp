#include "transports/cuda/devices.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <vector>

#include "transports/cuda/driver.hpp"

namespace penstock::transports::cuda {
namespace {

using Matrix = std::vector<std::vector<bool>>;

struct Table {
  std::vector<Uuid> uuids;
  std::vector<bool> has_concurrent_managed_access;
  Matrix access;
  Matrix nvlink;
};

bool holds(const Matrix& matrix, int device, int peer) noexcept {
  const auto row = static_cast<std::size_t>(device);
  const auto column = static_cast<std::size_t>(peer);
  return device >= 0 && peer >= 0 && row < matrix.size() && column < matrix[row].size() &&
         matrix[row][column];
}

bool ask_for_nvlink(const Driver& driver, CUdevice device, CUdevice peer) noexcept {
  int atomics = 0;
  return device != peer && driver.cuDeviceGetP2PAttribute != nullptr &&
         driver.cuDeviceGetP2PAttribute(&atomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, device,
                                        peer) == CUDA_SUCCESS &&
         atomics != 0;
}

Table read(const Driver& driver, int devices) {
  Table table;
  for (CUdevice device = 0; device < devices; ++device) {
    CUuuid raw{};
    Uuid uuid{};
    if (driver.cuDeviceGetUuid(&raw, device) == CUDA_SUCCESS)
      std::memcpy(uuid.data(), raw.bytes, uuid.size());
    table.uuids.push_back(uuid);
    int concurrent = 0;
    driver.cuDeviceGetAttribute(&concurrent, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device);
    table.has_concurrent_managed_access.push_back(concurrent != 0);
    std::vector<bool> row;
    std::vector<bool> links;
    for (CUdevice peer = 0; peer < devices; ++peer) {
      int can = device == peer;
      if (device != peer) driver.cuDeviceCanAccessPeer(&can, device, peer);
      row.push_back(can != 0);
      links.push_back(can != 0 && ask_for_nvlink(driver, device, peer));
    }
    table.access.push_back(std::move(row));
    table.nvlink.push_back(std::move(links));
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

std::string text_of(const Uuid& uuid) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text = "GPU-";
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += digits[uuid[i] >> 4];
    text += digits[uuid[i] & 15];
  }
  return text;
}

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

bool has_concurrent_managed_access(int device) {
  const auto& all = table().has_concurrent_managed_access;
  return device >= 0 && static_cast<std::size_t>(device) < all.size() &&
         all[static_cast<std::size_t>(device)];
}

bool can_access(int device, int peer) {
  return holds(table().access, device, peer);
}

bool has_nvlink(int device, int peer) {
  return holds(table().nvlink, device, peer);
}

bool has_nvlink(int device) {
  const auto& links = table().nvlink;
  const auto row = static_cast<std::size_t>(device);
  return device >= 0 && row < links.size() &&
         std::find(links[row].begin(), links[row].end(), true) != links[row].end();
}

Link link_between(int device, int peer) {
  if (device < 0 || peer < 0) return Link::pcie;
  if (device == peer) return Link::same_device;
  if (has_nvlink(device, peer)) return Link::nvlink;
  return can_access(device, peer) ? Link::pcie : Link::none;
}

Link best_link_of(int device) {
  const bool sees_others = table().uuids.size() > 1;
  return sees_others && !has_nvlink(device) ? Link::pcie : Link::nvlink;
}

}  // namespace penstock::transports::cuda
