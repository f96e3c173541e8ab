// All kernels, as calls that queue them on a stream. Knows no MPI, so that they are compiled once for all of
// them.
#pragma once

#include <array>
#include <complex>

#include <cuda_runtime.h>

#include "examples/dslash/model.hpp"
#include "examples/dslash/views.hpp"

namespace dslash {

/// Ends the job if a kernel could not be launched. Defined where MPI is known.
void check_launch(cudaError_t error);

/// Updates the sites of `box`; its first blocks pack faces if `pack.blocks` is not 0. Without `x.data`,
/// out = D in, else out = x + scale D in. Tiles, and how many blocks pack, are filled in here.
template <typename Precision>
void queue_hop(cudaStream_t stream, HopArguments<Precision> arguments);
template <typename Precision>
void queue_pack(cudaStream_t stream, PackArguments<Precision> arguments);

/// Links of the model, but for the padding.
template <typename Precision>
void queue_links(cudaStream_t stream, const Slab& slab, const GaugeView<Precision>& gauge,
                 const Model& model);
/// The model's random source, of one parity.
template <typename Precision>
void queue_source(cudaStream_t stream, const Slab& slab, int parity, const SpinorView<Precision>& out,
                  const Model& model);
/// The model's clover term, or its inverse, of one parity. `weight` is kappa times its coefficient.
template <typename Precision>
void queue_clover(cudaStream_t stream, const Slab& slab, int parity, const Model& model, double weight,
                  bool is_inverse, const CloverView<Precision>& out);
/// out = C in; they may be the same.
template <typename Precision>
void queue_apply_clover(cudaStream_t stream, const Slab& slab, const Selection& sides,
                        const CloverView<Precision>& clover, const SpinorView<Precision>& in,
                        const SpinorView<Precision>& out);
/// From and to plain numbers in device memory, 24 a site.
template <typename Precision>
void queue_import(cudaStream_t stream, const Slab& slab, const double* plain,
                  const SpinorView<Precision>& out);
template <typename Precision>
void queue_export(cudaStream_t stream, const Slab& slab, const SpinorView<Precision>& in, double* plain);
/// Links of one parity and direction, 18 numbers each; the padding's follow where there is one.
template <typename Precision>
void queue_export_links(cudaStream_t stream, const GaugeView<Precision>& gauge, int parity, int direction,
                        int count, double* plain);

// Linear algebra of the solver, of some right-hand sides, each with scalars of its own, which are found by
// the field. Sums go to `room`.

using SideScalars = std::array<std::complex<double>, most_sides>;

/// conj(a) b: two numbers
template <typename Precision>
void queue_dot(cudaStream_t stream, const Slab& slab, const Selection& sides, const SpinorView<Precision>& a,
               const SpinorView<Precision>& b, const SumRoom& room);
/// conj(a) b and |a|²: three numbers
template <typename Precision>
void queue_dot_and_norm(cudaStream_t stream, const Slab& slab, const Selection& sides,
                        const SpinorView<Precision>& a, const SpinorView<Precision>& b, const SumRoom& room);
/// |a|²
template <typename Precision>
void queue_norm(cudaStream_t stream, const Slab& slab, const Selection& sides, const SpinorView<Precision>& a,
                const SumRoom& room);
/// out = source − out; then |out|²
template <typename Precision>
void queue_residual(cudaStream_t stream, const Slab& slab, const Selection& sides,
                    const SpinorView<Precision>& source, const SpinorView<Precision>& out,
                    const SumRoom& room);
/// y += scale x
template <typename Precision>
void queue_add_scaled(cudaStream_t stream, const Slab& slab, const Selection& sides, const SideScalars& scale,
                      const SpinorView<Precision>& x, const SpinorView<Precision>& y);
/// x += alpha p + omega r, r −= omega t; then conj(r0) r and |r|²: three numbers
template <typename Precision>
struct SolutionStep {
  SpinorView<Precision> p;
  SpinorView<Precision> t;
  SpinorView<Precision> r0;
  SpinorView<Precision> x;
  SpinorView<Precision> r;
};
template <typename Precision>
void queue_solution_step(cudaStream_t stream, const Slab& slab, const Selection& sides,
                         const SideScalars& alpha, const SideScalars& omega,
                         const SolutionStep<Precision>& step, const SumRoom& room);
/// p = r + beta (p − omega v)
template <typename Precision>
void queue_direction_step(cudaStream_t stream, const Slab& slab, const Selection& sides,
                          const SideScalars& beta, const SideScalars& omega, const SpinorView<Precision>& r,
                          const SpinorView<Precision>& v, const SpinorView<Precision>& p);
/// out = gamma_5 in; they may be the same.
template <typename Precision>
void queue_gamma5(cudaStream_t stream, const Slab& slab, const Selection& sides,
                  const SpinorView<Precision>& in, const SpinorView<Precision>& out);

/// to = from
template <typename To, typename From>
void queue_convert(cudaStream_t stream, const Slab& slab, const Selection& sides,
                   const SpinorView<From>& from, const SpinorView<To>& to);
/// sum += addend
template <typename To, typename From>
void queue_add(cudaStream_t stream, const Slab& slab, const Selection& sides, const SpinorView<From>& addend,
               const SpinorView<To>& sum);

/// The same number for all right-hand sides.
[[nodiscard]] inline SideScalars for_all_sides(std::complex<double> number) {
  SideScalars numbers;
  numbers.fill(number);
  return numbers;
}

}  // namespace dslash
