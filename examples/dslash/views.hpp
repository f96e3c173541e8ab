// Where a rank's fields lie in device memory, as kernels get it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "examples/dslash/lattice.hpp"
#include "examples/dslash/precision.hpp"

namespace dslash {

constexpr int most_sides = 12;

/// Some of a field's right-hand sides, in their order.
struct Selection {
  int count = 1;
  std::uint64_t fields = 0;  ///< the field of each, four bits each: kernels index no array

  [[nodiscard]] static Selection none() { return {0, 0}; }
  [[nodiscard]] static Selection all(int sides) { return {sides, 0xBA9876543210}; }
  [[nodiscard]] static Selection one(int field) { return {1, static_cast<std::uint64_t>(field)}; }
  void add(int field) { fields |= static_cast<std::uint64_t>(field) << 4 * count++; }

  [[nodiscard]] DSLASH_INLINE int field_of(int side) const {
    return static_cast<int>(fields >> 4 * side & 0xF);
  }
};

/// Spinors of one parity, of the first right-hand side.
template <typename Precision>
struct SpinorView {
  std::byte* data;
  float* norms;  ///< of fixed point numbers: the largest of a spinor's 24
  int sites;
  std::size_t side_bytes;  ///< from a right-hand side to the next one
};

/// Numbers of a face along z. Projected spinors in fixed point do not fit into as many bits: they travel as
/// real numbers that are whole, so that no bit is lost.
template <typename Precision>
using ZPrecision = std::conditional_t<is_fixed_point<Precision>, Single, Precision>;

/// Half spinors of one face: what is sent and received.
struct FaceView {
  std::byte* data;
  float* norms;
};

/// The faces that neighbours need, or have sent: in time, halves of spinors, along z, projected ones.
struct Faces {
  FaceView of[most_faces];
};

/// Links of both parities and all directions. Each block of links is padded by a face, where the links in
/// time of the slice before the first one are, or those along z of the plane before.
template <typename Precision>
struct GaugeView {
  std::byte* data;
  int stride;  ///< of a block, in links
  int rows;    ///< 2, or 3 for whole matrices

  [[nodiscard]] DSLASH_INLINE std::size_t link_bytes() const {
    return static_cast<std::size_t>(rows) * 6 * sizeof(typename Precision::Stored);
  }
  [[nodiscard]] DSLASH_INLINE std::byte* block(int parity, int direction) const {
    return data + static_cast<std::size_t>(parity * dimensions + direction) *
                      static_cast<std::size_t>(stride) * link_bytes();
  }
};

/// The clover term, or its inverse, of one parity: two hermitian blocks a site.
template <typename Precision>
struct CloverView {
  std::byte* data;
  float* norms;
  int sites;
};

/// Slices or planes: first, first + step, …
struct Part {
  int first;
  int step;
  int count;
};

/// Sites that a kernel updates: some planes of some time slices.
struct Box {
  Part slices;
  Part planes;
};

/// A block of threads updates a tile of so many sites along x and y together, z and t, all powers of two.
struct Tile {
  int log_xy = 6;
  int log_z = 1;
  int log_t = 0;

  [[nodiscard]] DSLASH_INLINE int threads() const { return 1 << (log_xy + log_z + log_t); }
};

/// Right-hand sides that share the links. Faces of those that are selected lie behind one another.
struct Sides {
  Selection selected;
  std::size_t face_bytes[most_faces] = {};  ///< from a side's face to the next one's
};

template <typename Precision>
DSLASH_INLINE SpinorView<Precision> view_of_field(SpinorView<Precision> view, int field) {
  const std::size_t bytes = static_cast<std::size_t>(field) * view.side_bytes;
  return {view.data + bytes, view.norms + bytes / sizeof(float), view.sites, view.side_bytes};
}

template <typename Precision>
DSLASH_INLINE SpinorView<Precision> view_of_side(SpinorView<Precision> view, const Sides& sides, int side) {
  return view_of_field(view, sides.selected.field_of(side));
}

DSLASH_INLINE FaceView view_of_side(const Faces& faces, Face face, const Sides& sides, int side) {
  const std::size_t bytes = static_cast<std::size_t>(side) * sides.face_bytes[face];
  const FaceView view = faces.of[face];
  return {view.data + bytes, view.norms + bytes / sizeof(float)};
}

/// What is said once all faces are packed.
struct Signal {
  unsigned* arrived;  ///< blocks that have packed; in device memory, zero in between; or nobody is told
  unsigned* flags[most_faces];  ///< set to `epoch`, where they are
  unsigned epoch;
};

template <typename Precision>
struct PackArguments {
  SpinorView<Precision> in;
  Faces out;
  Sides sides;
  Slab slab;
  int blocks;  ///< 0: nothing is packed
  Signal signal;
};

/// Until when a kernel waits before it reads a face: until the flags have reached `epoch`.
struct Arrival {
  const unsigned* flags[most_faces];  ///< or nothing
  unsigned epoch;
};

/// out = D in, or x + scale D in; with a clover term C, C D in instead of D in; `out` and `x` have parity
/// `parity`, `in` the other one.
template <typename Precision>
struct HopArguments {
  using Real = typename Precision::Real;
  Slab slab;
  Tile tile;
  Box box;
  Sides sides;
  int parity;
  int tiles_xy;
  int tiles_z;
  Real scale;
  Real spatial_weight;  ///< 1 / anisotropy
  Real boundary_sign;   ///< −1: antiperiodic in time
  GaugeView<Precision> gauge;
  CloverView<Precision> clover;  ///< or nothing
  SpinorView<Precision> in;
  SpinorView<Precision> x;
  SpinorView<Precision> out;
  Faces ghosts;
  Arrival arrival;
  PackArguments<Precision> pack;  ///< done by the first blocks
};

/// Where sums over sites are collected, side by side of those that are selected.
struct SumRoom {
  double* partials;      ///< of thread blocks
  unsigned* arrived;     ///< thread blocks of each slice, then slices; zero in between
  double* z_block_sums;  ///< four for each block of planes of each slice, in device memory: kernels read them
  double* z_block_sums_on_host;  ///< copies of them, if the host wants them
  double* totals;                ///< four, perhaps in mapped host memory: kernels only write them
  int z_blocks = 1;              ///< of a slice, whose sums are added in order
};

constexpr int most_sums = 4;

}  // namespace dslash
