// A rank's device memory: its tiling, and its particles. Knows no MPI.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/particles/cells.hpp"
#include "examples/particles/domain.hpp"
#include "examples/particles/rim_kernels.hpp"
#include "examples/particles/tiling.hpp"
#include "examples/support/gpu.hpp"

namespace particles {

/// A copy of host memory.
template <typename Element>
class DeviceCopy {
 public:
  explicit DeviceCopy(const std::vector<Element>& elements) : array_(elements.empty() ? 1 : elements.size()) {
    example::check(
        cudaMemcpy(array_.get(), elements.data(), elements.size() * sizeof(Element), cudaMemcpyDefault),
        "copy to the GPU");
  }
  [[nodiscard]] const Element* get() const { return array_.get(); }

 private:
  example::DeviceArray<Element> array_;
};

/// Capsules beside the cells' wall, cell by cell. A cell without any is far from it.
struct CapsulesOfCells {
  std::vector<std::uint32_t> starts;
  std::vector<Capsule> capsules;
};

class DeviceTiling {
 public:
  DeviceTiling(const Tiling& tiling, const Domain& domain);

  [[nodiscard]] const Cells& cells() const { return cells_; }
  [[nodiscard]] static std::int64_t bytes(const Tiling& tiling, const Domain& domain);

 private:
  DeviceCopy<std::uint32_t> row_starts_;
  DeviceCopy<std::uint32_t> x_;
  DeviceCopy<std::uint32_t> local_;
  DeviceCopy<std::uint32_t> segment_starts_;
  DeviceCopy<Segment> segments_;
  DeviceCopy<Connection> connections_;
  CapsulesOfCells capsules_of_cells_;
  DeviceCopy<std::uint32_t> capsule_starts_;
  DeviceCopy<Capsule> capsules_;
  Cells cells_{};
};

/// How many particles and records there is room for.
struct Rooms {
  std::uint32_t particles;  ///< own ones, and others' in frontier and external cells
  std::uint32_t rim;        ///< own ones in frontier and external cells
  std::uint32_t arrivals;   ///< records that come in a step
};

class ParticleMemory {
 public:
  ParticleMemory(const Classes& classes, const Rooms& rooms);
  [[nodiscard]] static std::int64_t bytes(const Classes& classes, const Rooms& rooms);

  /// Those that have moved, counted in the current counts; and those that move now, in the next ones.
  [[nodiscard]] Movers moved() const { return movers(current_); }
  [[nodiscard]] Movers moving() const { return movers(1 - current_); }
  void swap_counts() { current_ = 1 - current_; }

  [[nodiscard]] Sorted sorted() const {
    return {places_.get(), motions_.get(), cells_.get(), starts_.get(), rooms_.particles};
  }
  [[nodiscard]] Sorted rim() const {
    return {rim_places_.get(), rim_motions_.get(), rim_cells_.get(), starts_.get(), rooms_.rim};
  }
  [[nodiscard]] Arrivals arrivals() const {
    return {arrival_cells_.get(), arrival_turns_.get(), rim_counts_.get(), rim_starts_.get()};
  }
  [[nodiscard]] Status* status() const { return status_.get(); }

 private:
  [[nodiscard]] Movers movers(int counts) const {
    return {moved_places_.get(), moved_motions_.get(), moved_cells_.get(), moved_turns_.get(),
            counts_.get() + counts * counts_stride_};
  }

  Rooms rooms_;
  std::int64_t counts_stride_;
  int current_ = 0;
  example::DeviceArray<Place> moved_places_;
  example::DeviceArray<Motion> moved_motions_;
  example::DeviceArray<std::uint32_t> moved_cells_;
  example::DeviceArray<std::uint32_t> moved_turns_;
  example::DeviceArray<std::uint32_t> counts_;
  example::DeviceArray<Place> places_;
  example::DeviceArray<Motion> motions_;
  example::DeviceArray<std::uint32_t> cells_;
  example::DeviceArray<std::uint32_t> starts_;
  example::DeviceArray<Place> rim_places_;
  example::DeviceArray<Motion> rim_motions_;
  example::DeviceArray<std::uint32_t> rim_cells_;
  example::DeviceArray<std::uint32_t> arrival_cells_;
  example::DeviceArray<std::uint32_t> arrival_turns_;
  example::DeviceArray<std::uint32_t> rim_counts_;
  example::DeviceArray<std::uint32_t> rim_starts_;
  example::DeviceArray<Status> status_;
};

}  // namespace particles
