#include "examples/ising/bits/kernels.hpp"

#include "examples/ising/bits/checkerboard.hpp"
#include "examples/ising/bits/sliced.hpp"
#include "examples/ising/hash.hpp"

#if defined(__CUDACC__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

namespace ising::bits {
namespace {

__device__ std::uint32_t thread_index() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

/// Bit by bit, what most of three say.
__device__ std::uint32_t majority(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return (a & b) | (c & (a | b));
}

/// Which replicas satisfy each of the six bonds.
struct Satisfied {
  std::uint32_t bond[6];
};

template <typename Layout>
__device__ Satisfied satisfied_bonds(const GlassView<Layout>& glass, const Spot& spot, std::uint32_t own) {
  const std::uint32_t couplings = glass.couplings[spot.word];
  Satisfied satisfied{};
  UNROLL for (int bond = 0; bond < 6; ++bond) {
    const std::uint32_t is_plus = 0u - (couplings >> bond & 1u);  // in all replicas
    satisfied.bond[bond] = own ^ glass.spins[spot.neighbours[bond]] ^ is_plus;
  }
  return satisfied;
}

/// For each replica, whether its random number is below each of Metropolis' thresholds. The numbers are
/// spread over 32 words, a bit in each, and so is the comparison, from the lowest bit up: where number and
/// threshold differ in a bit, this bit decides, else the lower ones do. That is the majority of threshold,
/// complement of the number, and the decision so far: one instruction for 32 spins.
struct Below {
  std::uint32_t threshold[3];
};

__device__ Below draw(const ThresholdBits& thresholds, std::uint64_t site_index, std::uint32_t sweep,
                      std::uint64_t seed) {
  Below below{};
  UNROLL for (int part = 0; part < 8; ++part) {
    const example::FourWords random = replicas_update_randoms(site_index, part, sweep, seed);
    UNROLL for (int word = 0; word < 4; ++word) {
      UNROLL for (int rule = 0; rule < 3; ++rule) {
        below.threshold[rule] =
            majority(thresholds.word[rule][4 * part + word], ~random.word[word], below.threshold[rule]);
      }
    }
  }
  return below;
}

}  // namespace

// Not in the unnamed namespace: profilers show these names.
namespace kernels {

template <typename Layout>
__global__ void start(GlassView<Layout> glass, int phase, PlaneRange planes, std::uint32_t count,
                      Model model) {
  const std::uint32_t index = thread_index();
  if (index >= count) {
    return;
  }
  const Spot spot = glass.layout.spot(phase, planes, index);
  glass.spins[spot.word] = replicas_start_of(model, spot.site);
  glass.couplings[spot.word] = static_cast<std::uint8_t>(bonds_of(model, spot.site));
}

template <typename Layout>
__global__ void update(GlassView<Layout> glass, ThresholdBits thresholds, int phase, PlaneRange planes,
                       std::uint32_t count, std::uint32_t sweep, std::uint64_t seed) {
  const std::uint32_t index = thread_index();
  if (index >= count) {
    return;
  }
  const Spot spot = glass.layout.spot(phase, planes, index);
  const std::uint32_t own = glass.spins[spot.word];
  const Satisfied satisfied = satisfied_bonds(glass, spot, own);

  // For all replicas at once, the number of satisfied bonds as three bits: two full adders, then a third one
  // for what they carry.
  const std::uint32_t(&bond)[6] = satisfied.bond;
  const std::uint32_t ones_a = bond[0] ^ bond[1] ^ bond[2];
  const std::uint32_t twos_a = majority(bond[0], bond[1], bond[2]);
  const std::uint32_t ones_b = bond[3] ^ bond[4] ^ bond[5];
  const std::uint32_t twos_b = majority(bond[3], bond[4], bond[5]);
  const std::uint32_t ones = ones_a ^ ones_b;
  const std::uint32_t twos_c = ones_a & ones_b;
  const std::uint32_t twos = twos_a ^ twos_b ^ twos_c;
  const std::uint32_t fours = majority(twos_a, twos_b, twos_c);

  const Below below = draw(thresholds, index_of(glass.layout.lattice, spot.site), sweep, seed);
  const std::uint32_t four_or_five = (ones & below.threshold[1]) | (~ones & below.threshold[0]);
  const std::uint32_t flips = ~fours | (twos & below.threshold[2]) | (~twos & four_or_five);
  glass.spins[spot.word] = own ^ flips;
}

template <typename Layout>
__global__ void tally(GlassView<Layout> glass, int phase, PlaneRange planes, std::uint32_t count,
                      Tally* tallies) {
  const std::uint32_t first = thread_index();
  if (first >= tally_count) {
    return;
  }
  Tally sum = phase == 0 ? Tally{} : tallies[first];
  for (std::uint32_t index = first; index < count; index += tally_count) {
    const Spot spot = glass.layout.spot(phase, planes, index);
    const std::uint32_t own = glass.spins[spot.word];
    const Satisfied satisfied = satisfied_bonds(glass, spot, own);
    for (const std::uint32_t bond : satisfied.bond) {
      sum.satisfied_bonds += static_cast<std::uint64_t>(__popc(bond));
    }
    sum.up_spins += static_cast<std::uint64_t>(__popc(own));
    sum.hash += mix(mix(index_of(glass.layout.lattice, spot.site)) ^ own);
  }
  tallies[first] = sum;
}

template <typename Layout>
__global__ void overlap(GlassView<Layout> glass, int phase, PlaneRange planes, std::uint32_t count,
                        unsigned long long* different) {
  const std::uint32_t first = thread_index();
  if (first >= tally_count) {
    return;
  }
  std::uint32_t sums[replica_pairs] = {};
  for (std::uint32_t index = first; index < count; index += tally_count) {
    const std::uint32_t own = glass.spins[glass.layout.spot(phase, planes, index).word];
    const std::uint32_t differs = own ^ own >> 1;  // for pair p, bit 2 p
    UNROLL for (int pair = 0; pair < replica_pairs; ++pair) {
      sums[pair] += differs >> 2 * pair & 1u;
    }
  }
  UNROLL for (int pair = 0; pair < replica_pairs; ++pair) {
    atomicAdd(&different[pair], sums[pair]);
  }
}

}  // namespace kernels

namespace {

template <typename Layout>
std::uint32_t count_in(const GlassView<Layout>& glass, PlaneRange planes) {
  return static_cast<std::uint32_t>(glass.layout.phase_words()) * static_cast<std::uint32_t>(planes.count);
}

}  // namespace

template <typename Layout>
void queue_start(const example::Stream& stream, const GlassView<Layout>& glass, int phase, PlaneRange planes,
                 const Model& model) {
  if (planes.count > 0) {
    const std::uint32_t count = count_in(glass, planes);
    example::launch(stream, count, kernels::start<Layout>, glass, phase, planes, count, model);
  }
}

template <typename Layout>
void queue_update(const example::Stream& stream, const GlassView<Layout>& glass,
                  const ThresholdBits& thresholds, int phase, PlaneRange planes, std::uint32_t sweep,
                  std::uint64_t seed) {
  if (planes.count > 0) {
    const std::uint32_t count = count_in(glass, planes);
    example::launch(stream, count, kernels::update<Layout>, glass, thresholds, phase, planes, count, sweep,
                    seed);
  }
}

template <typename Layout>
void queue_tally(const example::Stream& stream, const GlassView<Layout>& glass, int phase, PlaneRange planes,
                 Tally* tallies) {
  example::launch(stream, tally_count, kernels::tally<Layout>, glass, phase, planes, count_in(glass, planes),
                  tallies);
}

template <typename Layout>
void queue_overlap(const example::Stream& stream, const GlassView<Layout>& glass, int phase,
                   PlaneRange planes, unsigned long long* different) {
  example::launch(stream, tally_count, kernels::overlap<Layout>, glass, phase, planes,
                  count_in(glass, planes), different);
}

#define FOR_LAYOUT(LAYOUT)                                                                                \
  template void queue_start(const example::Stream&, const GlassView<LAYOUT>&, int, PlaneRange,            \
                            const Model&);                                                                \
  template void queue_update(const example::Stream&, const GlassView<LAYOUT>&, const ThresholdBits&, int, \
                             PlaneRange, std::uint32_t, std::uint64_t);                                   \
  template void queue_tally(const example::Stream&, const GlassView<LAYOUT>&, int, PlaneRange, Tally*);   \
  template void queue_overlap(const example::Stream&, const GlassView<LAYOUT>&, int, PlaneRange,          \
                              unsigned long long*);
FOR_LAYOUT(Checkerboard)
FOR_LAYOUT(Sliced)
#undef FOR_LAYOUT

}  // namespace ising::bits
