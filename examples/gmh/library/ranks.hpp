// Numbers the threads of all processes: a GMH rank combines an MPI rank and a virtual GPU. This file knows no
// MPI.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "examples/gmh/library/error.hpp"

namespace gmh {

class Ranks {
 public:
  /// `gpus` has the number of each process.
  explicit Ranks(std::vector<int> gpus) : gpus_(std::move(gpus)), first_(1, 0) {
    for (const int each : gpus_) first_.push_back(first_.back() + each);
  }

  [[nodiscard]] int size() const noexcept { return first_.back(); }
  [[nodiscard]] int processes() const noexcept { return static_cast<int>(gpus_.size()); }
  [[nodiscard]] int most_gpus() const noexcept { return *std::max_element(gpus_.begin(), gpus_.end()); }
  [[nodiscard]] int gpus_of(int process) const { return gpus_.at(static_cast<std::size_t>(process)); }
  /// Returns the first GMH rank of a process.
  [[nodiscard]] int first_of(int process) const { return first_.at(static_cast<std::size_t>(process)); }

  [[nodiscard]] int rank_of(int process, int vgpu) const {
    if (process < 0 || process >= processes())
      fail(GMH_ERR_PEER, "there is no MPI rank %d: they are 0 to %d", process, processes() - 1);
    if (vgpu < 0 || vgpu >= gpus_of(process))
      fail(GMH_ERR_PEER, "MPI rank %d has no virtual GPU %d: they are 0 to %d", process, vgpu,
           gpus_of(process) - 1);
    return first_of(process) + vgpu;
  }
  [[nodiscard]] int process_of(int rank) const {
    if (rank < 0 || rank >= size())
      fail(GMH_ERR_PEER, "there is no GMH rank %d: they are 0 to %d", rank, size() - 1);
    return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), rank) - first_.begin()) - 1;
  }
  [[nodiscard]] int vgpu_of(int rank) const { return rank - first_of(process_of(rank)); }

 private:
  std::vector<int> gpus_;
  std::vector<int> first_;
};

}  // namespace gmh
