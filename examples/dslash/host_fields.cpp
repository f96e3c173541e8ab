#include "examples/dslash/host_fields.hpp"

#include <bit>
#include <cmath>

namespace dslash {
namespace {

constexpr std::size_t numbers_of_site = 24;

std::size_t plain_count(const Slab& slab) {
  return static_cast<std::size_t>(slab.sites()) * numbers_of_site;
}

/// Calls with where a number is in the plain array of a parity, and with the number in the whole field.
template <typename Field, typename Call>
void for_each_number(const Slab& slab, int parity, Field& whole, Call&& call) {
  for (int index = 0; index < slab.sites(); ++index) {
    auto& spinor = whole[global_index(slab.lattice, slab.site(parity, index))];
    for (std::size_t i = 0; i < 12; ++i) {
      call(static_cast<std::size_t>(index) * numbers_of_site + 2 * i, spinor[i / 3][i % 3]);
    }
  }
}

/// Calls with the place and the spinor of each site of this rank.
template <typename Call>
void for_each_own_site(const Slab& slab, Call&& call) {
  const auto plane = std::uint64_t{2} * static_cast<unsigned>(slab.plane_sites());
  for (int slice = 0; slice < slab.slices; ++slice) {
    const std::uint64_t first =
        global_index(slab.lattice, {0, 0, slab.first_plane, slab.first_slice + slice});
    for (std::uint64_t site = first; site < first + plane * static_cast<unsigned>(slab.planes); ++site) {
      call(site);
    }
  }
}

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

}  // namespace

template <typename Precision>
void upload(const example::Stream& stream, const Slab& slab, const HostField& whole,
            const BothParities<Precision>& field, int side) {
  const example::DeviceArray<double> on_device(plain_count(slab));
  const example::PinnedArray<double> plain(plain_count(slab));
  for (int parity = 0; parity < 2; ++parity) {
    for_each_number(slab, parity, whole, [&](std::size_t at, const std::complex<double>& number) {
      plain.get()[at] = number.real();
      plain.get()[at + 1] = number.imag();
    });
    example::check(cudaMemcpyAsync(on_device.get(), plain.get(), plain_count(slab) * sizeof(double),
                                   cudaMemcpyHostToDevice, stream.get()),
                   "upload a field");
    queue_import<Precision>(stream.get(), slab, on_device.get(), field.of[parity].view(side));
    stream.synchronize();
  }
}

template <typename Precision>
HostField download(const example::Stream& stream, const Slab& slab, const BothParities<Precision>& field,
                   int side) {
  const example::DeviceArray<double> on_device(plain_count(slab));
  const example::PinnedArray<double> plain(plain_count(slab));
  HostField whole(static_cast<std::size_t>(slab.lattice.sites()));
  for (int parity = 0; parity < 2; ++parity) {
    queue_export<Precision>(stream.get(), slab, field.of[parity].view(side), on_device.get());
    example::check(cudaMemcpyAsync(plain.get(), on_device.get(), plain_count(slab) * sizeof(double),
                                   cudaMemcpyDeviceToHost, stream.get()),
                   "download a field");
    stream.synchronize();
    for_each_number(slab, parity, whole, [&](std::size_t at, std::complex<double>& number) {
      number = {plain.get()[at], plain.get()[at + 1]};
    });
  }
  return whole;
}

std::uint64_t hash_of(const HostField& parts, const Slab& slab) {
  std::uint64_t hash = 0;
  for_each_own_site(slab, [&](std::size_t site) {
    std::uint64_t of_site = mixed(site);
    for (std::size_t i = 0; i < 12; ++i) {
      const std::complex<double> number = parts[site][i / 3][i % 3];
      of_site = mixed(of_site ^ std::bit_cast<std::uint64_t>(number.real()));
      of_site = mixed(of_site ^ std::bit_cast<std::uint64_t>(number.imag()));
    }
    hash += of_site;
  });
  return hash;
}

std::uint64_t hash_of(const HostField& parts, const Team& team) {
  std::uint64_t hash = hash_of(parts, team.slab);
  MPI_Allreduce(MPI_IN_PLACE, &hash, 1, MPI_UINT64_T, MPI_SUM, team.communicator);
  return hash;
}

double relative_difference(const HostField& a, const HostField& b, const Team& team) {
  double squares[2] = {0, 0};
  for_each_own_site(team.slab, [&](std::size_t site) {
    for (std::size_t i = 0; i < 12; ++i) {
      squares[0] += std::norm(a[site][i / 3][i % 3] - b[site][i / 3][i % 3]);
      squares[1] += std::norm(b[site][i / 3][i % 3]);
    }
  });
  MPI_Allreduce(MPI_IN_PLACE, squares, 2, MPI_DOUBLE, MPI_SUM, team.communicator);
  return std::sqrt(squares[0] / squares[1]);
}

std::complex<double> dot(const HostField& a, const HostField& b, const Team& team) {
  std::complex<double> sum;
  for_each_own_site(team.slab, [&](std::size_t site) {
    for (std::size_t i = 0; i < 12; ++i) {
      sum += std::conj(a[site][i / 3][i % 3]) * b[site][i / 3][i % 3];
    }
  });
  MPI_Allreduce(MPI_IN_PLACE, &sum, 2, MPI_DOUBLE, MPI_SUM, team.communicator);
  return sum;
}

#define DSLASH_HOST_FIELDS(P)                                                                            \
  template void upload<P>(const example::Stream&, const Slab&, const HostField&, const BothParities<P>&, \
                          int);                                                                          \
  template HostField download<P>(const example::Stream&, const Slab&, const BothParities<P>&, int);
DSLASH_HOST_FIELDS(Double)
DSLASH_HOST_FIELDS(Single)
DSLASH_HOST_FIELDS(Half)
#undef DSLASH_HOST_FIELDS

}  // namespace dslash
