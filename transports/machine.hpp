// Starts and stops the library's use of CUDA, and reports what it knows of the machine: whether the driver is
// loaded, devices by UUID, peer access, which transports are open and why not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/transport.hpp"

namespace penstock::transports {

/// True once libcuda is loaded in the process and cuInit has succeeded (called by the application, never by
/// us). Cost: a few ns. Thread: any.
[[nodiscard]] bool cuda_in_use() noexcept;

/// True if the calling process has had a CUDA context that a receive could use. Makes none.
[[nodiscard]] bool has_context() noexcept;

/// Loads the library's kernels into the context that the process uses, if any, or into the context of the
/// buffer, if the application's streams are idle: the first launch may wait for what runs there
/// (cuda/kernels.hpp). To be called where that is likely: at program start, and when a receive is posted,
/// before work that is to overlap with it. Cost: a load once they are loaded, else a query of the GPU.
/// Thread: any.
void prepare_kernels() noexcept;
void prepare_kernels(const Buffer& buffer) noexcept;

/// Frees every stream, event, cached handle, mapping and region. Waits (bounded) for copies in flight. To be
/// called before the driver can be gone: in MPI_Finalize, never from static destructors.
void shut_down() noexcept;

struct DeviceInfo {
  int ordinal = 0;
  std::string name;
  std::string uuid;
  std::string pci_bus_id;
  std::size_t memory_bytes = 0;
  std::vector<int> peers;  ///< ordinals that this device can access
};
struct TransportInfo {
  TransportKind kind = TransportKind::none;
  bool open = false;
  std::string why;
};
struct MachineInfo {
  bool driver_found = false;
  bool simulated = false;  ///< true for the simulated GPU's libcuda
  int driver_version = 0;
  std::vector<DeviceInfo> devices;
  std::vector<TransportInfo> transports;
};

/// Loads the driver and initialises it if need be, then queries it. For `penstock info`, not for jobs.
[[nodiscard]] MachineInfo survey();

}  // namespace penstock::transports
