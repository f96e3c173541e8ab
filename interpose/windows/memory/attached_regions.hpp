// What this process has attached to a dynamic window: regions of device or host memory that do not overlap.
// Writes the table in which the other members find them. Knows neither accesses nor MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "interpose/windows/memory/region_table.hpp"
#include "transports/host/callers_mutex.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// Thread: any. Errors: also std::bad_alloc, which changes nothing.
class AttachedRegions {
 public:
  explicit AttachedRegions(RegionTable own) noexcept : table_(own) {}

  /// Returns null, or why the memory cannot be attached: a literal.
  [[nodiscard]] const char* attach(void* base, std::uint64_t bytes);
  /// False: no region that is attached begins there.
  [[nodiscard]] bool detach(const void* base);

  /// Returns a buffer for each GPU on which regions lie.
  [[nodiscard]] std::vector<transports::Buffer> on_gpus();

 private:
  struct Region {
    std::uint64_t bytes;
    std::size_t row;
    transports::Buffer buffer;
  };
  [[nodiscard]] const char* why_not(std::uint64_t base, std::uint64_t bytes,
                                    const transports::Buffer& buffer) const noexcept;
  /// Returns a row that no region has.
  [[nodiscard]] std::size_t free_row() const noexcept;

  RegionTable table_;
  transports::CallersMutex mutex_;
  std::map<std::uint64_t, Region> regions_;  ///< by base
  std::vector<bool> rows_;                   ///< whether a region has the row
  std::multiset<std::uint64_t> empty_;       ///< bases of regions without bytes, which nobody can access
};

}  // namespace penstock::interpose
