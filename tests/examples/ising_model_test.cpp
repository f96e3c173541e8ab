#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "examples/ising/bits/checkerboard.hpp"
#include "examples/ising/bits/sliced.hpp"
#include "examples/ising/metropolis.hpp"
#include "examples/ising/planes.hpp"
#include "examples/ising/reference.hpp"
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

double energy_per_spin(const Lattice& lattice, std::uint64_t seed, const std::vector<std::uint32_t>& spins) {
  const auto sign = [&](int x, int y, int z) {
    const auto index = (static_cast<std::size_t>(z % lattice.z) * static_cast<std::size_t>(lattice.y) +
                        static_cast<std::size_t>(y % lattice.y)) *
                           static_cast<std::size_t>(lattice.x) +
                       static_cast<std::size_t>(x % lattice.x);
    return 2 * static_cast<int>(spins[index]) - 1;
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
  const std::vector<std::uint32_t> spins = reference_spins(glass_of(lattice, 3), 1, temperature, 60);
  EXPECT_NEAR(energy_per_spin(lattice, 3, spins), -3.0 * std::tanh(1.0 / temperature), 0.03);
}

TEST(IsingReference, never_raises_the_energy_at_temperature_zero) {
  const Lattice lattice{8, 8, 8};
  double before = energy_per_spin(lattice, 5, reference_spins(glass_of(lattice, 5), 1, 0.0, 0));
  for (std::uint32_t sweeps = 1; sweeps < 6; ++sweeps) {
    const double after = energy_per_spin(lattice, 5, reference_spins(glass_of(lattice, 5), 1, 0.0, sweeps));
    EXPECT_LE(after, before) << sweeps;
    before = after;
  }
  EXPECT_LT(before, -1.5);
}

TEST(IsingReference, depends_on_the_seed) {
  const Lattice lattice{8, 8, 8};
  EXPECT_NE(reference_spins(glass_of(lattice, 1), 1, 1.0, 3),
            reference_spins(glass_of(lattice, 2), 1, 1.0, 3));
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

TEST(IsingPlanes, of_all_ranks_are_each_plane_once_and_differ_by_one_plane_at_most) {
  constexpr int extent = 10;
  for (int rank_count = 1; rank_count <= extent; ++rank_count) {
    int next_plane = 0;
    for (int rank = 0; rank < rank_count; ++rank) {
      const Planes planes = planes_of_rank(extent, rank, rank_count);
      EXPECT_EQ(planes.first, next_plane);
      EXPECT_GE(planes.count, extent / rank_count);
      EXPECT_LE(planes.count, extent / rank_count + 1);
      next_plane += planes.count;
    }
    EXPECT_EQ(next_plane, extent);
  }
}

/// That a rank which holds the whole lattice finds each site once, each neighbour where that neighbour is,
/// and no neighbour in the same phase. Halos are taken for what they are copies of.
template <typename Layout>
void expect_each_site_beside_its_neighbours(const Lattice& lattice) {
  SCOPED_TRACE(testing::Message() << lattice.x << " x " << lattice.y << " x " << lattice.z);
  const Layout layout{lattice, {0, lattice.z}};
  struct Found {
    bits::Spot spot;
    int phase;
  };
  std::map<int, Found> found;
  std::set<std::uint64_t> sites;
  for (int phase = 0; phase < Layout::phases(lattice); ++phase) {
    for (int plane = 0; plane < lattice.z; ++plane) {
      for (int index = 0; layout.updates(phase, plane) && index < layout.phase_words(); ++index) {
        const bits::Spot spot = layout.spot(phase, {plane, 1, 1}, static_cast<std::uint32_t>(index));
        EXPECT_TRUE(found.emplace(spot.word, Found{spot, phase}).second);
        EXPECT_TRUE(sites.insert(index_of(lattice, spot.site)).second);
      }
    }
  }
  ASSERT_EQ(static_cast<std::int64_t>(found.size()), lattice.sites());
  const int words = layout.plane_words() * lattice.z;
  const auto without_halos = [&](int word) {
    const int inside = word - layout.plane_words();
    return (inside + words) % words + layout.plane_words();
  };
  for (const auto& [word, here] : found) {
    const auto [x, y, z] = here.spot.site;
    const Site neighbours[6] = {{wrap(x - 1, lattice.x), y, z}, {wrap(x + 1, lattice.x), y, z},
                                {x, wrap(y - 1, lattice.y), z}, {x, wrap(y + 1, lattice.y), z},
                                {x, y, wrap(z - 1, lattice.z)}, {x, y, wrap(z + 1, lattice.z)}};
    for (int bond = 0; bond < 6; ++bond) {
      const Found& there = found.at(without_halos(here.spot.neighbours[bond]));
      EXPECT_EQ(index_of(lattice, there.spot.site), index_of(lattice, neighbours[bond])) << bond;
      const bool to_itself = lattice.dimensions() == 2 && (bond == 2 || bond == 3);
      EXPECT_EQ(there.phase == here.phase, to_itself) << bond;
    }
  }
}

TEST(IsingCheckerboard, has_each_site_beside_its_neighbours) {
  for (const Lattice& lattice : {Lattice{2, 2, 2}, Lattice{4, 6, 8}, Lattice{6, 1, 4}}) {
    expect_each_site_beside_its_neighbours<bits::Checkerboard>(lattice);
  }
}

TEST(IsingSlices, have_each_site_beside_its_neighbours) {
  for (const Lattice& lattice : {Lattice{2, 2, 2}, Lattice{2, 3, 3}, Lattice{5, 5, 5}, Lattice{6, 6, 6},
                                 Lattice{12, 8, 6}, Lattice{9, 2, 3}, Lattice{7, 1, 5}, Lattice{8, 1, 4}}) {
    ASSERT_TRUE(bits::Sliced::fits(lattice)) << lattice.x << ' ' << lattice.y << ' ' << lattice.z;
    expect_each_site_beside_its_neighbours<bits::Sliced>(lattice);
  }
}

TEST(IsingSlices, do_not_fit_where_a_step_across_the_border_skips_slices) {
  for (const Lattice& lattice : {Lattice{9, 8, 8}, Lattice{8, 9, 8}, Lattice{4, 4, 1}, Lattice{1, 4, 4}}) {
    EXPECT_FALSE(bits::Sliced::fits(lattice)) << lattice.x << ' ' << lattice.y << ' ' << lattice.z;
  }
}

/// Messages that a rank sends in a sweep.
template <typename Layout>
int messages_of(const Layout& layout) {
  int messages = 0;
  for (int phase = 0; phase < Layout::phases(layout.lattice); ++phase) {
    messages += layout.updates(phase, 0) ? 1 : 0;
    messages += layout.updates(phase, layout.planes.count - 1) ? 1 : 0;
  }
  return messages;
}

TEST(IsingSlices, need_half_as_many_messages_of_twice_the_size) {
  const Lattice lattice{16, 16, 16};
  for (int rank = 0; rank < 3; ++rank) {
    const Planes planes = planes_of_rank(lattice.z, rank, 3);
    const bits::Checkerboard checkerboard{lattice, planes};
    const bits::Sliced sliced{lattice, planes};
    EXPECT_EQ(messages_of(checkerboard), 4);
    EXPECT_EQ(messages_of(sliced), 2);
    EXPECT_EQ(sliced.phase_words(), 2 * checkerboard.phase_words());
  }
}

// The same number as tests/examples/CMakeLists.txt expects of the program.
TEST(IsingReplicas, have_the_overlap_that_the_program_is_to_print) {
  const std::vector<std::uint32_t> spins = reference_spins(glass_of({6, 6, 6}, 1), 32, 1.1, 20);
  double squares = 0;
  for (int replica = 0; replica < 32; replica += 2) {
    int overlap = 0;
    for (const std::uint32_t word : spins) {
      overlap += ((word >> replica ^ word >> (replica + 1)) & 1u) != 0 ? -1 : 1;
    }
    squares += std::pow(overlap / static_cast<double>(spins.size()), 2);
  }
  EXPECT_NEAR(squares / 16, 0.071872, 1e-6);
}

TEST(IsingReplicas, differ_from_each_other) {
  const std::vector<std::uint32_t> spins = reference_spins(glass_of({8, 8, 8}, 1), 32, 5.0, 3);
  for (int replica = 1; replica < 32; ++replica) {
    int different = 0;
    for (const std::uint32_t word : spins) {
      different += static_cast<int>((word ^ word >> replica) & 1u);
    }
    EXPECT_NEAR(different, 256, 100) << replica;
  }
}

}  // namespace
}  // namespace ising
