// The domain, its wall, and the force of a pair, compared with closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "examples/particles/balance.hpp"
#include "examples/particles/capsule.hpp"
#include "examples/particles/capsule_index.hpp"
#include "examples/particles/dissipation.hpp"
#include "examples/particles/domain.hpp"
#include "examples/particles/energy_line.hpp"
#include "examples/particles/lennard_jones.hpp"
#include "examples/particles/pair.hpp"
#include "examples/particles/partition.hpp"
#include "examples/particles/start.hpp"
#include "examples/particles/survey.hpp"
#include "examples/particles/vessels.hpp"
#include "examples/particles/voxel_graph.hpp"
#include "examples/particles/wall.hpp"

namespace particles {
namespace {

constexpr Capsule tapered{{2, 3, 4}, {7, 3, 4}, 2, 1};

Vector random_point(std::mt19937& random) {
  std::uniform_real_distribution<double> coordinate(-2, 12);
  return {coordinate(random), coordinate(random), coordinate(random)};
}

/// The least distance from any ball between the two ends: the definition.
double distance_from_balls(const Capsule& capsule, Vector point) {
  double least = 1e9;
  constexpr int balls = 20000;
  for (int ball = 0; ball <= balls; ++ball) {
    const double part = static_cast<double>(ball) / balls;
    const Vector centre = capsule.from + part * (capsule.to - capsule.from);
    const double radius = capsule.from_radius + part * (capsule.to_radius - capsule.from_radius);
    least = std::min(least, length(point - centre) - radius);
  }
  return least;
}

TEST(ParticlesCapsule, is_as_far_as_the_nearest_of_its_balls) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const Vector point = random_point(random);
    EXPECT_NEAR(surface_of(tapered, point).distance, distance_from_balls(tapered, point), 1e-6);
  }
}

TEST(ParticlesCapsule, has_a_normal_along_which_the_distance_grows) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const Vector point = random_point(random);
    const Surface surface = surface_of(tapered, point);
    EXPECT_NEAR(length(surface.normal), 1, 1e-12);
    constexpr double step = 1e-5;
    EXPECT_NEAR(surface_of(tapered, point + step * surface.normal).distance - surface.distance, step, 1e-9);
  }
}

/// A cylinder along x, for all that happens far from its ends.
constexpr Capsule cylinder{{-100, 0, 0}, {100, 0, 0}, 2, 2};

TEST(ParticlesWall, reflects_a_particle_as_a_mirror_does) {
  const Wall wall{&cylinder, 1, false};
  // Upwards and forwards through the top at y = 2, half of the way.
  Path path{{0, 1.5, 0}, {1, 2.5, 0}, {1, 1, 0}};
  ASSERT_TRUE(reflect(wall, path));
  EXPECT_NEAR(path.to.x, 1, 1e-12);
  EXPECT_NEAR(path.to.y, 1.5, 1e-12);
  EXPECT_NEAR(path.to.z, 0, 1e-12);
  EXPECT_NEAR(path.velocity.x, 1, 1e-12);
  EXPECT_NEAR(path.velocity.y, -1, 1e-12);
}

TEST(ParticlesWall, keeps_angle_and_speed_in_a_circle) {
  const Wall wall{&cylinder, 1, false};
  // A chord of a circle is followed by chords of the same length, whatever the angle.
  const double angle = 0.7;
  Vector at{0, 2 * std::cos(angle), 2 * std::sin(angle)};
  at = 0.999 * at;
  Vector velocity{0.1, -1, 0.3};
  const double distance_from_axis =
      std::abs(at.y * velocity.z - at.z * velocity.y) / std::hypot(velocity.y, velocity.z);
  for (int step = 0; step < 1000; ++step) {
    Path path{at, at + 0.05 * velocity, velocity};
    ASSERT_TRUE(reflect(wall, path));
    ASSERT_FALSE(wall.has_outside(path.to));
    at = path.to;
    velocity = path.velocity;
    EXPECT_NEAR(std::abs(at.y * velocity.z - at.z * velocity.y) / std::hypot(velocity.y, velocity.z),
                distance_from_axis, 1e-9);
  }
  EXPECT_NEAR(length(velocity), std::sqrt(0.01 + 1 + 0.09), 1e-9);
}

TEST(ParticlesWall, turns_a_particle_round_where_it_bounces_back) {
  const Wall wall{&cylinder, 1, true};
  Path path{{0, 1.5, 0}, {1, 2.5, 0}, {1, 1, 0}};
  ASSERT_TRUE(reflect(wall, path));
  EXPECT_NEAR(path.to.x, 0, 1e-12);
  EXPECT_NEAR(path.to.y, 1.5, 1e-12);
  EXPECT_NEAR(path.velocity.x, -1, 1e-12);
  EXPECT_NEAR(path.velocity.y, -1, 1e-12);
}

TEST(ParticlesWall, puts_back_what_it_cannot_keep_inside) {
  const Capsule narrow{{-100, 0, 0}, {100, 0, 0}, 0.01, 0.01};
  const Wall wall{&narrow, 1, false};
  Path path{{0, 0, 0}, {0, 5.003, 0}, {0, 1, 0}};
  ASSERT_FALSE(reflect(wall, path));
  EXPECT_EQ(path.to.y, 0);
  EXPECT_EQ(path.velocity.y, -1);
}

Box cube(double side) {
  const auto cells = static_cast<std::uint32_t>(side);
  return {{side, side, side}, {cells, cells, cells}, 2};
}

Place place_at(const Box& box, double x, double y, double z) {
  const auto coordinate = [&](double value, int axis) {
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(std::llround(value / box.unit(axis))));
  };
  return {{coordinate(x, 0), coordinate(y, 1), coordinate(z, 2)}, 0};
}

TEST(ParticlesPair, repels_with_the_force_of_the_soft_model) {
  const Box box = cube(5);
  const Repulsion repulsion(box, 25);
  Repulsion::Sum sum{};
  const auto separation = repulsion.between(place_at(box, 1, 1, 1), place_at(box, 1.3, 1.4, 1));
  ASSERT_TRUE(separation.is_near());
  repulsion.add_force(separation, sum);
  EXPECT_NEAR(repulsion.force_of(sum.x), -25 * 0.5 * 0.6, 1e-5);
  EXPECT_NEAR(repulsion.force_of(sum.y), -25 * 0.5 * 0.8, 1e-5);
  EXPECT_EQ(sum.z, 0);
  EXPECT_NEAR(repulsion.energy_of(separation.square), 25 * 0.25 / 2, 1e-5);
  EXPECT_NEAR(repulsion.virial_of(separation.square), 25 * 0.25, 1e-5);
}

TEST(ParticlesPair, repels_across_the_boundary_and_exactly_oppositely) {
  const Box box = cube(5);
  const Repulsion repulsion(box, 25);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> coordinate(-0.4, 0.4);
  for (int trial = 0; trial < 1000; ++trial) {
    const Place one = place_at(box, coordinate(random), coordinate(random), coordinate(random));
    const Place other = place_at(box, coordinate(random), coordinate(random), coordinate(random));
    Repulsion::Sum sum{};
    const auto there = repulsion.between(one, other);
    const auto back = repulsion.between(other, one);
    ASSERT_EQ(there.is_near(), back.is_near());
    if (there.is_near()) {
      repulsion.add_force(there, sum);
      EXPECT_NE(sum.x, 0);
      repulsion.add_force(back, sum);
    }
    EXPECT_EQ(sum.x, 0);
    EXPECT_EQ(sum.y, 0);
    EXPECT_EQ(sum.z, 0);
  }
}

TEST(ParticlesPair, leaves_alone_what_is_at_one_place_or_as_far_as_the_cutoff) {
  const Box box = cube(5);
  const Repulsion repulsion(box, 25);
  EXPECT_FALSE(repulsion.between(place_at(box, 1, 1, 1), place_at(box, 1, 1, 1)).is_near());
  EXPECT_FALSE(repulsion.between(place_at(box, 1, 1, 1), place_at(box, 2, 1, 1)).is_near());
}

/// Two particles that pass through each other, head on: while they touch, their distance is r = 1 − d with
/// d'' = 2 a d / m … in closed form d(t) = v / w sin(w t), w² = 2 a, since each is pushed back by a d.
TEST(ParticlesPair, moves_two_particles_as_the_closed_form_says) {
  const Box box = cube(8);
  const double strength = 3;
  const Repulsion repulsion(box, strength);
  const double speed = 0.5;  // of approach
  const double frequency = std::sqrt(2 * strength);
  double left = 3;
  double right = 4;
  double left_velocity = speed / 2;
  double right_velocity = -speed / 2;
  const double step = 1e-4;
  for (int count = 0; count * step * frequency < 3; ++count) {
    Repulsion::Sum sum{};
    const auto separation = repulsion.between(place_at(box, left, 4, 4), place_at(box, right, 4, 4));
    if (separation.is_near()) {
      repulsion.add_force(separation, sum);
    }
    const double kick = (count == 0 ? 0.5 : 1) * step * repulsion.force_of(sum.x);
    left_velocity += kick;
    right_velocity -= kick;
    left += step * left_velocity;
    right += step * right_velocity;
    const double expected = 1 - speed / frequency * std::sin(frequency * step * (count + 1));
    ASSERT_NEAR(right - left, expected, 1e-4) << count;
  }
}

/// Of two particles on the x axis, `distance` apart.
template <typename Model>
double force_at(const Model& model, const Box& box, double distance) {
  Place own = place_at(box, 2 + distance, 2, 2);
  own.identity = 1;
  Pair::Sum sum{};
  const Pair::Separation separation = model.between(own, place_at(box, 2, 2, 2));
  if (separation.is_near()) {
    model.add_force(separation, sum);
  }
  return model.force_of(sum.x);
}

TEST(ParticlesLennardJones, has_the_force_of_the_closed_form_and_none_beyond_the_cutoff) {
  const Box box = cube(5);
  const LennardJones model(box);
  constexpr double diameter = 0.4;
  for (const double over : {0.7, 0.8, 0.9, 1.0, 1.1, 1.5, 2.0, 2.49}) {
    const double sixth = std::pow(over, -6);
    const double expected = 24 * sixth * (2 * sixth - 1) / (over * diameter);
    EXPECT_NEAR(force_at(model, box, over * diameter), expected, 2e-5 + 4e-6 * std::abs(expected)) << over;
  }
  EXPECT_NEAR(force_at(model, box, std::pow(2.0, 1.0 / 6) * diameter), 0, 1e-3);
  EXPECT_EQ(force_at(model, box, 1), 0);
}

TEST(ParticlesLennardJones, has_an_energy_whose_slope_is_the_force_and_which_ends_at_the_cutoff) {
  const Box box = cube(5);
  const LennardJones model(box);
  constexpr double step = 1e-3;
  for (double distance = 0.4; distance < 0.99; distance += 0.07) {
    const auto energy = [&](double at) { return model.energy_of(static_cast<float>(at * at)); };
    const double slope = (energy(distance + step) - energy(distance - step)) / (2 * step);
    const double force = force_at(model, box, distance);
    EXPECT_NEAR(-slope, force, 0.01 + 1e-3 * std::abs(force)) << distance;
    EXPECT_NEAR(model.virial_of(static_cast<float>(distance * distance)), distance * force, 1e-4) << distance;
  }
  EXPECT_NEAR(model.energy_of(1), 0, 1e-6);
  const double sixth = std::pow(2.5, -6);
  EXPECT_NEAR(model.energy_of(0.16F), -4 * (sixth * sixth - sixth), 1e-5);
}

TEST(ParticlesLennardJones, may_have_a_force_that_is_shifted_to_end_at_the_cutoff_with_its_energy) {
  const Box box = cube(5);
  const LennardJones plain(box);
  const ForceShiftedLennardJones model(box);
  const double sixth = std::pow(2.5, -6);
  const double at_cutoff = 24 * sixth * (2 * sixth - 1);
  constexpr double step = 1e-3;
  for (double distance = 0.4; distance < 0.99; distance += 0.07) {
    const double force = force_at(model, box, distance);
    EXPECT_NEAR(force, force_at(plain, box, distance) - at_cutoff, 4e-5 + 1e-6 * std::abs(force)) << distance;
    const auto energy = [&](double at) { return model.energy_of(static_cast<float>(at * at)); };
    const double slope = (energy(distance + step) - energy(distance - step)) / (2 * step);
    EXPECT_NEAR(-slope, force, 0.01 + 1e-3 * std::abs(force)) << distance;
    EXPECT_NEAR(model.virial_of(static_cast<float>(distance * distance)), distance * force, 1e-4) << distance;
  }
  EXPECT_LT(force_at(plain, box, 0.9999), -0.09);
  EXPECT_NEAR(force_at(model, box, 0.9999), 0, 1e-4);
  EXPECT_NEAR(model.energy_of(1), 0, 1e-6);
}

TEST(ParticlesLennardJones, has_a_core_whose_force_fits_and_does_not_grow) {
  const Box box = cube(5);
  const LennardJones model(box);
  const double edge = std::sqrt(static_cast<double>(LennardJones::core_square));
  const double at_edge = force_at(model, box, edge * 1.0001);
  EXPECT_GT(at_edge, 0.9 * LennardJones::largest_force);
  EXPECT_LT(at_edge, LennardJones::largest_force);
  for (const double distance : {0.99 * edge, 0.5 * edge, 0.001}) {
    EXPECT_NEAR(force_at(model, box, distance), at_edge * distance / edge, 2e-3 * at_edge);
  }
}

TEST(ParticlesLennardJones, sees_that_two_particles_are_at_one_place_but_not_a_particle_itself) {
  const Box box = cube(5);
  const LennardJones model(box);
  const Place place = place_at(box, 1, 2, 3);
  Place other = place;
  other.identity = 1;
  EXPECT_FALSE(model.between(place, place).is_near());
  const Pair::Separation separation = model.between(place, other);
  EXPECT_TRUE(separation.is_near() && LennardJones::is_in_core(separation));
  Pair::Sum sum{};
  model.add_force(separation, sum);
  EXPECT_EQ(sum.x, 0);
}

/// They turn about their middle, further from each other than in the well.
TEST(ParticlesLennardJones, keeps_two_particles_on_a_circular_orbit) {
  const Box box = cube(5);
  const LennardJones model(box);
  constexpr double distance = 0.52;
  constexpr double radius = distance / 2;
  const double pull = -force_at(model, box, distance);
  ASSERT_GT(pull, 0);
  const double speed = std::sqrt(pull * radius);
  constexpr int steps = 4000;
  const double step = 2 * 3.141592653589793 * radius / speed / steps;
  double at[2] = {radius, 0};
  double velocity[2] = {0, speed};
  for (int count = 0; count < steps; ++count) {
    Place own = place_at(box, 2.5 + at[0], 2.5 + at[1], 2.5);
    own.identity = 1;
    Pair::Sum sum{};
    model.add_force(model.between(own, place_at(box, 2.5 - at[0], 2.5 - at[1], 2.5)), sum);
    const double kick = (count == 0 ? 0.5 : 1) * step;
    velocity[0] += kick * model.force_of(sum.x);
    velocity[1] += kick * model.force_of(sum.y);
    at[0] += step * velocity[0];
    at[1] += step * velocity[1];
    ASSERT_NEAR(std::hypot(at[0], at[1]), radius, 1e-4) << count;
  }
  EXPECT_NEAR(at[0], radius, 1e-3);
  EXPECT_NEAR(at[1], 0, 1e-3);
}

TEST(ParticlesDissipation, pushes_both_of_a_pair_exactly_oppositely) {
  const Box box = cube(5);
  const Dissipation model(box, 25, 4.5, 1, 0.01, 7);
  std::mt19937 random(6);
  std::uniform_real_distribution<double> coordinate(-0.4, 0.4);
  std::normal_distribution<float> velocity(0, 2);
  for (std::uint32_t trial = 0; trial < 1000; ++trial) {
    const Place one = place_at(box, coordinate(random), coordinate(random), coordinate(random));
    const Place other = place_at(box, coordinate(random), coordinate(random), coordinate(random));
    const Motion motion{{velocity(random), velocity(random), velocity(random)}, 1};
    const Motion other_motion{{velocity(random), velocity(random), velocity(random)}, 0};
    const auto separation = model.between(one, other);
    Pair::Sum sum{};
    if (separation.is_near()) {
      model.add_force(separation, {trial, motion}, {4000 - trial, other_motion}, trial, sum);
      EXPECT_NE(sum.x, 0);
      model.add_force(model.between(other, one), {4000 - trial, other_motion}, {trial, motion}, trial, sum);
    }
    EXPECT_EQ(sum.x, 0);
    EXPECT_EQ(sum.y, 0);
    EXPECT_EQ(sum.z, 0);
  }
}

TEST(ParticlesDissipation, slows_two_particles_that_part_or_meet_but_not_those_that_turn) {
  const Box box = cube(5);
  const Dissipation model(box, 25, 4.5, 0, 0.01, 7);  // without noise
  const auto separation = model.between(place_at(box, 1.5, 1, 1), place_at(box, 1, 1, 1));
  const Motion rest{{0, 0, 0}, 1};
  const auto force = [&](float along, float across) {
    const Motion motion{{along, across, 0}, 1};
    Pair::Sum sum{};
    model.add_force(separation, {1, motion}, {2, rest}, 3, sum);
    EXPECT_EQ(sum.y, 0);
    return model.force_of(sum.x);
  };
  EXPECT_NEAR(force(0, 5), 25 * 0.5, 1e-4);
  EXPECT_NEAR(force(2, 0), 25 * 0.5 - 4.5 * 0.25 * 2, 1e-4);
  EXPECT_NEAR(force(-2, 1), 25 * 0.5 + 4.5 * 0.25 * 2, 1e-4);
}

TEST(ParticlesDissipation, has_noise_of_mean_0_and_variance_1_that_each_pair_and_step_has_of_its_own) {
  double sum = 0;
  double squares = 0;
  double next_step = 0;
  double next_pair = 0;
  constexpr int pairs = 40000;
  for (std::uint32_t pair = 0; pair < pairs; ++pair) {
    const double noise = noise_of_pair(pair, pair + 17, 5, 1);
    EXPECT_EQ(noise, noise_of_pair(pair + 17, pair, 5, 1));
    sum += noise;
    squares += noise * noise;
    next_step += noise * noise_of_pair(pair, pair + 17, 6, 1);
    next_pair += noise * noise_of_pair(pair, pair + 18, 5, 1);
  }
  constexpr double four_deviations = 4 / 200.0;
  EXPECT_NEAR(sum / pairs, 0, four_deviations);
  EXPECT_NEAR(squares / pairs, 1, four_deviations);
  EXPECT_NEAR(next_step / pairs, 0, four_deviations);
  EXPECT_NEAR(next_pair / pairs, 0, four_deviations);
}

TEST(ParticlesStart, leaves_room_for_the_cores_of_lennard_jones) {
  Options options;
  options.pair = PairForce::lennard_jones;
  options.density = 13.125;
  options.size = {3, 3, 4};
  const Domain domain = make_domain(options);
  const Start start = make_start(options, domain);
  const LennardJones model(domain.box);
  float least = 1;
  for (std::uint32_t own = 0; own < start.site_count(); ++own) {
    for (std::uint32_t other = 0; other < own; ++other) {
      least = std::min(least, model.between(start.place_of(own), start.place_of(other)).square);
    }
  }
  EXPECT_GT(least, 0.36F * 0.36F) << "0.9 diameters";
}

TEST(ParticlesStart, puts_each_particle_into_its_own_part_of_the_box_with_no_momentum) {
  Options options;
  options.size = {4, 5, 6};
  const Domain domain = make_domain(options);
  const Start start = make_start(options, domain);
  EXPECT_NEAR(static_cast<double>(start.site_count()) / (4 * 5 * 6), 3, 0.3);
  double momentum = 0;
  for (std::uint32_t identity = 0; identity < start.site_count(); ++identity) {
    const Place place = start.place_of(identity);
    EXPECT_EQ(place.identity, identity);
    EXPECT_EQ(example::wide_product(place.at[0], start.sites[0]) >> 32, identity % start.sites[0]);
    momentum += start.motion_of(identity).velocity[1];
  }
  EXPECT_NEAR(momentum, 0, start.site_count() % 2 == 0 ? 1e-3 : 10);
}

TEST(ParticlesEnergy, drifts_as_the_line_through_it_does) {
  EnergyLine line;
  EXPECT_EQ(line.drift(), 0);
  line.add(100, -4);
  EXPECT_EQ(line.drift(), 0);
  line.add(200, -6);
  EXPECT_DOUBLE_EQ(line.drift(), 2 / 5.0);
  line.clear();
  for (int step = 0; step < 1000; ++step) {
    line.add(1'000'000 + step, -2 + 1e-5 * step / 999 + (step % 4 < 2 ? 1e-4 : -1e-4));
  }
  EXPECT_NEAR(line.drift(), -1e-5 / 2, 1e-6) << "whatever it fluctuates by";
}

class ParticlesDomain : public testing::TestWithParam<Shape> {};

TEST_P(ParticlesDomain, counts_as_fluid_every_voxel_with_a_point_inside) {
  Options options;
  options.shape = GetParam();
  options.size = {6, 6, 6};
  options.radii = {1.7, 1.1};
  const Domain domain = make_domain(options);
  const std::vector<std::uint8_t> fluid = fluid_of(domain);
  const Wall wall{domain.capsules.data(), static_cast<int>(domain.capsules.size()), false};
  std::mt19937 random(4);
  std::uniform_int_distribution<std::uint32_t> coordinate;
  int inside = 0;
  for (int trial = 0; trial < 100000; ++trial) {
    const Place place{{coordinate(random), coordinate(random), coordinate(random)}, 0};
    const Vector point{place.at[0] * domain.box.unit(0), place.at[1] * domain.box.unit(1),
                       place.at[2] * domain.box.unit(2)};
    if (!wall.has_outside(point)) {
      ++inside;
      ASSERT_GT(fluid[static_cast<std::size_t>(domain.box.voxel_index(domain.box.voxel_of(place)))], 0);
    }
  }
  EXPECT_GT(inside, 1000);
}

INSTANTIATE_TEST_SUITE_P(Shapes, ParticlesDomain, testing::Values(Shape::tube, Shape::tree));

TEST(ParticlesVessels, branch_after_murrays_law) {
  Options options;
  options.shape = Shape::tree;
  options.size = {24, 24, 24};
  options.radii = {6, 6};
  options.depth = 3;
  const Vessels tree = make_vessels(options);
  ASSERT_EQ(tree.complaint, "");
  ASSERT_EQ(tree.capsules.size(), 15U);
  // in the order in which they are made: a vessel, all of its first branch, all of its second
  const Capsule& root = tree.capsules[0];
  const Capsule& first = tree.capsules[1];
  const Capsule& second = tree.capsules[8];
  EXPECT_NEAR(std::pow(first.from_radius, 3) + std::pow(second.from_radius, 3), std::pow(root.to_radius, 3),
              1e-9);
  for (const Capsule* branch : {&first, &second}) {
    EXPECT_NEAR(length(branch->from - root.to), 0, 1e-9);
    EXPECT_NEAR(length(branch->to - branch->from) / branch->from_radius, 4, 1e-9);
    EXPECT_GT(dot(branch->to - branch->from, root.to - root.from), 0);
  }
}

TEST(ParticlesVessels, of_a_tree_are_the_same_for_a_seed_and_others_for_another) {
  Options options;
  options.shape = Shape::tree;
  const std::vector<Capsule> one = make_vessels(options).capsules;
  EXPECT_EQ(make_vessels(options).capsules.back().to.x, one.back().to.x);
  options.seed = 2;
  EXPECT_NE(make_vessels(options).capsules.back().to.x, one.back().to.x);
}

std::string complaint_about(const std::string& document) {
  Options options;
  options.geometry = testing::TempDir() + "particles_vessel.json";
  std::ofstream(options.geometry) << document;
  std::string complaint = make_vessels(options).complaint;
  return complaint.substr(0, options.geometry.size()) == options.geometry
             ? complaint.substr(options.geometry.size() + 2)
             : complaint;
}

TEST(ParticlesVessels, come_from_a_file_which_must_make_sense) {
  const std::string first = R"({"from": [0, 0, 0], "to": [5, 0, 0], "radii": [2, 1]})";
  const std::string second = R"({"from": [5, 0, 0], "to": [9, 3, 0], "radii": [1, 1]})";
  EXPECT_EQ(complaint_about(R"({"capsules": [)" + first + "," + second + "]}"), "");
  EXPECT_EQ(complaint_about("{"), "it is not JSON");
  EXPECT_EQ(complaint_about("[]"), "/capsules: expected a list of capsules");
  EXPECT_EQ(complaint_about(R"({"capsules": []})"), "/capsules: expected a list of capsules");
  EXPECT_EQ(complaint_about(R"({"capsules": [)" + first +
                            R"(, {"from": [0, 0], "to": [5, 0, 0], "radii": [2, 1]}]})"),
            "/capsules/1/from/2: expected a number");
  EXPECT_EQ(complaint_about(R"({"capsules": [{"from": [0, 0, 0], "to": [5, 0, 0], "radii": [2, -1]}]})"),
            "/capsules/0/radii/1: a radius is larger than 0, and this is -1");
  EXPECT_EQ(complaint_about(R"({"capsules": [{"from": [0, 0, 0], "to": [5, 0, 0], "radii": [2, "x"]}]})"),
            "/capsules/0/radii/1: expected a number");
  EXPECT_EQ(complaint_about(R"({"capsules": [{"from": [0, 0, 0], "to": [1, 0, 0], "radii": [3, 1]}]})"),
            "capsule 0 is not longer than its radii differ");
  EXPECT_EQ(complaint_about(R"({"capsules": [)" + first +
                            R"(, {"from": [9, 0, 0], "to": [15, 0, 0], "radii": [2, 1]}]})"),
            "capsule 1 touches none of those before it");
  EXPECT_NE(complaint_about(R"({"capsules": [{"from": [0, 0, 0], "to": [5, 0, 0], "radii": [0.4, 1]}]})")
                .find("the cutoff, 1, is larger than a vessel of radius 0.4"),
            std::string::npos);
  Options options;
  options.geometry = "/nonexistent/vessel.json";
  EXPECT_EQ(make_vessels(options).complaint, "/nonexistent/vessel.json: cannot read it");
}

TEST(ParticlesVessels, are_found_near_a_point_as_all_of_them_would_be) {
  Options options;
  options.shape = Shape::tree;
  options.size = {30, 30, 30};
  options.radii = {5, 5};
  const Domain domain = make_domain(options);
  const CapsuleIndex index(domain.box, domain.capsules);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> part(0, 1);
  for (int trial = 0; trial < 2000; ++trial) {
    const Vector point{part(random) * domain.box.side[0], part(random) * domain.box.side[1],
                       part(random) * domain.box.side[2]};
    const double distance =
        surface_of(domain.capsules.data(), static_cast<int>(domain.capsules.size()), point).distance;
    EXPECT_EQ(index.distance(point), std::min(distance, CapsuleIndex::reach));
  }
}

TEST(ParticlesPartition, by_slabs_has_pieces_of_nearly_one_volume_and_two_neighbours) {
  Options options;
  options.size = {8, 8, 40};
  options.pieces = 8;
  const Domain domain = make_domain(options);
  const std::vector<std::uint8_t> fluid = fluid_of(domain);
  const Partition partition = make_partition(options, domain.box, fluid);
  ASSERT_EQ(partition.complaint, "");
  const Survey found = survey(domain.box, fluid, partition.owners, options.pieces);
  EXPECT_NEAR(found.imbalance, 0, 1e-9);
  EXPECT_EQ(found.edge_cut, 8 * 16 * 16);
  EXPECT_EQ(found.most_neighbours, 2);
  EXPECT_NEAR(found.sent_share, 8 * 2.0 / 40, 1e-9)
      << "a cutoff's width on either side of each of eight cuts";
}

TEST(ParticlesPartition, comes_back_from_the_file_that_it_was_written_to) {
  Options options;
  options.size = {4, 4, 4};
  options.pieces = 3;
  options.partition = "random";
  const Domain domain = make_domain(options);
  const std::vector<std::uint8_t> fluid = fluid_of(domain);
  const Owners owners = make_partition(options, domain.box, fluid).owners;
  const std::string path = testing::TempDir() + "particles_partition";
  ASSERT_EQ(write_partition(path, domain.box, 3, owners), "");
  options.partition = path;
  EXPECT_EQ(make_partition(options, domain.box, fluid).owners, owners);
  options.pieces = 4;
  EXPECT_NE(
      make_partition(options, domain.box, fluid).complaint.find("and not for \"voxels 8 8 8 pieces 4\""),
      std::string::npos);
}

TEST(ParticlesPartition, says_which_piece_is_empty_and_what_is_too_small) {
  Options options;
  options.size = {3, 3, 3};
  options.voxels_per_cutoff = 1;
  options.pieces = 20;
  const Domain domain = make_domain(options);
  const std::vector<std::uint8_t> fluid = fluid_of(domain);
  EXPECT_NE(make_partition(options, domain.box, fluid).complaint.find(" is empty"), std::string::npos);
  options.pieces = 28;
  EXPECT_EQ(make_partition(options, domain.box, fluid).complaint, "27 voxels are too few for 28 ranks");
}

/// By a library that may have been missing when this was built.
class ParticlesGraphPartition : public testing::TestWithParam<const char*> {
 protected:
  ParticlesGraphPartition() {
    options_.size = {16, 16, 16};
    options_.pieces = 32;
  }
  [[nodiscard]] static bool is_there() {
    return std::string(GetParam()) == "scotch" ? has_scotch() : has_metis();
  }
  Options options_;
};

TEST_P(ParticlesGraphPartition, has_less_surface_than_slabs_of_a_cube_and_is_the_same_each_time) {
  const Domain domain = make_domain(options_);
  const std::vector<std::uint8_t> fluid = fluid_of(domain);
  const std::int64_t slabs =
      survey(domain.box, fluid, make_partition(options_, domain.box, fluid).owners, options_.pieces).edge_cut;
  options_.partition = GetParam();
  const Partition partition = make_partition(options_, domain.box, fluid);
  if (!is_there()) {
    EXPECT_EQ(partition.complaint, "--partition: this program was built without lib" + options_.partition +
                                       "; take slabs, or a file");
    return;
  }
  ASSERT_EQ(partition.complaint, "");
  const Survey found = survey(domain.box, fluid, partition.owners, options_.pieces);
  EXPECT_LT(found.edge_cut, slabs);
  EXPECT_LT(found.imbalance, 0.1);
  EXPECT_EQ(make_partition(options_, domain.box, fluid).owners, partition.owners);
}

TEST_P(ParticlesGraphPartition, of_one_piece_is_everything) {
  options_.pieces = 1;
  options_.partition = GetParam();
  const Domain domain = make_domain(options_);
  const std::vector<std::uint8_t> fluid = fluid_of(domain);
  if (is_there()) {
    EXPECT_EQ(make_partition(options_, domain.box, fluid).owners, Owners(fluid.size(), 0));
  }
}

INSTANTIATE_TEST_SUITE_P(Libraries, ParticlesGraphPartition, testing::Values("scotch", "metis"));

TEST(ParticlesVoxelGraph, joins_voxels_that_share_a_face_across_the_boundary_too) {
  const Box box{{3, 3, 4}, {3, 3, 4}, 1};
  std::vector<std::uint8_t> fluid(36, 8);
  fluid[1] = 0;
  const VoxelGraph graph = make_voxel_graph(box, fluid, 2);
  EXPECT_EQ(graph.width, 1U);
  EXPECT_EQ(graph.vertex[1], -1);
  EXPECT_EQ(graph.weights, std::vector<std::int32_t>(35, 8));
  // the first voxel has all six neighbours but that which is not fluid
  std::vector<std::int32_t> of_first(graph.ends.begin(), graph.ends.begin() + graph.starts[1]);
  std::sort(of_first.begin(), of_first.end());
  EXPECT_EQ(of_first, (std::vector<std::int32_t>{1, 2, 5, 8, 26}));
}

TEST(ParticlesVoxelGraph, has_weights_whose_sum_fits_32_bits) {
  const Box box{{8, 8, 8}, {8, 8, 8}, 1};
  std::vector<std::uint8_t> fluid(512, 200);
  fluid[7] = 1;
  const VoxelGraph graph = make_voxel_graph(box, fluid, 2, {512, 20000});
  EXPECT_EQ(graph.weights[0], 200 / 6);
  EXPECT_EQ(graph.weights[7], 1);
  EXPECT_EQ(make_voxel_graph(box, fluid, 2).weights[0], 200);
  const VoxelGraph blocks = make_voxel_graph(box, fluid, 2, {100, 20000});
  EXPECT_EQ(blocks.width, 2U);
  EXPECT_EQ(blocks.weights.size(), 64U);
  EXPECT_EQ(blocks.weights[1], 8 * 200 / 6);
}

TEST(ParticlesBalance, weighs_each_voxel_by_its_particles_and_an_empty_one_of_fluid_by_1) {
  const std::vector<std::uint8_t> fluid{8, 8, 0, 1, 8};
  EXPECT_EQ(measured_weights(fluid, {0, 1, 0, 2, 4}), (std::vector<std::uint8_t>{1, 64, 0, 127, 253}));
  EXPECT_EQ(measured_weights(fluid, {0, 1, 0, 254, 5000}), (std::vector<std::uint8_t>{1, 2, 0, 255, 255}));
  EXPECT_EQ(measured_weights(fluid, {0, 0, 0, 0, 0}), (std::vector<std::uint8_t>{1, 1, 0, 1, 1}));
  EXPECT_EQ(in_bytes({0, 255, 256, 70000}), (std::vector<std::uint8_t>{0, 255, 255, 255}));
}

TEST(ParticlesBalance, is_by_how_much_the_fullest_piece_is_above_the_mean) {
  EXPECT_DOUBLE_EQ(imbalance_of({0, 0, no_owner, 1}, {3, 3, 0, 2}, 2), 0.5);
  EXPECT_DOUBLE_EQ(imbalance_of({0, 0, no_owner, 1}, {1, 1, 0, 2}, 2), 0);
  EXPECT_DOUBLE_EQ(imbalance_of({0, 1}, {0, 0}, 2), 0);
}

TEST(ParticlesBalance, lets_pieces_have_the_numbers_of_those_that_they_share_most_particles_with) {
  const Owners before{0, 0, 1, 1, no_owner, 2, 2, 3};
  const std::vector<std::uint32_t> counts{5, 5, 5, 5, 0, 5, 5, 0};
  // the old pieces in another order stay where they are
  EXPECT_EQ(renumbered({2, 2, 0, 0, no_owner, 3, 3, 1}, before, counts, 4), before);
  // piece 3 shares more with the old 0 than piece 1 does; this one takes the old 1, and piece 0 what is left
  EXPECT_EQ(renumbered({3, 1, 1, 0, no_owner, 2, 2, 0}, before, {9, 1, 1, 0, 0, 5, 5, 0}, 4),
            (Owners{0, 1, 1, 3, no_owner, 2, 2, 3}));
}

/// Of a box whose lower half is ten times as full.
TEST(ParticlesBalance, is_restored_by_a_partition_with_measured_weights) {
  Options options;
  options.size = {4, 4, 20};
  options.pieces = 4;
  const Domain domain = make_domain(options);
  const std::vector<std::uint8_t> fluid = fluid_of(domain);
  std::vector<std::uint32_t> counts(fluid.size(), 1);
  std::fill(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(counts.size() / 2), 10);
  const Owners before = make_partition(options, domain.box, fluid).owners;
  EXPECT_GT(imbalance_of(before, counts, 4), 0.8);
  for (const char* partition : {"slabs", "scotch", "metis"}) {
    options.partition = partition;
    if (options.partition == "slabs" || (options.partition == "scotch" ? has_scotch() : has_metis())) {
      const Partition after = make_partition(options, domain.box, measured_weights(fluid, counts));
      ASSERT_EQ(after.complaint, "");
      EXPECT_LT(imbalance_of(after.owners, counts, 4), 0.15) << partition;
    }
  }
}

}  // namespace
}  // namespace particles
