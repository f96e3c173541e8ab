// The pull through a region's ring, behind the sender that fills it, for the transports `staged` and
// `relayed`. Knows neither how the ring became addressable nor why it was taken.
#pragma once

#include <deque>
#include <memory>

#include "transports/copies/copy.hpp"
#include "transports/copies/pull.hpp"
#include "transports/cuda/context.hpp"
#include "transports/host/watch.hpp"
#include "transports/regions/region.hpp"
#include "transports/stream_order/earlier_work.hpp"

namespace penstock::transports {

/// The ring that the receiver pulls from.
struct RingSource {
  std::shared_ptr<MappedRegion> region;
  Ring ring;
  std::shared_ptr<const void> keeper;  ///< keeps the ring mapped meanwhile, if the region does not
};

/// Publishes this process as the receiver in the header of a region that it pulls from.
void publish_receiver(RegionHeader& header) noexcept;
/// Returns peer_lost if the sender has died and has produced no more than `produced`. Queries it only when
/// `watch` is due.
[[nodiscard]] Status check_sender(const RegionHeader& header, const ProcessIdentity& sender, Watch& watch,
                                  std::uint64_t produced) noexcept;

/// Thread: one at a time.
class RegionPull final : public Pull {
 public:
  /// Copies in `context`, or by the CPU if that is null (ring and destination are host memory).
  [[nodiscard]] static Status start(const Offer& offer, const BufferView& destination, RingSource source,
                                    cuda::ContextRef context, std::unique_ptr<Pull>& pull);
  RegionPull(const Offer& offer, const BufferView& destination, RingSource source, cuda::ContextRef context);
  ~RegionPull() override;

  [[nodiscard]] Status advance(bool& finished) noexcept override;

 private:
  struct Step {
    std::size_t end;  ///< of what it copies, in the payload
    cuda::Event copied;
  };

  [[nodiscard]] Status begin() noexcept;
  [[nodiscard]] Status step();
  [[nodiscard]] Status consume();
  [[nodiscard]] Status issue(std::size_t bytes);
  [[nodiscard]] std::size_t next_step(std::uint64_t produced) const noexcept;
  [[nodiscard]] const char* next_chunk() const noexcept;
  void publish(std::size_t consumed) noexcept;
  [[nodiscard]] RegionHeader& header() const noexcept { return source_.region->header(); }

  const ProcessIdentity sender_;
  const std::size_t payload_bytes_;
  BufferView destination_;
  LayoutCursor cursor_;
  RingSource source_;
  cuda::ContextRef context_;
  CUstream stream_ = nullptr;
  /// The ring is not pinned: a copy blocks its caller until all is done that it is ordered behind.
  bool copies_block_ = false;
  EarlierWork earlier_;  ///< waited for before such a copy
  std::deque<Step> in_flight_;
  std::size_t issued_ = 0;
  std::size_t consumed_ = 0;
  Status failure_;
  Watch watch_;
};

}  // namespace penstock::transports
