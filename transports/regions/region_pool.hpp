// Keeps idle regions for the next message on both sides, as pinning memory costs milliseconds. Bounded in
// number and bytes. Knows no copies.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "transports/regions/region.hpp"

namespace penstock::transports {

/// The most that is kept idle.
struct RegionLimits {
  std::size_t segments = 128;
  std::size_t bytes = 256u << 20;
};

/// The sender's regions. Thread: any.
class RegionPool {
 public:
  explicit RegionPool(RegionLimits limits = {}) noexcept : limits_(limits) {}
  [[nodiscard]] static RegionPool& of_process();

  /// Returns a region of at least that capacity: an idle one, else a new one (sizes in powers of two, large
  /// ones in steps; 0 for a header alone).
  [[nodiscard]] Status take(std::size_t capacity, std::unique_ptr<StagingRegion>& region);
  /// Takes a region back after use. If its receiver has not drained it yet, it stays out of use until then.
  void give_back(std::unique_ptr<StagingRegion> region) noexcept;
  void clear() noexcept;
  [[nodiscard]] std::size_t idle() const;

 private:
  using Regions = std::vector<std::unique_ptr<StagingRegion>>;
  void collect_drained();
  void take_surplus(Regions& taken);

  const RegionLimits limits_;
  mutable std::mutex mutex_;
  Regions idle_;  ///< least recently used first
  Regions undrained_;
};

/// The receiver's mappings of other processes' segments, most recently used last. Thread: any.
class RegionCache {
 public:
  explicit RegionCache(RegionLimits limits = {}) noexcept : limits_(limits) {}
  [[nodiscard]] static RegionCache& of_process();

  /// Maps the region that the offer names and checks that it serves that very message. Errors: `peer_lost`.
  [[nodiscard]] Status open(const Offer& offer, std::shared_ptr<MappedRegion>& region);
  void clear() noexcept;
  [[nodiscard]] std::size_t size() const;

 private:
  struct Entry {
    ProcessIdentity sender;
    std::uint64_t number;  ///< of the sender's segment
    std::shared_ptr<Segment> segment;
  };
  [[nodiscard]] std::shared_ptr<Segment> find(const Offer& offer);
  void take_surplus(std::vector<Entry>& taken);

  const RegionLimits limits_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

}  // namespace penstock::transports
