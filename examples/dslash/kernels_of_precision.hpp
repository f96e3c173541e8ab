// All kernels of one precision. Each is compiled in a .cu file of its own, which includes this.
#pragma once

#include <algorithm>

#include "examples/dslash/hop_kernel.hpp"
#include "examples/dslash/kernels.hpp"
#include "examples/dslash/vector_bodies.hpp"

namespace dslash {

namespace kernels {

template <typename Precision>
__global__ void __launch_bounds__(block_threads) links(Slab slab, GaugeView<Precision> gauge, Model model) {
  const int site = static_cast<int>(blockIdx.x) * block_threads + static_cast<int>(threadIdx.x);
  const auto parity = static_cast<int>(blockIdx.y);
  if (site >= slab.sites()) {
    return;
  }
  for (int direction = 0; direction < dimensions; ++direction) {
    const Link<double> link = link_of(model, slab.site(parity, site), direction);
    std::byte* const block = gauge.block(parity, direction);
    if (gauge.rows == 2) {
      store_link<Precision, 2>(block, gauge.stride, site, link);
    } else {
      store_link<Precision, 3>(block, gauge.stride, site, link);
    }
  }
}

template <typename Precision>
__global__ void __launch_bounds__(block_threads)
    export_links(GaugeView<Precision> gauge, int parity, int direction, int count, double* plain) {
  const int site = static_cast<int>(blockIdx.x) * block_threads + static_cast<int>(threadIdx.x);
  if (site >= count) {
    return;
  }
  const std::byte* const block = gauge.block(parity, direction);
  const auto link = gauge.rows == 2 ? load_raw_link<Precision, 2>(block, gauge.stride, site)
                                    : load_raw_link<Precision, 3>(block, gauge.stride, site);
  const float unit = is_fixed_point<Precision> ? fixed_point_unit : 1;
  for (int i = 0; i < 9; ++i) {
    plain[(std::int64_t{site} * 9 + i) * 2] = link.row[i / 3][i % 3].re * unit;
    plain[(std::int64_t{site} * 9 + i) * 2 + 1] = link.row[i / 3][i % 3].im * unit;
  }
}

}  // namespace kernels

namespace detail {

[[nodiscard]] inline int blocks_of(int threads) {
  return (threads + block_threads - 1) / block_threads;
}

template <typename... Parameters, typename... Arguments>
void launch_blocks(cudaStream_t stream, dim3 grid, int threads, void (*kernel)(Parameters...),
                   const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream;
  check_launch(cudaLaunchKernelEx(&config, kernel, arguments...));
}

template <typename Precision>
[[nodiscard]] int pack_blocks(const PackArguments<Precision>& arguments, int threads) {
  return (items_of_faces(arguments.slab) * arguments.sides.selected.count + threads - 1) / threads;
}

/// The largest tile of so many sites or fewer that wastes no thread along x and y, where there is one of a
/// warp or more.
[[nodiscard]] inline Tile tile_of(const Lattice& lattice, const Box& box, int most_sites) {
  const int half_plane = lattice.x / 2 * lattice.y;
  Tile tile{6, 0, 0};
  while (tile.threads() > most_sites) {
    --tile.log_xy;
  }
  while (tile.log_xy > 5 && half_plane % (1 << tile.log_xy) != 0) {
    --tile.log_xy;
  }
  while (tile.log_xy > 0 && 1 << (tile.log_xy - 1) >= half_plane) {
    --tile.log_xy;
  }
  tile.log_z = 2 * tile.threads() <= most_sites && box.planes.count > 1 ? 1 : 0;
  while (2 * tile.threads() <= most_sites && 1 << tile.log_t < box.slices.count) {
    ++tile.log_t;
  }
  return tile;
}

template <typename Precision, int rows, bool adds_x, bool has_clover>
void launch_hop(cudaStream_t stream, const HopArguments<Precision>& arguments, int blocks) {
  launch_blocks(stream, dim3(static_cast<unsigned>(blocks)),
                arguments.tile.threads() * arguments.sides.selected.count,
                kernels::hop<Precision, rows, adds_x, has_clover>, arguments);
}

template <typename Precision, int rows>
void launch_hop_of_rows(cudaStream_t stream, const HopArguments<Precision>& arguments, int blocks) {
  const bool adds_x = arguments.x.data != nullptr;
  if (arguments.clover.data != nullptr) {
    adds_x ? launch_hop<Precision, rows, true, true>(stream, arguments, blocks)
           : launch_hop<Precision, rows, false, true>(stream, arguments, blocks);
  } else {
    adds_x ? launch_hop<Precision, rows, true, false>(stream, arguments, blocks)
           : launch_hop<Precision, rows, false, false>(stream, arguments, blocks);
  }
}

}  // namespace detail

template <typename Precision>
void queue_hop(cudaStream_t stream, HopArguments<Precision> arguments) {
  const Lattice& lattice = arguments.slab.lattice;
  arguments.tile = detail::tile_of(lattice, arguments.box, block_threads / arguments.sides.selected.count);
  if (arguments.pack.blocks > 0) {
    arguments.pack.blocks =
        detail::pack_blocks(arguments.pack, arguments.tile.threads() * arguments.sides.selected.count);
  }
  const auto tiles = [](int extent, int log_tile) { return (extent + (1 << log_tile) - 1) >> log_tile; };
  arguments.tiles_xy = tiles(lattice.x / 2 * lattice.y, arguments.tile.log_xy);
  arguments.tiles_z = tiles(arguments.box.planes.count, arguments.tile.log_z);
  const int blocks =
      arguments.tiles_xy * arguments.tiles_z * tiles(arguments.box.slices.count, arguments.tile.log_t) +
      arguments.pack.blocks;
  if (blocks == 0) {
    return;
  }
  arguments.gauge.rows == 2 ? detail::launch_hop_of_rows<Precision, 2>(stream, arguments, blocks)
                            : detail::launch_hop_of_rows<Precision, 3>(stream, arguments, blocks);
}

template <typename Precision>
void queue_pack(cudaStream_t stream, PackArguments<Precision> arguments) {
  arguments.blocks = detail::pack_blocks(arguments, block_threads);
  detail::launch_blocks(stream, dim3(static_cast<unsigned>(arguments.blocks)), block_threads,
                        kernels::pack<Precision>, arguments);
}

template <typename Precision>
void queue_links(cudaStream_t stream, const Slab& slab, const GaugeView<Precision>& gauge,
                 const Model& model) {
  detail::launch_blocks(stream, dim3(static_cast<unsigned>(detail::blocks_of(slab.sites())), 2),
                        block_threads, kernels::links<Precision>, slab, gauge, model);
}

template <typename Precision>
void queue_export_links(cudaStream_t stream, const GaugeView<Precision>& gauge, int parity, int direction,
                        int count, double* plain) {
  detail::launch_blocks(stream, dim3(static_cast<unsigned>(detail::blocks_of(count))), block_threads,
                        kernels::export_links<Precision>, gauge, parity, direction, count, plain);
}

template <typename Precision>
void queue_source(cudaStream_t stream, const Slab& slab, int parity, const SpinorView<Precision>& out,
                  const Model& model) {
  queue_over_sites(stream, slab, Selection::one(0), Source<Precision>{slab, parity, model, out}, SumRoom{});
}

template <typename Precision>
void queue_clover(cudaStream_t stream, const Slab& slab, int parity, const Model& model, double weight,
                  bool is_inverse, const CloverView<Precision>& out) {
  queue_over_sites(stream, slab, Selection::one(0),
                   MakeClover<Precision>{slab, parity, model, weight, is_inverse, out}, SumRoom{});
}

template <typename Precision>
void queue_apply_clover(cudaStream_t stream, const Slab& slab, const Selection& sides,
                        const CloverView<Precision>& clover, const SpinorView<Precision>& in,
                        const SpinorView<Precision>& out) {
  queue_over_sites(stream, slab, sides, ApplyClover<Precision>{clover, in, out}, SumRoom{});
}

template <typename Precision>
void queue_import(cudaStream_t stream, const Slab& slab, const double* plain,
                  const SpinorView<Precision>& out) {
  queue_over_sites(stream, slab, Selection::one(0), Import<Precision>{plain, out}, SumRoom{});
}

template <typename Precision>
void queue_export(cudaStream_t stream, const Slab& slab, const SpinorView<Precision>& in, double* plain) {
  queue_over_sites(stream, slab, Selection::one(0), Export<Precision>{in, plain}, SumRoom{});
}

template <typename Precision>
void queue_dot(cudaStream_t stream, const Slab& slab, const Selection& sides, const SpinorView<Precision>& a,
               const SpinorView<Precision>& b, const SumRoom& room) {
  queue_over_sites(stream, slab, sides, Dot<Precision>{a, b}, room);
}

template <typename Precision>
void queue_dot_and_norm(cudaStream_t stream, const Slab& slab, const Selection& sides,
                        const SpinorView<Precision>& a, const SpinorView<Precision>& b, const SumRoom& room) {
  queue_over_sites(stream, slab, sides, DotAndNorm<Precision>{a, b}, room);
}

template <typename Precision>
void queue_norm(cudaStream_t stream, const Slab& slab, const Selection& sides, const SpinorView<Precision>& a,
                const SumRoom& room) {
  queue_over_sites(stream, slab, sides, Norm<Precision>{a}, room);
}

template <typename Precision>
void queue_residual(cudaStream_t stream, const Slab& slab, const Selection& sides,
                    const SpinorView<Precision>& source, const SpinorView<Precision>& out,
                    const SumRoom& room) {
  queue_over_sites(stream, slab, sides, Residual<Precision>{source, out}, room);
}

template <typename Precision>
void queue_add_scaled(cudaStream_t stream, const Slab& slab, const Selection& sides, const SideScalars& scale,
                      const SpinorView<Precision>& x, const SpinorView<Precision>& y) {
  queue_over_sites(stream, slab, sides, AddScaled<Precision>{rounded<Precision>(scale), x, y}, SumRoom{});
}

template <typename Precision>
void queue_solution_step(cudaStream_t stream, const Slab& slab, const Selection& sides,
                         const SideScalars& alpha, const SideScalars& omega,
                         const SolutionStep<Precision>& step, const SumRoom& room) {
  queue_over_sites(stream, slab, sides,
                   SolutionUpdate<Precision>{rounded<Precision>(alpha), rounded<Precision>(omega),
                                             rounded<Precision>(omega, -1), step},
                   room);
}

template <typename Precision>
void queue_direction_step(cudaStream_t stream, const Slab& slab, const Selection& sides,
                          const SideScalars& beta, const SideScalars& omega, const SpinorView<Precision>& r,
                          const SpinorView<Precision>& v, const SpinorView<Precision>& p) {
  queue_over_sites(
      stream, slab, sides,
      DirectionUpdate<Precision>{rounded<Precision>(beta), rounded<Precision>(omega, -1), r, v, p},
      SumRoom{});
}

template <typename Precision>
void queue_gamma5(cudaStream_t stream, const Slab& slab, const Selection& sides,
                  const SpinorView<Precision>& in, const SpinorView<Precision>& out) {
  queue_over_sites(stream, slab, sides, Gamma5<Precision>{in, out}, SumRoom{});
}

}  // namespace dslash

#define DSLASH_KERNELS_OF(P)                                                                                 \
  namespace dslash {                                                                                         \
  using View = SpinorView<P>;                                                                                \
  template void queue_hop<P>(cudaStream_t, HopArguments<P>);                                                 \
  template void queue_pack<P>(cudaStream_t, PackArguments<P>);                                               \
  template void queue_links<P>(cudaStream_t, const Slab&, const GaugeView<P>&, const Model&);                \
  template void queue_source<P>(cudaStream_t, const Slab&, int, const View&, const Model&);                  \
  template void queue_clover<P>(cudaStream_t, const Slab&, int, const Model&, double, bool,                  \
                                const CloverView<P>&);                                                       \
  template void queue_apply_clover<P>(cudaStream_t, const Slab&, const Selection&, const CloverView<P>&,     \
                                      const View&, const View&);                                             \
  template void queue_import<P>(cudaStream_t, const Slab&, const double*, const View&);                      \
  template void queue_export<P>(cudaStream_t, const Slab&, const View&, double*);                            \
  template void queue_export_links<P>(cudaStream_t, const GaugeView<P>&, int, int, int, double*);            \
  template void queue_dot<P>(cudaStream_t, const Slab&, const Selection&, const View&, const View&,          \
                             const SumRoom&);                                                                \
  template void queue_dot_and_norm<P>(cudaStream_t, const Slab&, const Selection&, const View&, const View&, \
                                      const SumRoom&);                                                       \
  template void queue_norm<P>(cudaStream_t, const Slab&, const Selection&, const View&, const SumRoom&);     \
  template void queue_residual<P>(cudaStream_t, const Slab&, const Selection&, const View&, const View&,     \
                                  const SumRoom&);                                                           \
  template void queue_add_scaled<P>(cudaStream_t, const Slab&, const Selection&, const SideScalars&,         \
                                    const View&, const View&);                                               \
  template void queue_solution_step<P>(cudaStream_t, const Slab&, const Selection&, const SideScalars&,      \
                                       const SideScalars&, const SolutionStep<P>&, const SumRoom&);          \
  template void queue_direction_step<P>(cudaStream_t, const Slab&, const Selection&, const SideScalars&,     \
                                        const SideScalars&, const View&, const View&, const View&);          \
  template void queue_gamma5<P>(cudaStream_t, const Slab&, const Selection&, const View&, const View&);      \
  }
