// The receiver's side of CUDA IPC: maps other processes' allocations and keeps the mappings. Opening costs
// milliseconds, so mappings are kept; a kept mapping keeps memory of the other process alive, so they are
// bounded. The driver unmaps only when it has waited for the application's work, which may itself wait for
// the return of this call: mappings out of use are kept until the GPU is idle. Knows neither messages nor
// transports.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "transports/cuda/context.hpp"
#include "transports/host/callers_mutex.hpp"
#include "transports/host/process.hpp"

namespace penstock::transports::cuda {

/// An allocation of another process, as that process names it.
struct RemoteRange {
  ProcessIdentity owner;
  std::uint64_t buffer_id = 0;  ///< the owner's; distinguishes it from a later allocation at the same address
  std::uint64_t base = 0;       ///< in the owner's address space
  std::uint64_t bytes = 0;
  friend bool operator==(const RemoteRange&, const RemoteRange&) = default;
};

/// Owns the mapping; closes it in its context, if that is still alive. A copy from it must hold a share.
class MappedRange {
 public:
  MappedRange(const RemoteRange& range, ContextRef context, CUdeviceptr address) noexcept
      : range_(range), context_(std::move(context)), address_(address) {}
  ~MappedRange();
  MappedRange(const MappedRange&) = delete;
  MappedRange& operator=(const MappedRange&) = delete;

  [[nodiscard]] const RemoteRange& range() const noexcept { return range_; }
  [[nodiscard]] const ContextRef& context() const noexcept { return context_; }
  /// Returns the address of the range's base in this process.
  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }

 private:
  RemoteRange range_;
  ContextRef context_;
  CUdeviceptr address_;
};

struct IpcCacheLimits {
  std::size_t ranges = 256;
  /// Idle mappings, beyond the few most recent ones, may keep this much of other processes' memory, as the
  /// owners may have freed it: so many bytes, or that part of a device's memory if it is less.
  std::uint64_t idle_bytes = 16ull << 30;
  std::uint64_t part_of_device = 8;
  std::size_t recent_ranges = 4;
};

/// Thread: any. While the driver maps, only other mappings wait; no lock is held while it unmaps.
class IpcCache {
 public:
  explicit IpcCache(IpcCacheLimits limits = {}) noexcept : limits_(limits) {}
  [[nodiscard]] static IpcCache& of_process();

  /// Returns the range mapped in that context: at once if it is known, else opened with the handle. Drops
  /// known mappings of other allocations of the owner at overlapping addresses: the owner has freed those.
  /// Does not wait for the application's work. Errors: also `declined`, where the limits are exceeded and
  /// the GPU is at work.
  [[nodiscard]] Status map(const RemoteRange& range, const CUipcMemHandle& handle, const ContextRef& context,
                           std::shared_ptr<const MappedRange>& mapped);
  /// Returns true if the range is mapped in that context, so that map() asks the driver for nothing.
  [[nodiscard]] bool knows(const RemoteRange& range, const ContextRef& context);
  /// Never returns a range again that turned out to be useless; it is unmapped by a later call of map(), or
  /// by unmap_dropped().
  void drop(const std::shared_ptr<const MappedRange>& mapped);
  /// Unmaps what was dropped and is out of use, if the GPU is quiet.
  void unmap_dropped();
  void clear() noexcept;
  /// Returns the number of mappings, those out of use included.
  [[nodiscard]] std::size_t size() const;

 private:
  using Ranges = std::vector<std::shared_ptr<const MappedRange>>;
  [[nodiscard]] std::shared_ptr<const MappedRange> find(const RemoteRange& range, const ContextRef& context);
  void retire_stale(const RemoteRange& range);
  void take_retired(Ranges& taken);
  [[nodiscard]] bool take_surplus(std::uint64_t most_idle_bytes, Ranges& taken);

  const IpcCacheLimits limits_;
  mutable CallersMutex mutex_;
  CallersMutex opening_;  ///< around cuIpcOpenMemHandle; taken before mutex_
  Ranges ranges_;         ///< most recently used last
  Ranges retired_;        ///< never found again; to be unmapped while the GPU is idle
};

}  // namespace penstock::transports::cuda
