#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "examples/ising/reference.hpp"
#include "examples/ising/slab.hpp"
#include "examples/ising/theory.hpp"

namespace ising {
namespace {

std::array<std::uint32_t, 4> philox_words(example::FourWords counter, std::uint64_t key) {
  const example::FourWords result = example::philox(counter, key);
  return {result.word[0], result.word[1], result.word[2], result.word[3]};
}

// The known answers that come with the Random123 library.
TEST(Philox, gives_the_known_answers) {
  using Words = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox_words({{0, 0, 0, 0}}, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox_words({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, 0xffffffffffffffff),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox_words({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0x299f31d0a4093822),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(IsingMetropolis, always_flips_what_lowers_or_keeps_the_energy) {
  const Metropolis frozen(0.0);
  for (unsigned satisfied = 0; satisfied <= 3; ++satisfied) {
    EXPECT_TRUE(frozen.flips(satisfied, 0xffffffff)) << satisfied;
  }
}

TEST(IsingMetropolis, never_raises_the_energy_at_temperature_zero) {
  const Metropolis frozen(0.0);
  for (unsigned satisfied = 4; satisfied <= 6; ++satisfied) {
    EXPECT_FALSE(frozen.flips(satisfied, 0)) << satisfied;
  }
}

TEST(IsingMetropolis, raises_the_energy_with_the_probability_that_the_temperature_gives) {
  const double temperature = 2.5;
  const Metropolis metropolis(temperature);
  for (unsigned satisfied = 4; satisfied <= 6; ++satisfied) {
    const double probability = std::exp(-(4.0 * satisfied - 12.0) / temperature);
    const auto threshold = static_cast<std::uint32_t>(probability * 0x1p32);
    EXPECT_TRUE(metropolis.flips(satisfied, threshold - 2)) << satisfied;
    EXPECT_FALSE(metropolis.flips(satisfied, threshold + 2)) << satisfied;
  }
}

Model glass_of(const Lattice& lattice, std::uint64_t seed) {
  return model_of(lattice, Couplings::glass, 1.0, seed);
}

double energy_per_spin(const Lattice& lattice, std::uint64_t seed, const std::vector<std::uint8_t>& spins) {
  const auto sign = [&](int x, int y, int z) {
    const auto index = (static_cast<std::size_t>(z % lattice.z) * static_cast<std::size_t>(lattice.y) +
                        static_cast<std::size_t>(y % lattice.y)) *
                           static_cast<std::size_t>(lattice.x) +
                       static_cast<std::size_t>(x % lattice.x);
    return 2 * spins[index] - 1;
  };
  const auto coupling = [](std::uint32_t bond) { return bond == 1 ? 1 : -1; };
  int energy = 0;
  for (int z = 0; z < lattice.z; ++z) {
    for (int y = 0; y < lattice.y; ++y) {
      for (int x = 0; x < lattice.x; ++x) {
        const SiteStart start = start_of(glass_of(lattice, seed), {x, y, z});
        energy -= sign(x, y, z) *
                  (coupling(start.bond_x) * sign(x + 1, y, z) + coupling(start.bond_y) * sign(x, y + 1, z) +
                   coupling(start.bond_z) * sign(x, y, z + 1));
      }
    }
  }
  return energy / static_cast<double>(lattice.sites());
}

// High-temperature expansion: three bonds a spin, each −tanh(1/T) to leading order.
TEST(IsingReference, reaches_the_energy_that_theory_gives_at_high_temperature) {
  const Lattice lattice{24, 24, 24};
  const double temperature = 5.0;
  const std::vector<std::uint8_t> spins = reference_spins(glass_of(lattice, 3), temperature, 60);
  EXPECT_NEAR(energy_per_spin(lattice, 3, spins), -3.0 * std::tanh(1.0 / temperature), 0.03);
}

TEST(IsingReference, never_raises_the_energy_at_temperature_zero) {
  const Lattice lattice{8, 8, 8};
  double before = energy_per_spin(lattice, 5, reference_spins(glass_of(lattice, 5), 0.0, 0));
  for (std::uint32_t sweeps = 1; sweeps < 6; ++sweeps) {
    const double after = energy_per_spin(lattice, 5, reference_spins(glass_of(lattice, 5), 0.0, sweeps));
    EXPECT_LE(after, before) << sweeps;
    before = after;
  }
  EXPECT_LT(before, -1.5);
}

TEST(IsingReference, depends_on_the_seed) {
  const Lattice lattice{8, 8, 8};
  EXPECT_NE(reference_spins(glass_of(lattice, 1), 1.0, 3), reference_spins(glass_of(lattice, 2), 1.0, 3));
}

// Exactly known values, from closed forms: the critical point's is −√2; and the two-spin chains that remain
// when all else is far apart.
TEST(IsingTheory, gives_onsagers_energy_at_the_critical_point_and_at_both_ends) {
  const double critical_temperature = 2.0 / std::log(1.0 + std::sqrt(2.0));
  EXPECT_NEAR(onsager_energy(critical_temperature * (1 + 1e-7)), -std::sqrt(2.0), 1e-5);
  EXPECT_NEAR(onsager_energy(0.3), -2.0, 1e-5);
  EXPECT_NEAR(onsager_energy(100.0), -2.0 * std::tanh(0.01), 1e-5);
}

// 2 × 2 spins, periodic: each pair of neighbours has two bonds, so that the ring of four has J = 2. Its
// energy by the transfer matrix is −4 J (tanh K + tanh³ K) / (1 + tanh⁴ K), with K = 2 / T.
TEST(IsingTheory, enumerates_a_ring_of_four_as_the_transfer_matrix_does) {
  const double temperature = 1.7;
  const double t = std::tanh(2.0 / temperature);
  const std::optional<Theory> theory =
      theory_of(model_of({2, 1, 2}, Couplings::ferromagnet, temperature, 1), temperature);
  ASSERT_TRUE(theory);
  EXPECT_NEAR(theory->energy_per_spin, -2.0 * (t + t * t * t) / (1.0 + t * t * t * t), 1e-9);
}

TEST(IsingTheory, draws_couplings_of_the_nishimori_line_with_their_probability) {
  const double temperature = 1.5;
  const Lattice lattice{24, 24, 24};
  const Model model = model_of(lattice, Couplings::nishimori, temperature, 11);
  const double mean = std::tanh(1.0 / temperature);
  double sum = 0;
  for (int z = 0; z < lattice.z; ++z) {
    for (int y = 0; y < lattice.y; ++y) {
      for (int x = 0; x < lattice.x; ++x) {
        const SiteStart start = start_of(model, {x, y, z});
        EXPECT_EQ(start.spin, 1u);
        sum += 2.0 * (start.bond_x + start.bond_y + start.bond_z) - 3.0;
      }
    }
  }
  const double bonds = 3.0 * static_cast<double>(lattice.sites());
  EXPECT_NEAR(sum / bonds, mean, 4.0 * std::sqrt((1.0 - mean * mean) / bonds));
}

TEST(IsingTheory, knows_nothing_of_a_large_glass) {
  EXPECT_FALSE(theory_of(glass_of({8, 8, 8}, 1), 1.0));
}

TEST(IsingSlabs, of_all_ranks_hold_each_plane_once_and_differ_by_one_plane_at_most) {
  const Lattice lattice{8, 2, 10};
  for (int rank_count = 1; rank_count <= lattice.z; ++rank_count) {
    int next_plane = 0;
    for (int rank = 0; rank < rank_count; ++rank) {
      const Slab slab = slab_of_rank(lattice, rank, rank_count);
      EXPECT_EQ(slab.first_plane, next_plane);
      EXPECT_GE(slab.planes, lattice.z / rank_count);
      EXPECT_LE(slab.planes, lattice.z / rank_count + 1);
      next_plane += slab.planes;
    }
    EXPECT_EQ(next_plane, lattice.z);
  }
}

}  // namespace
}  // namespace ising
