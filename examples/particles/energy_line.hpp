// How energy drifts: a straight line through what it was at many steps. Two single steps would tell how it
// fluctuates. Knows no MPI and no GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace particles {

class EnergyLine {
 public:
  void add(std::int64_t step, double energy) { samples_.push_back({static_cast<double>(step), energy}); }
  void clear() { samples_.clear(); }
  [[nodiscard]] std::size_t count() const { return samples_.size(); }

  /// By how much the line of least squares rises between the first step and the last, over the mean energy.
  [[nodiscard]] double drift() const {
    if (samples_.size() < 2) {
      return 0;
    }
    Sample mean{0, 0};
    for (const Sample& sample : samples_) {
      mean.step += sample.step / static_cast<double>(samples_.size());
      mean.energy += sample.energy / static_cast<double>(samples_.size());
    }
    double squares = 0;
    double products = 0;
    for (const Sample& sample : samples_) {
      squares += (sample.step - mean.step) * (sample.step - mean.step);
      products += (sample.step - mean.step) * (sample.energy - mean.energy);
    }
    return products / squares * (samples_.back().step - samples_.front().step) / mean.energy;
  }

 private:
  struct Sample {
    double step;
    double energy;
  };
  std::vector<Sample> samples_;
};

}  // namespace particles
