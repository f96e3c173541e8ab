// The share of each short bin of the run that a state takes: the level of detail that holds everything,
// regardless of the number of pieces. Must not know tracks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::analysis::job_timeline {

/// The shares of a run cut into `bins` equal bins. Unit: ns. Memory: 4 bytes a bin and state.
class Shares {
 public:
  Shares(std::uint64_t run_ns, std::size_t bins, std::size_t states);
  void add(std::uint64_t begin_ns, std::uint64_t end_ns, std::size_t state, float weight = 1);
  [[nodiscard]] std::size_t bins() const noexcept { return bins_; }
  /// Returns 0 … 1; more if pieces overlap.
  [[nodiscard]] float share(std::size_t bin, std::size_t state) const {
    return sums_ns_[state * bins_ + bin] / bin_ns_;
  }
  /// Returns a byte per bin, one state after the other: 255 is the whole bin; anything above zero is at least
  /// 1.
  [[nodiscard]] std::vector<std::uint8_t> bytes() const;

 private:
  std::size_t bins_;
  float bin_ns_;
  double bins_per_ns_;
  std::vector<float> sums_ns_;
};

[[nodiscard]] std::uint8_t byte_of(float share) noexcept;

}  // namespace penstock::analysis::job_timeline
