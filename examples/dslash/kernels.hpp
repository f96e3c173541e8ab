// All kernels, as calls that queue them on a stream. Knows no MPI.
#pragma once

#include <complex>

#include "examples/dslash/model.hpp"
#include "examples/dslash/views.hpp"
#include "examples/support/gpu.hpp"

namespace dslash {

/// Updates the sites of `part`; its first blocks pack faces if `pack.blocks` is not 0. Without `x.data`,
/// out = D in, else out = x + scale D in. Tiles, and how many blocks pack, are filled in here.
template <typename Precision>
void queue_hop(const example::Stream& stream, HopArguments<Precision> arguments);
template <typename Precision>
void queue_pack(const example::Stream& stream, PackArguments<Precision> arguments);

/// Links of the model, but for the padding.
template <typename Precision>
void queue_links(const example::Stream& stream, const Slab& slab, const GaugeView<Precision>& gauge,
                 const Model& model);
/// The model's random source, of one parity.
template <typename Precision>
void queue_source(const example::Stream& stream, const Slab& slab, int parity,
                  const SpinorView<Precision>& out, const Model& model);
/// The model's clover term, or its inverse, of one parity. `weight` is kappa times its coefficient.
template <typename Precision>
void queue_clover(const example::Stream& stream, const Slab& slab, int parity, const Model& model,
                  double weight, bool is_inverse, const CloverView<Precision>& out);
/// out = C in; they may be the same.
template <typename Precision>
void queue_apply_clover(const example::Stream& stream, const Slab& slab, const CloverView<Precision>& clover,
                        const SpinorView<Precision>& in, const SpinorView<Precision>& out);
/// From and to plain numbers in device memory, 24 a site.
template <typename Precision>
void queue_import(const example::Stream& stream, const Slab& slab, const double* plain,
                  const SpinorView<Precision>& out);
template <typename Precision>
void queue_export(const example::Stream& stream, const Slab& slab, const SpinorView<Precision>& in,
                  double* plain);
/// Links of one parity and direction, 18 numbers each; the padding's follow where there is one.
template <typename Precision>
void queue_export_links(const example::Stream& stream, const GaugeView<Precision>& gauge, int parity,
                        int direction, int count, double* plain);

// Linear algebra of the solver. Sums go to `room`.

/// conj(a) b: two numbers
template <typename Precision>
void queue_dot(const example::Stream& stream, const Slab& slab, const SpinorView<Precision>& a,
               const SpinorView<Precision>& b, const SumRoom& room);
/// conj(a) b and |a|²: three numbers
template <typename Precision>
void queue_dot_and_norm(const example::Stream& stream, const Slab& slab, const SpinorView<Precision>& a,
                        const SpinorView<Precision>& b, const SumRoom& room);
/// |a|²
template <typename Precision>
void queue_norm(const example::Stream& stream, const Slab& slab, const SpinorView<Precision>& a,
                const SumRoom& room);
/// y += scale x
template <typename Precision>
void queue_add_scaled(const example::Stream& stream, const Slab& slab, std::complex<double> scale,
                      const SpinorView<Precision>& x, const SpinorView<Precision>& y);
/// x += alpha p + omega r, r −= omega t; then conj(r0) r and |r|²: three numbers
template <typename Precision>
struct SolutionStep {
  std::complex<double> alpha;
  std::complex<double> omega;
  SpinorView<Precision> p;
  SpinorView<Precision> t;
  SpinorView<Precision> r0;
  SpinorView<Precision> x;
  SpinorView<Precision> r;
};
template <typename Precision>
void queue_solution_step(const example::Stream& stream, const Slab& slab, const SolutionStep<Precision>& step,
                         const SumRoom& room);
/// p = r + beta (p − omega v)
template <typename Precision>
void queue_direction_step(const example::Stream& stream, const Slab& slab, std::complex<double> beta,
                          std::complex<double> omega, const SpinorView<Precision>& r,
                          const SpinorView<Precision>& v, const SpinorView<Precision>& p);

/// to = from
template <typename To, typename From>
void queue_convert(const example::Stream& stream, const Slab& slab, const SpinorView<From>& from,
                   const SpinorView<To>& to);
/// sum += addend
template <typename To, typename From>
void queue_add(const example::Stream& stream, const Slab& slab, const SpinorView<From>& addend,
               const SpinorView<To>& sum);

}  // namespace dslash
