// Fields between device memory and the host's plain order, for checks. Knows no kernels' layout but by their
// import and export.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "examples/dslash/fields.hpp"
#include "examples/dslash/kernels.hpp"
#include "examples/dslash/reference.hpp"
#include "examples/dslash/team.hpp"

namespace dslash {

/// Both parities of a spinor field.
template <typename Precision>
struct BothParities {
  explicit BothParities(const Slab& slab, int sides = 1)
      : of{SpinorField<Precision>(slab, sides), SpinorField<Precision>(slab, sides)} {}

  SpinorField<Precision> of[2];
};

/// A rank's part of a field of the whole lattice.
template <typename Precision>
void upload(const example::Stream& stream, const Slab& slab, const HostField& whole,
            const BothParities<Precision>& field, int side = 0);
/// The rank's part; the other ranks' sites are zero.
template <typename Precision>
[[nodiscard]] HostField download(const example::Stream& stream, const Slab& slab,
                                 const BothParities<Precision>& field, int side = 0);

/// Of a rank's sites. The sum over all ranks is the same for any number of them.
[[nodiscard]] std::uint64_t hash_of(const HostField& parts, const Slab& slab);
/// That sum. Collective.
[[nodiscard]] std::uint64_t hash_of(const HostField& parts, const Team& team);

/// |a − b| / |b| over the ranks' parts. Collective.
[[nodiscard]] double relative_difference(const HostField& a, const HostField& b, const Team& team);

/// conj(a) b over the ranks' parts. Collective.
[[nodiscard]] std::complex<double> dot(const HostField& a, const HostField& b, const Team& team);

}  // namespace dslash
