#include "analysis/job_timeline/shares.hpp"

#include <algorithm>
#include <cmath>

namespace penstock::analysis::job_timeline {

Shares::Shares(std::uint64_t run_ns, std::size_t bins, std::size_t states)
    : bins_(bins),
      bin_ns_(static_cast<float>(std::max<std::uint64_t>(run_ns, 1)) / static_cast<float>(bins)),
      bins_per_ns_(static_cast<double>(bins) / static_cast<double>(std::max<std::uint64_t>(run_ns, 1))),
      sums_ns_(bins * states) {}

void Shares::add(std::uint64_t begin_ns, std::uint64_t end_ns, std::size_t state, float weight) {
  const double begin = static_cast<double>(begin_ns) * bins_per_ns_;
  const double end = std::min(static_cast<double>(end_ns) * bins_per_ns_, static_cast<double>(bins_));
  float* const sums = sums_ns_.data() + state * bins_;
  for (auto bin = static_cast<std::size_t>(begin); static_cast<double>(bin) < end; ++bin) {
    const double covered =
        std::min(end, static_cast<double>(bin) + 1) - std::max(begin, static_cast<double>(bin));
    sums[bin] += static_cast<float>(covered) * bin_ns_ * weight;
  }
}

std::uint8_t byte_of(float share) noexcept {
  constexpr float whole = 255;
  if (!(share > 0)) {
    return 0;
  }
  return static_cast<std::uint8_t>(std::clamp(std::round(share * whole), 1.0F, whole));
}

std::vector<std::uint8_t> Shares::bytes() const {
  std::vector<std::uint8_t> bytes(sums_ns_.size());
  std::transform(sums_ns_.begin(), sums_ns_.end(), bytes.begin(),
                 [this](float sum_ns) { return byte_of(sum_ns / bin_ns_); });
  return bytes;
}

}  // namespace penstock::analysis::job_timeline
