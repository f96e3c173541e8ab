// One time axis for all ranks, as far as messages align the hosts' clocks. It begins when the first rank
// returns from MPI_Init. Must not know records.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/joining/messages.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// Maps one host's clock to the axis. Never reverses the order of two times.
class HostAxis {
 public:
  HostAxis() = default;
  HostAxis(Interval run, std::int64_t first_ns, std::int64_t last_ns);
  /// Unit: ns. Times before or after the axis are clamped to its begin or end.
  [[nodiscard]] std::uint64_t at(std::uint64_t host_ns) const noexcept;
  void ends_at(std::uint64_t end_ns) noexcept { end_ns_ = end_ns; }

 private:
  std::uint64_t begin_ns_ = 0;
  std::uint64_t end_ns_ = ~std::uint64_t{0};  ///< of the axis
  std::int64_t first_ns_ = 0;                 ///< where the host's first rank begins
  double drift_ = 0;  ///< of the axis against the host's clock; 0 on one host, which keeps times exact
};

/// A host whose clock cannot be aligned begins at 0, as if its first rank had returned from MPI_Init together
/// with the first of the others. Clocks are assumed to drift evenly over the run.
class JobAxis {
 public:
  explicit JobAxis(const MessageIndex& index);
  [[nodiscard]] const HostAxis& of(std::uint32_t host) const { return hosts_.at(host); }
  [[nodiscard]] std::uint64_t length_ns() const noexcept { return length_ns_; }

 private:
  std::vector<HostAxis> hosts_;
  std::uint64_t length_ns_ = 0;
};

}  // namespace penstock::analysis
