// Which planes of the lattice (or slices, see bits/sliced.hpp) a rank holds, and which of them an update is
// for. Local plane −1 and plane `count` are halos: copies of the neighbours' outer planes. Knows no GPU and
// no MPI.
#pragma once

#include <array>
#include <cstddef>

#include "examples/support/philox.hpp"

namespace ising {

/// Planes of one rank, without halos; `first` is counted in the whole lattice.
struct Planes {
  int first = 0;
  int count = 0;
};

/// The planes are dealt out evenly; if that leaves a rest, the first ranks hold one more.
[[nodiscard]] inline Planes planes_of_rank(int extent, int rank, int rank_count) {
  const int least = extent / rank_count;
  const int rest = extent % rank_count;
  return {least * rank + (rank < rest ? rank : rest), least + (rank < rest ? 1 : 0)};
}

enum class Part {
  outer,  ///< the first and the last plane: the neighbours' halos are copies of them
  inner,  ///< the others
  whole
};

/// Local planes `first`, `first + stride`, …, `count` of them.
struct PlaneRange {
  int first = 0;
  int stride = 1;
  int count = 0;

  [[nodiscard]] EXAMPLE_HOST_DEVICE int plane(int index) const { return first + stride * index; }
};

/// Those of the planes for which `chosen` holds, in each part. They must be evenly spaced.
class PlaneParts {
 public:
  template <typename Chosen>
  PlaneParts(int count, Chosen&& chosen) {
    for (int plane = 0; plane < count; ++plane) {
      if (chosen(plane)) {
        const bool is_outer = plane == 0 || plane == count - 1;
        add(is_outer ? Part::outer : Part::inner, plane);
        add(Part::whole, plane);
      }
    }
  }

  [[nodiscard]] const PlaneRange& operator[](Part part) const {
    return ranges_[static_cast<std::size_t>(part)];
  }

 private:
  void add(Part part, int plane) {
    PlaneRange& range = ranges_[static_cast<std::size_t>(part)];
    if (range.count == 0) {
      range.first = plane;
    } else if (range.count == 1) {
      range.stride = plane - range.first;
    }
    ++range.count;
  }

  std::array<PlaneRange, 3> ranges_;
};

}  // namespace ising
