// The four properties of a rank's internal, frontier and external cells, the connection matrix, and the
// segments: by brute force, on random partitions of random boxes and in a vessel.
#include "examples/particles/tiling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "examples/particles/domain.hpp"
#include "examples/particles/survey.hpp"

namespace particles {
namespace {

/// A box, who owns its voxels, and how to measure in it.
struct Case {
  Box box{};
  Owners owners;
  int pieces = 1;

  [[nodiscard]] Owner owner(const Site& voxel) const {
    return owners[static_cast<std::size_t>(box.voxel_index(voxel))];
  }

  /// Between the nearest points of two voxels, or their images.
  [[nodiscard]] double distance(const Site& one, const Site& other) const {
    double square = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const int limit = static_cast<int>(box.voxels(axis));
      const int apart = std::abs(static_cast<int>(one.at[axis]) - static_cast<int>(other.at[axis]));
      const int voxels = std::min(apart, limit - apart) - 1;
      if (voxels > 0) {
        const double gap = voxels * box.voxel_side(axis);
        square += gap * gap;
      }
    }
    return std::sqrt(square);
  }

  [[nodiscard]] std::vector<Site> voxels() const {
    std::vector<Site> all;
    for_each_site(box.voxels().at, [&](const Site& site) { all.push_back(site); });
    return all;
  }
};

/// Pieces are the voxels nearest to some points: ragged, and of all sizes. A part of the voxels is nobody's.
Case random_case(unsigned seed) {
  std::mt19937 random(seed);
  const auto between = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Case made;
  made.pieces = between(1, 5);
  made.box.voxels_per_cell = static_cast<std::uint32_t>(between(1, 3));
  for (int axis = 0; axis < 3; ++axis) {
    made.box.cells[axis] = static_cast<std::uint32_t>(between(3, made.box.voxels_per_cell == 3 ? 3 : 4));
    made.box.side[axis] = made.box.cells[axis] + 0.2 * between(0, 4);
  }
  std::vector<Site> centres;
  for (int piece = 0; piece < made.pieces; ++piece) {
    Site centre{};
    for (int axis = 0; axis < 3; ++axis) {
      centre.at[axis] = static_cast<std::uint32_t>(between(0, static_cast<int>(made.box.voxels(axis)) - 1));
    }
    centres.push_back(centre);
  }
  const bool is_full = between(0, 1) == 1;
  for (const Site& voxel : made.voxels()) {
    const auto nearest =
        std::min_element(centres.begin(), centres.end(), [&](const Site& one, const Site& other) {
          return made.distance(voxel, one) < made.distance(voxel, other);
        });
    made.owners.push_back(is_full || between(0, 2) > 0 ? static_cast<Owner>(nearest - centres.begin())
                                                       : no_owner);
  }
  return made;
}

/// The partition with everything on the surface.
Case voxel_by_voxel_case() {
  Case made{{{3, 4, 4}, {3, 4, 4}, 2}, {}, 3};
  std::mt19937 random(7);
  for (std::size_t voxel = made.voxels().size(); voxel > 0; --voxel) {
    made.owners.push_back(static_cast<Owner>(random() % 3));
  }
  return made;
}

Case vessel_case() {
  Options options;
  options.shape = Shape::tube;
  options.size = {4, 4, 4};
  options.radii = {1.2, 0.8};
  options.pieces = 3;
  const Domain domain = make_domain(options);
  Case made{domain.box, {}, options.pieces};
  made.owners = make_partition(options, domain.box, fluid_of(domain)).owners;
  return made;
}

class ParticlesTiling : public testing::TestWithParam<unsigned> {
 protected:
  [[nodiscard]] static Case case_of(unsigned number) {
    return number == 0 ? voxel_by_voxel_case() : number == 1 ? vessel_case() : random_case(number);
  }

  /// Calls `use` with the case and the tiling of each rank.
  template <typename Use>
  void for_each_rank(Use&& use) const {
    const Case made = case_of(GetParam());
    for (int rank = 0; rank < made.pieces; ++rank) {
      if (std::find(made.owners.begin(), made.owners.end(), static_cast<Owner>(rank)) == made.owners.end()) {
        continue;  // the program refuses empty pieces
      }
      const Tiling tiling = make_tiling(made.box, made.owners, rank);
      ASSERT_EQ(tiling.complaint, "");
      use(made, tiling, static_cast<Owner>(rank));
    }
  }
};

using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

Key key_of(const Site& site) {
  return {site.at[0], site.at[1], site.at[2]};
}

enum class Class { none, internal, frontier, external };

class Classified {
 public:
  explicit Classified(const Tiling& tiling) : box_(tiling.box) {
    for (std::uint32_t local = 0; local < tiling.cells.size(); ++local) {
      classes_[key_of(tiling.cells[local])] = local < tiling.classes.internal   ? Class::internal
                                              : local < tiling.classes.frontier ? Class::frontier
                                                                                : Class::external;
    }
  }
  [[nodiscard]] Class of_voxel(const Site& voxel) const {
    const auto found = classes_.find(key_of(box_.cell_of_voxel(voxel)));
    return found == classes_.end() ? Class::none : found->second;
  }

 private:
  Box box_;
  std::map<Key, Class> classes_;
};

TEST_P(ParticlesTiling, every_point_of_the_rank_is_in_an_internal_or_frontier_cell) {
  for_each_rank([](const Case& made, const Tiling& tiling, Owner rank) {
    const Classified classified(tiling);
    for (const Site& voxel : made.voxels()) {
      const Class found = classified.of_voxel(voxel);
      if (made.owner(voxel) == rank) {
        EXPECT_TRUE(found == Class::internal || found == Class::frontier);
      }
    }
  });
}

TEST_P(ParticlesTiling, internal_cells_have_points_of_the_rank_alone_and_nothing_foreign_within_the_cutoff) {
  for_each_rank([](const Case& made, const Tiling& tiling, Owner rank) {
    const Classified classified(tiling);
    const std::vector<Site> voxels = made.voxels();
    for (const Site& voxel : voxels) {
      if (classified.of_voxel(voxel) != Class::internal || made.owner(voxel) == no_owner) {
        continue;
      }
      ASSERT_EQ(made.owner(voxel), rank);
      for (const Site& other : voxels) {
        if (made.owner(other) != no_owner && made.owner(other) != rank) {
          ASSERT_GE(made.distance(voxel, other), 1);
        }
      }
    }
  });
}

TEST_P(ParticlesTiling, frontier_cells_have_all_points_of_the_rank_within_the_cutoff_of_others) {
  for_each_rank([](const Case& made, const Tiling& tiling, Owner rank) {
    const Classified classified(tiling);
    const std::vector<Site> voxels = made.voxels();
    for (const Site& voxel : voxels) {
      const bool is_near =
          made.owner(voxel) == rank && std::any_of(voxels.begin(), voxels.end(), [&](const Site& other) {
            return made.owner(other) != no_owner && made.owner(other) != rank &&
                   made.distance(voxel, other) < 1;
          });
      if (is_near) {
        ASSERT_EQ(classified.of_voxel(voxel), Class::frontier);
      }
    }
  });
}

TEST_P(ParticlesTiling,
       external_cells_have_no_point_of_the_rank_and_cover_with_frontier_cells_all_within_the_cutoff) {
  for_each_rank([](const Case& made, const Tiling& tiling, Owner rank) {
    const Classified classified(tiling);
    const std::vector<Site> voxels = made.voxels();
    for (const Site& voxel : voxels) {
      const Owner owner = made.owner(voxel);
      const Class found = classified.of_voxel(voxel);
      if (found == Class::external) {
        ASSERT_NE(owner, rank);
      }
      const bool is_near = owner != no_owner && owner != rank &&
                           std::any_of(voxels.begin(), voxels.end(), [&](const Site& other) {
                             return made.owner(other) == rank && made.distance(voxel, other) < 1;
                           });
      if (is_near) {
        ASSERT_TRUE(found == Class::external || found == Class::frontier);
      }
    }
  });
}

TEST_P(ParticlesTiling, the_connection_matrix_names_the_owner_and_whoever_is_within_the_cutoff) {
  for_each_rank([](const Case& made, const Tiling& tiling, Owner rank) {
    const std::vector<Site> voxels = made.voxels();
    const std::uint32_t width = made.box.voxels_per_cell;
    for (const Site& voxel : voxels) {
      const Site cell = made.box.cell_of_voxel(voxel);
      const auto place = std::find_if(tiling.cells.begin(), tiling.cells.end(),
                                      [&](const Site& other) { return key_of(other) == key_of(cell); });
      const auto local = static_cast<std::uint32_t>(place - tiling.cells.begin());
      const bool touches_own = std::any_of(voxels.begin(), voxels.end(), [&](const Site& other) {
        return made.owner(other) == rank && made.distance(voxel, other) == 0;
      });
      if (made.owner(voxel) == no_owner || !touches_own || local < tiling.classes.internal) {
        continue;
      }
      ASSERT_LT(local, tiling.cells.size());
      const Connection& connection =
          tiling.connections[(local - tiling.classes.internal) * width * width * width +
                             made.box.part_of_cell(voxel)];
      std::set<int> near;
      for (const Site& other : voxels) {
        if (made.owner(other) != no_owner && made.owner(other) != rank && made.distance(voxel, other) < 1) {
          near.insert(made.owner(other));
        }
      }
      std::set<int> named;
      for (std::size_t index = 0; index < tiling.neighbours.size(); ++index) {
        if ((connection.near >> index & 1) != 0) {
          named.insert(tiling.neighbours[index]);
        }
      }
      ASSERT_EQ(named, near);
      if (made.owner(voxel) == rank) {
        ASSERT_EQ(connection.owner, mine);
      } else {
        ASSERT_EQ(tiling.neighbours.at(static_cast<std::size_t>(connection.owner)), made.owner(voxel));
      }
    }
  });
}

TEST_P(ParticlesTiling, segments_are_the_cells_around_each_cell) {
  for_each_rank([](const Case& made, const Tiling& tiling, Owner) {
    std::map<Key, std::uint32_t> locals;
    for (const Site& cell : tiling.cells) {
      locals.emplace(key_of(cell), static_cast<std::uint32_t>(locals.size()));
    }
    for (std::uint32_t cell = 0; cell < tiling.cells.size(); ++cell) {
      std::multiset<std::uint32_t> expected;
      for (int step = 0; step < 27; ++step) {
        const auto found = locals.find(
            key_of(moved(tiling.cells[cell], step % 3 - 1, step / 3 % 3 - 1, step / 9 - 1, made.box.cells)));
        if (found != locals.end()) {
          expected.insert(found->second);
        }
      }
      std::multiset<std::uint32_t> covered;
      for (std::uint32_t index = tiling.segment_starts[cell]; index < tiling.segment_starts[cell + 1];
           ++index) {
        const Segment segment = tiling.segments[index];
        for (std::uint32_t other = segment.first(); other < segment.end(); ++other) {
          covered.insert(other);
        }
      }
      ASSERT_EQ(covered, expected);
      if (cell < tiling.classes.deep) {
        ASSERT_LT(*covered.rbegin(), tiling.classes.internal)
            << "a deep cell is beside a frontier or external one";
      }
    }
  });
}

TEST_P(ParticlesTiling, a_survey_counts_cut_faces_and_pieces_within_the_cutoff_of_each_voxel) {
  const Case made = case_of(GetParam());
  const std::vector<Site> voxels = made.voxels();
  std::vector<std::set<Owner>> neighbours(static_cast<std::size_t>(made.pieces));
  std::int64_t cut_faces = 0;
  std::int64_t own_voxels = 0;
  std::int64_t sent = 0;
  for (const Site& voxel : voxels) {
    const Owner own = made.owner(voxel);
    if (own == no_owner) {
      continue;
    }
    ++own_voxels;
    std::set<Owner> near;
    for (const Site& other : voxels) {
      if (made.owner(other) != no_owner && made.owner(other) != own && made.distance(voxel, other) < 1) {
        near.insert(made.owner(other));
      }
    }
    sent += static_cast<std::int64_t>(near.size());
    neighbours[static_cast<std::size_t>(own)].insert(near.begin(), near.end());
    for (int axis = 0; axis < 3; ++axis) {
      const Owner next = made.owner(moved(voxel, axis == 0, axis == 1, axis == 2, made.box.voxels().at));
      cut_faces += next != no_owner && next != own ? 1 : 0;
    }
  }
  std::size_t most_neighbours_of_one = 0;
  for (const std::set<Owner>& near : neighbours) {
    most_neighbours_of_one = std::max(most_neighbours_of_one, near.size());
  }
  const Survey found =
      survey(made.box, std::vector<std::uint8_t>(voxels.size(), 8), made.owners, made.pieces);
  EXPECT_EQ(found.voxels, own_voxels);
  EXPECT_EQ(found.edge_cut, cut_faces);
  EXPECT_EQ(static_cast<std::size_t>(found.most_neighbours), most_neighbours_of_one);
  EXPECT_DOUBLE_EQ(found.sent_share, static_cast<double>(sent) / static_cast<double>(own_voxels));
}

TEST(ParticlesSurvey, says_that_two_slabs_send_two_voxels_on_either_side_of_each_cut) {
  const Box box{{16, 4, 4}, {16, 4, 4}, 2};
  Owners owners;
  for (std::int64_t voxel = 0; voxel < box.voxel_count(); ++voxel) {
    owners.push_back(static_cast<Owner>(voxel % 32 / 16));
  }
  const Survey found = survey(box, std::vector<std::uint8_t>(owners.size(), 8), owners, 2);
  EXPECT_EQ(found.edge_cut, 2 * 8 * 8);
  EXPECT_DOUBLE_EQ(found.sent_share, 8.0 / 32);  // two voxels on either side of two cuts
  EXPECT_EQ(found.most_neighbours, 1);
}

INSTANTIATE_TEST_SUITE_P(Cases, ParticlesTiling, testing::Range(0U, 11U));

TEST(ParticlesTilingOfOneRank, makes_of_a_row_of_cells_one_segment) {
  const Box box{{6, 4, 4}, {6, 4, 4}, 2};
  const Tiling tiling = make_tiling(box, Owners(static_cast<std::size_t>(box.voxel_count()), 0), 0);
  EXPECT_EQ(tiling.classes.deep, 6U * 4 * 4);
  EXPECT_EQ(tiling.classes.all, tiling.classes.deep);
  // at both ends of the row the neighbour across the boundary is apart
  EXPECT_EQ(tiling.segments.size(), 4U * 4 * (4 * 9 + 2 * 18));
  EXPECT_TRUE(tiling.neighbours.empty());
}

TEST(ParticlesTilingOfOneRank, refuses_more_neighbours_than_a_row_has_bits_for) {
  const Box box{{5, 5, 5}, {5, 5, 5}, 2};
  Owners owners;
  for (std::int64_t voxel = 0; voxel < box.voxel_count(); ++voxel) {
    owners.push_back(static_cast<Owner>(voxel % 200));
  }
  EXPECT_NE(make_tiling(box, owners, 0).complaint.find("64 are the most"), std::string::npos);
}

/// Slabs of two ranks; the counts are numbers of their own.
TEST(ParticlesTiling, tallies_the_particles_that_were_counted_where_it_makes_room_for_them) {
  const Box box{{4, 4, 8}, {4, 4, 8}, 2};
  Owners owners;
  std::vector<std::uint8_t> counts;
  for_each_site(box.voxels().at, [&](const Site& voxel) {
    owners.push_back(voxel.at[2] < 8 ? 0 : 1);
    counts.push_back(static_cast<std::uint8_t>(voxel.at[2]));
  });
  const Tiling tiling = make_tiling(box, owners, 0, counts);
  constexpr std::int64_t layer = 8 * 8;
  EXPECT_EQ(tiling.own.voxels, 8 * layer);
  EXPECT_EQ(tiling.own.particles, (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7) * layer);
  EXPECT_EQ(tiling.rim.particles, (0 + 1 + 6 + 7) * layer) << "the frontier, a cell on either side";
  EXPECT_EQ(tiling.foreign.particles, (8 + 9 + 14 + 15) * layer);
  ASSERT_EQ(tiling.near.size(), 1U);
  EXPECT_EQ(tiling.near[0].particles, (0 + 1 + 6 + 7) * layer);
  EXPECT_EQ(tiling.near[0].expected(1), (0 + 1 + 6 + 7) * layer);
  EXPECT_EQ(tiling.near[0].expected(10), 10 * 4 * layer) << "particles may come back";
  EXPECT_EQ(make_tiling(box, owners, 0).own.particles, 0);
}

}  // namespace
}  // namespace particles
