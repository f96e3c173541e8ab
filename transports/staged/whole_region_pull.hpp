// Pulls a small payload that lies whole in its sender's region of host memory, together with others of that
// time, as a separate copy costs some 10 µs. Does not know how the payload got there.
#pragma once

#include <memory>

#include "transports/copies/pull.hpp"
#include "transports/host/watch.hpp"
#include "transports/regions/region_pull.hpp"

namespace penstock::transports {

/// Thread: one at a time.
class WholeRegionPull final : public Pull {
 public:
  /// True if the payload goes into device memory, in one piece, and the region's ring has room for all of it.
  [[nodiscard]] static bool suits(const Offer& offer, const BufferView& destination, const RingSource& source,
                                  const cuda::ContextRef& context) noexcept;
  WholeRegionPull(const Offer& offer, const BufferView& destination, RingSource source,
                  cuda::ContextRef context);
  ~WholeRegionPull() override;

  /// Publishes this receiver in the region's header and pins the region.
  [[nodiscard]] Status begin() noexcept;
  [[nodiscard]] Status advance(bool& finished) noexcept override;

 private:
  [[nodiscard]] Status step();
  [[nodiscard]] Status look_for_payload(bool& is_there) noexcept;
  [[nodiscard]] RegionHeader& header() const noexcept { return source_.region->header(); }

  const ProcessIdentity sender_;
  const std::size_t payload_bytes_;
  const BufferView destination_;
  const RingSource source_;
  const cuda::ContextRef context_;
  bool is_pinned_ = false;
  std::unique_ptr<Pull> copy_;  ///< null until the payload is there
  bool is_copied_ = false;
  Status failure_;
  Watch watch_;
};

}  // namespace penstock::transports
