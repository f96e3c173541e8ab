// The hopping term, one thread a site: the same kernel for the whole slab, its interior and its outer slices,
// so that a site gets the same bits whoever updates it. For .cu files only.
#pragma once

#include "examples/dslash/pack_kernel.hpp"

namespace dslash {

/// Blocks that a multiprocessor should hold at once: so many registers a thread may have at most. With the
/// third rows of links, single precision needs a few more than four blocks leave. Half precision waits for
/// instructions rather than for memory: it is 6 % faster with six blocks, though two registers spill.
template <typename Precision, int rows>
constexpr int blocks_together = sizeof(typename Precision::Real) == 8 ? 2
                                : rows == 3                           ? 3
                                : is_fixed_point<Precision>           ? 6
                                                                      : 4;

/// What a neighbour's numbers and its link's, not yet multiplied by their units, are to be multiplied by.
template <typename Precision>
DSLASH_INLINE typename Precision::Real weight_of(typename Precision::Real factor,
                                                 [[maybe_unused]] float norm) {
  if constexpr (is_fixed_point<Precision>) {
    return factor * (norm * (fixed_point_unit * fixed_point_unit));
  } else {
    return factor;
  }
}

/// Where a neighbour along a direction of space is: a site of this rank, or an item of a face.
struct Neighbour {
  int site;
  int item = -1;  ///< in a face; else −1

  [[nodiscard]] DSLASH_INLINE bool is_ghost() const { return item >= 0; }
};

/// Half of a neighbour's spinor, projected, and its norm.
template <typename Precision, int direction, int sign>
DSLASH_INLINE void load_projected(const HopArguments<Precision>& arguments, const SpinorView<Precision>& in,
                                  int side, Neighbour neighbour, HalfSpinor<typename Precision::Real>& half,
                                  float& norm) {
  if constexpr (direction == z_direction) {
    if (neighbour.is_ghost()) {
      constexpr Face face = sign > 0 ? z_lower : z_upper;
      wait_for(arguments.arrival.flags[face], arguments.arrival.epoch);
      const FaceView view = view_of_side(arguments.ghosts, face, arguments.sides, side);
      norm = load_norm<Precision, Memory::changing>(view.norms, neighbour.item);
      half = load_raw_half<ZPrecision<Precision>, half_spinor_numbers, 0, Memory::changing>(
          view.data, arguments.slab.z_face_sites(), neighbour.item);
      return;
    }
  }
  norm = load_norm<Precision>(in.norms, neighbour.site);
  half = project<direction, sign>(load_raw_spinor(in, neighbour.site));
}

/// Adds both neighbours along a direction of space.
template <typename Precision, int rows, int direction>
DSLASH_INLINE void hop_in_space(const HopArguments<Precision>& arguments, const SpinorView<Precision>& in,
                                int side, int site, Neighbour ahead, Neighbour behind,
                                Spinor<typename Precision::Real>& sum) {
  // Where the weight is the same for all sites, the sum is multiplied by it at the end.
  constexpr bool is_weighted = is_fixed_point<Precision>;
  const int stride = arguments.gauge.stride;
  HalfSpinor<typename Precision::Real> half;
  float norm = 1;
  {
    load_projected<Precision, direction, 1>(arguments, in, side, ahead, half, norm);
    const auto link =
        load_raw_link<Precision, rows>(arguments.gauge.block(arguments.parity, direction), stride, site);
    const auto weight = weight_of<Precision>(arguments.spatial_weight, norm);
    add_reconstructed<direction, 1, is_weighted>(sum, weight, multiply(link, half));
  }
  {
    load_projected<Precision, direction, -1>(arguments, in, side, behind, half, norm);
    // A ghost's link is in the padding.
    const int link_site = behind.is_ghost() ? arguments.slab.sites() + behind.item : behind.site;
    const auto link = load_raw_link<Precision, rows>(arguments.gauge.block(1 - arguments.parity, direction),
                                                     stride, link_site);
    const auto weight = weight_of<Precision>(arguments.spatial_weight, norm);
    add_reconstructed<direction, -1, is_weighted>(sum, weight, adjoint_multiply(link, half));
  }
}

/// sum[half] += weight * addend
template <int first_spin, typename Real>
DSLASH_INLINE void add_half(Spinor<Real>& sum, Real weight, const HalfSpinor<Real>& addend) {
  DSLASH_UNROLL for (int spin = 0; spin < 2; ++spin) {
    DSLASH_UNROLL for (int colour = 0; colour < 3; ++colour) {
      Complex<Real>& number = sum.spin[first_spin + spin][colour];
      number = sum_of<true>(number, weight, addend.spin[spin][colour]);
    }
  }
}

/// Half a spinor of the slice ahead (its lower half) or behind (its upper one): of this rank, or a ghost.
template <typename Precision, bool is_ahead>
DSLASH_INLINE void load_in_time(const HopArguments<Precision>& arguments, const SpinorView<Precision>& in,
                                int side, bool is_ghost, int site, int in_face,
                                HalfSpinor<typename Precision::Real>& half, float& norm) {
  constexpr int first = is_ahead ? half_spinor_numbers : 0;
  if (is_ghost) {
    constexpr Face of = is_ahead ? t_lower : t_upper;
    wait_for(arguments.arrival.flags[of], arguments.arrival.epoch);
    const FaceView face = view_of_side(arguments.ghosts, of, arguments.sides, side);
    norm = load_norm<Precision, Memory::changing>(face.norms, in_face);
    half = load_raw_half<Precision, half_spinor_numbers, 0, Memory::changing>(
        face.data, arguments.slab.face_sites(), in_face);
  } else {
    norm = load_norm<Precision>(in.norms, site);
    half = load_raw_half<Precision, spinor_numbers, first, Memory::constant>(in.data, in.sites, site);
  }
}

/// Adds both neighbours in time. 1 − gamma_4 leaves twice the lower half, 1 + gamma_4 twice the upper one.
template <typename Precision, int rows>
DSLASH_INLINE void hop_in_time(const HopArguments<Precision>& arguments, const SpinorView<Precision>& in,
                               int side, int slice, int in_face, Spinor<typename Precision::Real>& sum) {
  using Real = typename Precision::Real;
  const Slab& slab = arguments.slab;
  const int face_sites = slab.face_sites();
  const int site = slice * face_sites + in_face;
  const int t = slab.first_slice + slice;
  float norm = 1;
  {
    const bool is_last = slice + 1 == slab.slices;
    HalfSpinor<Real> half;
    load_in_time<Precision, true>(arguments, in, side, is_last && slab.is_split_in_time(),
                                  is_last ? in_face : site + face_sites, in_face, half, norm);
    const auto link = load_raw_link<Precision, rows>(arguments.gauge.block(arguments.parity, time_direction),
                                                     arguments.gauge.stride, site);
    const Real factor = t + 1 == slab.lattice.t ? 2 * arguments.boundary_sign : Real{2};
    add_half<2>(sum, weight_of<Precision>(factor, norm), multiply(link, half));
  }
  {
    const bool is_first = slice == 0;
    const bool is_ghost = is_first && slab.is_split_in_time();
    const int behind = is_first ? slab.sites() - face_sites + in_face : site - face_sites;
    HalfSpinor<Real> half;
    load_in_time<Precision, false>(arguments, in, side, is_ghost, behind, in_face, half, norm);
    const auto link = load_raw_link<Precision, rows>(
        arguments.gauge.block(1 - arguments.parity, time_direction), arguments.gauge.stride,
        is_ghost ? slab.sites() + in_face : behind);  // a ghost's link is in the padding
    const Real factor = t == 0 ? 2 * arguments.boundary_sign : Real{2};
    add_half<0>(sum, weight_of<Precision>(factor, norm), adjoint_multiply(link, half));
  }
}

// Not in an unnamed namespace: profilers show these names.
namespace kernels {

template <typename Precision, int rows, bool adds_x, bool has_clover>
__global__ void __launch_bounds__(block_threads, blocks_together<Precision, rows>)
    hop(const __grid_constant__ HopArguments<Precision> arguments) {
  using Real = typename Precision::Real;
  int block = static_cast<int>(blockIdx.x);
  if (block < arguments.pack.blocks) {
    pack_faces(arguments.pack, block);
    return;
  }
  block -= arguments.pack.blocks;
  const Slab& slab = arguments.slab;
  const Lattice& lattice = slab.lattice;
  const Tile& tile = arguments.tile;
  const int thread = static_cast<int>(threadIdx.x) & (tile.threads() - 1);
  const int side = static_cast<int>(threadIdx.x) / tile.threads();
  const int row_of_tiles = block / arguments.tiles_xy;
  const int tile_t = row_of_tiles / arguments.tiles_z;
  const int half_x = lattice.x / 2;
  const int half_plane = half_x * lattice.y;
  const int xy =
      ((block - row_of_tiles * arguments.tiles_xy) << tile.log_xy) + (thread & ((1 << tile.log_xy) - 1));
  const int index_z = ((row_of_tiles - tile_t * arguments.tiles_z) << tile.log_z) +
                      (thread >> tile.log_xy & ((1 << tile.log_z) - 1));
  const int index_t = (tile_t << tile.log_t) + (thread >> (tile.log_xy + tile.log_z));
  const Box& box = arguments.box;
  if (xy >= half_plane || index_z >= box.planes.count || index_t >= box.slices.count) {
    return;
  }
  const int slice = box.slices.first + box.slices.step * index_t;
  const int z = box.planes.first + box.planes.step * index_z;
  const int y = xy / half_x;
  const int column = xy - y * half_x;
  const int in_face = z * half_plane + xy;
  const int site = slice * slab.face_sites() + in_face;
  const bool is_odd_row = ((y + slab.first_plane + z + slab.first_slice + slice + arguments.parity) & 1) != 0;

  const SpinorView<Precision> in = view_of_side(arguments.in, arguments.sides, side);
  Spinor<Real> sum{};
  {
    const int ahead = !is_odd_row ? site : column + 1 == half_x ? site + 1 - half_x : site + 1;
    const int behind = is_odd_row ? site : column == 0 ? site - 1 + half_x : site - 1;
    hop_in_space<Precision, rows, 0>(arguments, in, side, site, {ahead}, {behind}, sum);
  }
  {
    const int ahead = y + 1 == lattice.y ? site + half_x - half_plane : site + half_x;
    const int behind = y == 0 ? site - half_x + half_plane : site - half_x;
    hop_in_space<Precision, rows, 1>(arguments, in, side, site, {ahead}, {behind}, sum);
  }
  {
    const bool is_last = z + 1 == slab.planes;
    const int ahead = is_last ? site + half_plane - slab.face_sites() : site + half_plane;
    const int behind = z == 0 ? site - half_plane + slab.face_sites() : site - half_plane;
    const int item = slab.is_split_along_z() ? slice * half_plane + xy : -1;
    hop_in_space<Precision, rows, z_direction>(arguments, in, side, site, {ahead, is_last ? item : -1},
                                               {behind, z == 0 ? item : -1}, sum);
  }
  if constexpr (!is_fixed_point<Precision>) {
    DSLASH_UNROLL for (int i = 0; i < 12; ++i) {
      sum.spin[i / 3][i % 3] = scaled(arguments.spatial_weight, sum.spin[i / 3][i % 3]);
    }
  }
  hop_in_time<Precision, rows>(arguments, in, side, slice, in_face, sum);
  if constexpr (has_clover) {
    multiply_by_clover(arguments.clover, site, sum);
  }
  if constexpr (adds_x) {
    const Spinor<Real> x = load_spinor(view_of_side(arguments.x, arguments.sides, side), site);
    DSLASH_UNROLL for (int i = 0; i < 12; ++i) {
      const Complex<Real> number = sum.spin[i / 3][i % 3];
      sum.spin[i / 3][i % 3] = {multiply_add(arguments.scale, number.re, x.spin[i / 3][i % 3].re),
                                multiply_add(arguments.scale, number.im, x.spin[i / 3][i % 3].im)};
    }
  }
  store_spinor(view_of_side(arguments.out, arguments.sides, side), site, sum);
}

}  // namespace kernels
}  // namespace dslash
