// One replica, a byte a spin, in checkerboard layout.
#pragma once

#include "examples/ising/bytes/kernels.hpp"
#include "examples/ising/glass.hpp"

namespace ising::bytes {

class ByteGlass final : public Glass {
 public:
  ByteGlass(const Options& options, RankOf rank);
  [[nodiscard]] static std::int64_t device_bytes(const Options& options, RankOf rank);

  [[nodiscard]] int phases() const override { return 2; }
  void queue_start(const example::Stream& stream) override;
  void queue_update(const example::Stream& stream, int phase, Part part, std::uint32_t sweep) override;
  [[nodiscard]] Halos halos(int phase) override;
  void queue_tally(const example::Stream& stream, Tally* tallies) override;
  [[nodiscard]] std::vector<std::uint32_t> gather(const example::Stream& stream,
                                                  example::Exchanger& exchanger) override;

 private:
  [[nodiscard]] std::uint32_t* plane(int colour, int plane) const {
    return view_.spins[colour] + view_.slab.row_start(plane, 0);
  }

  Model model_;
  Metropolis metropolis_;
  RankOf rank_;
  example::DeviceArray<std::uint32_t> spins_even_;
  example::DeviceArray<std::uint32_t> spins_odd_;
  example::DeviceArray<std::uint32_t> couplings_even_;
  example::DeviceArray<std::uint32_t> couplings_odd_;
  GlassView view_;
  PlaneParts parts_;
};

}  // namespace ising::bytes
