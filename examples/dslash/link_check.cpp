#include "examples/dslash/link_check.hpp"

#include <algorithm>
#include <cmath>

namespace dslash {
namespace {

constexpr int link_numbers = 18;

double error_of_link(Slab slab, const Model& model, int parity, int direction, int index,
                     const double* plain) {
  if (index >= slab.sites()) {  // of the slice before, or of the plane before
    index -= slab.sites();
    if (direction == time_direction) {
      slab.first_slice = (slab.first_slice + slab.lattice.t - 1) % slab.lattice.t;
    } else {
      slab.first_plane = (slab.first_plane + slab.lattice.z - 1) % slab.lattice.z;
      slab.planes = 1;
    }
  }
  const Link<double> expected = link_of(model, slab.site(parity, index), direction);
  double largest = 0;
  for (int i = 0; i < 9; ++i) {
    const Complex<double> number = expected.row[i / 3][i % 3];
    largest = std::max({largest, std::abs(plain[2 * i] - number.re), std::abs(plain[2 * i + 1] - number.im)});
  }
  return largest;
}

}  // namespace

template <typename Precision>
double largest_link_error(Hop<Precision>& hop, const Model& model) {
  const Team& team = hop.team();
  const Slab& slab = team.slab;
  const example::Stream& stream = hop.streams().bulk;
  const auto padding_of = [&](int direction) {
    const Face face = direction == time_direction ? t_upper : z_upper;
    return direction >= z_direction && slab.has(face) ? slab.sites_of(face) : 0;
  };
  const int most_links = slab.sites() + std::max(padding_of(z_direction), padding_of(time_direction));
  const std::size_t most = static_cast<std::size_t>(most_links) * link_numbers;
  const example::DeviceArray<double> on_device(most);
  const example::PinnedArray<double> plain(most);
  double largest = 0;
  for (int parity = 0; parity < 2; ++parity) {
    for (int direction = 0; direction < dimensions; ++direction) {
      const int links = slab.sites() + padding_of(direction);
      queue_export_links<Precision>(stream.get(), hop.gauge(), parity, direction, links, on_device.get());
      example::check(cudaMemcpyAsync(plain.get(), on_device.get(),
                                     static_cast<std::size_t>(links) * link_numbers * sizeof(double),
                                     cudaMemcpyDeviceToHost, stream.get()),
                     "download links");
      stream.synchronize();
      for (int index = 0; index < links; ++index) {
        const double* const numbers = plain.get() + static_cast<std::size_t>(index) * link_numbers;
        largest = std::max(largest, error_of_link(slab, model, parity, direction, index, numbers));
      }
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, team.communicator);
  return largest;
}

template double largest_link_error(Hop<Double>&, const Model&);
template double largest_link_error(Hop<Single>&, const Model&);
template double largest_link_error(Hop<Half>&, const Model&);

}  // namespace dslash
