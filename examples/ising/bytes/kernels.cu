#include "examples/ising/bytes/kernels.hpp"

#include "examples/ising/hash.hpp"

namespace ising::bytes {
namespace {

constexpr std::uint32_t one_in_each_byte = 0x01010101;

/// A word of four spins: where this GPU thread finds it.
struct Place {
  int plane;
  int y;
  int column;
};

__device__ std::uint32_t thread_index() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

/// The index-th word of those planes. Neighbouring threads take neighbouring words.
__device__ Place place_of(const Slab& slab, PlaneRange planes, std::uint32_t index) {
  const auto row_words = static_cast<std::uint32_t>(slab.row_words());
  const auto rows = static_cast<std::uint32_t>(slab.lattice.y);
  const std::uint32_t row = index / row_words;
  return {planes.plane(static_cast<int>(row / rows)), static_cast<int>(row % rows),
          static_cast<int>(index % row_words)};
}

/// How many of its six bonds each of four spins satisfies, a count in each byte. A bond is satisfied if
/// J s s' = +1: parallel spins with J = +1, or antiparallel ones with J = −1.
__device__ std::uint32_t satisfied_bonds(const GlassView& glass, int colour, Place place) {
  const Slab& slab = glass.slab;
  const auto [plane, y, column] = place;
  const std::int64_t row = slab.row_start(plane, y);
  const std::uint32_t spins = glass.spins_of(colour)[row + column];
  const std::uint32_t couplings = glass.couplings_of(colour)[row + column];

  // All neighbours are of the other colour. Along y and z they stand in the same byte of another row. Along x
  // one of them stands in the same byte of this row, and the other in the byte before or after it.
  const std::uint32_t* other = glass.spins_of(1 - colour);
  const std::uint32_t same = other[row + column];
  std::uint32_t before = same;
  std::uint32_t after = same;
  if (slab.first_x(colour, plane, y) == 0) {
    before = same << 8 | other[row + wrap(column - 1, slab.row_words())] >> 24;
  } else {
    after = same >> 8 | other[row + wrap(column + 1, slab.row_words())] << 24;
  }
  const bool flat = slab.lattice.dimensions() == 2;
  const std::uint32_t neighbours[6] = {
      before,
      after,
      flat ? spins : other[slab.row_start(plane, wrap(y - 1, slab.lattice.y)) + column],
      flat ? spins : other[slab.row_start(plane, wrap(y + 1, slab.lattice.y)) + column],
      other[slab.row_start(plane - 1, y) + column],
      other[slab.row_start(plane + 1, y) + column]};
  std::uint32_t counts = 0;
  for (int bond = 0; bond < 6; ++bond) {
    counts += (spins ^ neighbours[bond] ^ couplings >> bond) & one_in_each_byte;
  }
  return counts;
}

/// Sum of the four bytes, each at most 6.
__device__ std::uint32_t sum_of_bytes(std::uint32_t word) {
  return (word * one_in_each_byte) >> 24;
}

}  // namespace

// Not in the unnamed namespace: profilers show these names.
namespace kernels {

__global__ void start(GlassView glass, Model model) {
  const Slab& slab = glass.slab;
  const std::uint32_t index = thread_index();
  if (index >= slab.plane_words() * slab.planes) {
    return;
  }
  const auto [plane, y, column] = place_of(slab, {0, 1, slab.planes}, index);
  const int z = slab.first_plane + plane;
  for (int colour = 0; colour < 2; ++colour) {
    std::uint32_t spins = 0;
    std::uint32_t couplings = 0;
    for (int byte = 0; byte < 4; ++byte) {
      const int x = 8 * column + 2 * byte + slab.first_x(colour, plane, y);
      spins |= start_of(model, {x, y, z}).spin << 8 * byte;
      couplings |= bonds_of(model, {x, y, z}) << 8 * byte;
    }
    glass.spins_of(colour)[slab.row_start(plane, y) + column] = spins;
    glass.couplings_of(colour)[slab.row_start(plane, y) + column] = couplings;
  }
}

__global__ void update(GlassView glass, Metropolis metropolis, int colour, PlaneRange planes,
                       std::uint32_t sweep, std::uint64_t seed) {
  const Slab& slab = glass.slab;
  const std::uint32_t index = thread_index();
  if (index >= slab.plane_words() * planes.count) {
    return;
  }
  const Place place = place_of(slab, planes, index);
  const std::uint32_t satisfied = satisfied_bonds(glass, colour, place);
  const example::FourWords random =
      update_randoms(slab.global_word(place.plane, place.y, place.column), colour, sweep, seed);
  std::uint32_t flips = 0;
  for (int byte = 0; byte < 4; ++byte) {
    const bool flip = metropolis.flips(satisfied >> 8 * byte & 0xFF, random.word[byte]);
    flips |= static_cast<std::uint32_t>(flip) << 8 * byte;
  }
  glass.spins_of(colour)[slab.row_start(place.plane, place.y) + place.column] ^= flips;
}

__global__ void tally(GlassView glass, Tally* tallies) {
  const Slab& slab = glass.slab;
  const std::uint32_t first = thread_index();
  if (first >= tally_count) {
    return;
  }
  Tally sum{};
  for (std::uint32_t index = first; index < slab.plane_words() * slab.planes; index += tally_count) {
    const Place place = place_of(slab, {0, 1, slab.planes}, index);
    // each bond joins the two colours, so that the bonds of one colour are all bonds
    sum.satisfied_bonds += 2 * sum_of_bytes(satisfied_bonds(glass, 0, place));
    for (int colour = 0; colour < 2; ++colour) {
      const std::uint32_t spins = glass.spins_of(colour)[slab.row_start(place.plane, place.y) + place.column];
      const std::uint64_t word =
          slab.global_word(place.plane, place.y, place.column) * 2 + static_cast<std::uint64_t>(colour);
      sum.up_spins += sum_of_bytes(spins);
      sum.hash += mix(mix(word) ^ spins);
    }
  }
  tallies[first] = sum;
}

}  // namespace kernels

void queue_start(const example::Stream& stream, const GlassView& glass, const Model& model) {
  example::launch(stream, glass.slab.plane_words() * glass.slab.planes, kernels::start, glass, model);
}

void queue_update(const example::Stream& stream, const GlassView& glass, const Metropolis& metropolis,
                  int colour, PlaneRange planes, std::uint32_t sweep, std::uint64_t seed) {
  if (planes.count > 0) {
    example::launch(stream, glass.slab.plane_words() * planes.count, kernels::update, glass, metropolis,
                    colour, planes, sweep, seed);
  }
}

void queue_tally(const example::Stream& stream, const GlassView& glass, Tally* tallies) {
  example::launch(stream, tally_count, kernels::tally, glass, tallies);
}

}  // namespace ising::bytes
