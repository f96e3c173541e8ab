// 32 replicas, a bit a spin, in one of two layouts: Checkerboard or Sliced.
#pragma once

#include "examples/ising/bits/kernels.hpp"
#include "examples/ising/glass.hpp"

namespace ising::bits {

template <typename Layout>
class BitGlass final : public Glass {
 public:
  BitGlass(const Options& options, RankOf rank);
  [[nodiscard]] static std::int64_t device_bytes(const Options& options, RankOf rank);

  [[nodiscard]] int phases() const override { return static_cast<int>(parts_.size()); }
  void queue_start(const example::Stream& stream) override;
  void queue_update(const example::Stream& stream, int phase, Part part, std::uint32_t sweep) override;
  [[nodiscard]] Halos halos(int phase) override;
  void queue_tally(const example::Stream& stream, Tally* tallies) override;
  void queue_overlap(const example::Stream& stream, unsigned long long* different) override;
  [[nodiscard]] std::vector<std::uint32_t> gather(const example::Stream& stream,
                                                  example::Exchanger& exchanger) override;

 private:
  Model model_;
  ThresholdBits thresholds_;
  RankOf rank_;
  example::DeviceArray<std::uint32_t> spins_;
  example::DeviceArray<std::uint8_t> couplings_;
  GlassView<Layout> view_;
  std::vector<PlaneParts> parts_;  ///< of each phase
};

}  // namespace ising::bits
