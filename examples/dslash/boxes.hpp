// Which sites can be updated when. Knows no kernels and no MPI.
#pragma once

#include <vector>

#include "examples/dslash/views.hpp"

namespace dslash {

constexpr Part all_of(int count) {
  return {0, 1, count};
}
constexpr Part inner_of(int count) {
  return {1, 1, count - 2};
}
constexpr Part outer_of(int count) {
  return {0, count - 1, 2};
}

inline Box whole(const Slab& slab) {
  return {all_of(slab.slices), all_of(slab.planes)};
}
/// Sites whose neighbours are all here.
inline Box interior(const Slab& slab) {
  return {slab.is_split_in_time() ? inner_of(slab.slices) : all_of(slab.slices),
          slab.is_split_along_z() ? inner_of(slab.planes) : all_of(slab.planes)};
}

/// Sites that can be updated once those faces are here: a bit each.
struct OuterBox {
  unsigned needed;
  Box box;
};

constexpr unsigned bit(Face face) {
  return 1U << face;
}

/// The outer slices, and the outer planes of the others, one by one.
inline std::vector<OuterBox> outer_boxes(const Slab& slab) {
  std::vector<OuterBox> boxes;
  if (slab.is_split_along_z()) {
    const Part inner = interior(slab).slices;
    boxes.push_back({bit(z_upper), {inner, {0, 1, 1}}});
    boxes.push_back({bit(z_lower), {inner, {slab.planes - 1, 1, 1}}});
  }
  if (slab.is_split_in_time()) {
    const unsigned corners = slab.is_split_along_z() ? bit(z_upper) | bit(z_lower) : 0;
    boxes.push_back({bit(t_upper) | corners, {{0, 1, 1}, all_of(slab.planes)}});
    boxes.push_back({bit(t_lower) | corners, {{slab.slices - 1, 1, 1}, all_of(slab.planes)}});
  }
  return boxes;
}

}  // namespace dslash
