// The pull of a small payload that lies whole in its sender's region of host memory: together with others of
// its time, as each copy of its own costs some 10 µs. Knows no way in which the payload came there.
#pragma once

#include <memory>

#include "transports/copies/pull.hpp"
#include "transports/host/watch.hpp"
#include "transports/regions/region_pull.hpp"

namespace penstock::transports {

/// Thread: one at a time.
class WholeRegionPull final : public Pull {
 public:
  /// Into memory of a device, in one piece; the region's ring has room for all of the payload.
  [[nodiscard]] static bool suits(const Offer& offer, const Place& destination, const RingSource& source,
                                  const cuda::ContextRef& context) noexcept;
  WholeRegionPull(const Offer& offer, const Place& destination, RingSource source, cuda::ContextRef context);
  ~WholeRegionPull() override;

  /// Pins the region.
  [[nodiscard]] Status begin() noexcept;
  [[nodiscard]] Status advance(bool& finished) noexcept override;

 private:
  [[nodiscard]] Status step();
  [[nodiscard]] Status look_for_payload(bool& is_there) noexcept;
  [[nodiscard]] RegionHeader& header() const noexcept { return source_.region->header(); }

  const ProcessIdentity sender_;
  const std::size_t payload_bytes_;
  const Place destination_;
  const RingSource source_;
  const cuda::ContextRef context_;
  bool is_pinned_ = false;
  std::unique_ptr<Pull> copy_;  ///< once the payload is there
  bool is_copied_ = false;
  Status failure_;
  Watch watch_;
};

}  // namespace penstock::transports
