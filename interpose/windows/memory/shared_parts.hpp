// Memory of which each member of a window has a part, and which all of them map: that of the node's
// processes, as an MPI library may share none (MPICH over UCX, from its release 5 on). Knows neither MPI nor
// what lies in the parts.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "transports/host/status.hpp"
#include "transports/regions/offer.hpp"
#include "transports/regions/segment.hpp"

namespace penstock::interpose {

/// Owns this member's part, and the mappings of the others'. Thread: one at a time.
class SharedParts {
 public:
  /// Makes this member's part, cleared, at the start of a page. Errors: as Segment's.
  [[nodiscard]] Status make(std::size_t bytes);
  /// Returns what others need to open this member's part.
  [[nodiscard]] transports::Offer offer() const noexcept;
  /// Opens the parts that the members offer, this one's among them. Errors: as Segment's.
  [[nodiscard]] Status open(const std::vector<transports::Offer>& offers);
  /// Gives up this member's file descriptor, once all have opened its part.
  void close_file() noexcept { own_->close_file(); }

  /// Returns where each member's part begins.
  [[nodiscard]] std::vector<std::byte*> addresses() const;

 private:
  std::shared_ptr<transports::Segment> own_;
  std::vector<std::shared_ptr<transports::Segment>> all_;
};

}  // namespace penstock::interpose
