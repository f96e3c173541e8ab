// Where links and sources come from, site by site, in double precision: functions of seed and global site,
// the same on host and GPU and for any number of ranks. Knows no memory layout.
#pragma once

#include <cmath>
#include <cstdint>

#include "examples/dslash/algebra.hpp"
#include "examples/dslash/lattice.hpp"

namespace dslash {

enum class Gauge {
  unit,     ///< every link is the identity
  weak,     ///< identity plus noise, made unitary again
  file,     ///< as a file has it
  constant  ///< one colour's phase against another's: the same field strength everywhere, in planes xy and zt
};

/// Two rows of a link.
constexpr int window_numbers_of_link = 12;

/// Links of so many slices from a file, in host memory that GPUs see too: direction, x, y, z, t, the first
/// one running fastest.
struct LinkWindow {
  const double* numbers = nullptr;
  int first_slice = 0;
  int slices = 0;  ///< with those beyond the last one counted from the first one again
};

struct Model {
  Lattice lattice;
  Gauge gauge = Gauge::weak;
  double noise = 0.2;  ///< of a weak field: each real number of a link moves by as much at most
  std::uint64_t seed = 1;
  bool is_transformed = false;  ///< by a random gauge transformation
  LinkWindow window;            ///< of a gauge field from a file
};

/// Streams of random numbers, which must not meet.
enum class Draw : std::uint32_t { link = 0, source = 4, transformation = 5 };

/// Count numbers in [-1, 1), all different draws of one site.
template <int count>
EXAMPLE_HOST_DEVICE void draw(const Model& model, Site site, std::uint32_t stream, double (&numbers)[count]) {
  static_assert(count % 2 == 0);
  const std::uint64_t index = global_index(model.lattice, site);
  for (int pair = 0; pair < (count + 3) / 4; ++pair) {
    const example::FourWords random =
        example::philox({{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                          static_cast<std::uint32_t>(pair), stream}},
                        model.seed);
    for (int word = 0; word < 4 && 4 * pair + word < count; ++word) {
      numbers[4 * pair + word] = static_cast<double>(static_cast<std::int32_t>(random.word[word])) * 0x1p-31;
    }
  }
}

/// `one` times the identity plus `noise`, with rows made orthonormal and the third one completed.
EXAMPLE_HOST_DEVICE inline Link<double> unitary(double one, double noise, const double (&numbers)[12]) {
  Link<double> link;
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 3; ++column) {
      const int at = 2 * (3 * row + column);
      link.row[row][column] = {(row == column ? one : 0.0) + noise * numbers[at], noise * numbers[at + 1]};
    }
  }
  for (int row = 0; row < 2; ++row) {
    if (row == 1) {
      Complex<double> overlap{0, 0};
      for (int column = 0; column < 3; ++column) {
        overlap = conjugate_multiply_add(link.row[0][column], link.row[1][column], overlap);
      }
      for (int column = 0; column < 3; ++column) {
        link.row[1][column] =
            multiply_add(Complex<double>{-overlap.re, -overlap.im}, link.row[0][column], link.row[1][column]);
      }
    }
    double square = 0;
    for (int column = 0; column < 3; ++column) {
      square += link.row[row][column].re * link.row[row][column].re +
                link.row[row][column].im * link.row[row][column].im;
    }
    const double inverse = 1 / std::sqrt(square);
    for (int column = 0; column < 3; ++column) {
      link.row[row][column] = scaled(inverse, link.row[row][column]);
    }
  }
  complete(link);
  return link;
}

/// The gauge transformation at a site: any matrix of SU(3), far from the identity.
EXAMPLE_HOST_DEVICE inline Link<double> transformation_of(const Model& model, Site site) {
  double numbers[12];
  draw(model, site, static_cast<std::uint32_t>(Draw::transformation), numbers);
  return unitary(0, 1, numbers);
}

EXAMPLE_HOST_DEVICE inline Link<double> product(const Link<double>& a, const Link<double>& b,
                                                bool b_is_adjoint) {
  Link<double> result;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      Complex<double> sum{0, 0};
      for (int k = 0; k < 3; ++k) {
        sum = multiply_add(a.row[row][k], b_is_adjoint ? conjugate(b.row[column][k]) : b.row[k][column], sum);
      }
      result.row[row][column] = sum;
    }
  }
  return result;
}

/// 2 pi / (x y): the phase of every plaquette in that plane.
EXAMPLE_HOST_DEVICE inline double constant_phase(int x, int y) {
  constexpr double two_pi = 6.283185307179586;
  return two_pi / (static_cast<double>(x) * y);
}

/// Along y the phase grows with x, from row to row; along x only the step across the border has one, which
/// makes up for all of it.
EXAMPLE_HOST_DEVICE inline Link<double> link_of_constant_field(const Lattice& lattice, Site site,
                                                               int direction) {
  double angle = 0;
  if (direction == 1) {
    angle = constant_phase(lattice.x, lattice.y) * site.x;
  } else if (direction == 0 && site.x + 1 == lattice.x) {
    angle = -constant_phase(lattice.x, lattice.y) * lattice.x * site.y;
  } else if (direction == time_direction) {
    angle = constant_phase(lattice.z, lattice.t) * site.z;
  } else if (direction == 2 && site.z + 1 == lattice.z) {
    angle = -constant_phase(lattice.z, lattice.t) * lattice.z * site.t;
  }
  Link<double> link{};
  link.row[0][0] = {std::cos(angle), std::sin(angle)};
  link.row[1][1] = conjugate(link.row[0][0]);
  link.row[2][2] = {1, 0};
  return link;
}

EXAMPLE_HOST_DEVICE inline Link<double> link_of_file(const Model& model, Site site, int direction) {
  const Lattice& lattice = model.lattice;
  const int slice = (site.t + lattice.t - model.window.first_slice) % lattice.t;
  const std::uint64_t index = global_index(lattice, {site.x, site.y, site.z, slice});
  const double* const numbers =
      model.window.numbers + (index * dimensions + static_cast<unsigned>(direction)) * window_numbers_of_link;
  Link<double> link;
  for (int i = 0; i < 6; ++i) {
    link.row[i / 3][i % 3] = {numbers[2 * i], numbers[2 * i + 1]};
  }
  complete(link);
  return link;
}

/// The link of a model that computes them.
EXAMPLE_HOST_DEVICE inline Link<double> link_of_numbers(const Model& model, Site site, int direction) {
  if (model.gauge == Gauge::constant) {
    return link_of_constant_field(model.lattice, site, direction);
  }
  double numbers[12] = {};
  if (model.gauge == Gauge::weak) {
    draw(model, site, static_cast<std::uint32_t>(Draw::link) + static_cast<std::uint32_t>(direction),
         numbers);
  }
  return unitary(1, model.noise, numbers);
}

/// The link from a site one step forwards.
EXAMPLE_HOST_DEVICE inline Link<double> link_of(const Model& model, Site site, int direction) {
  const Link<double> link = model.gauge == Gauge::file ? link_of_file(model, site, direction)
                                                       : link_of_numbers(model, site, direction);
  if (!model.is_transformed) {
    return link;
  }
  const Site next = forward(model.lattice, site, direction);
  return product(product(transformation_of(model, site), link, false), transformation_of(model, next), true);
}

/// A source of random numbers in [-1, 1).
EXAMPLE_HOST_DEVICE inline Spinor<double> source_of(const Model& model, Site site) {
  double numbers[24];
  draw(model, site, static_cast<std::uint32_t>(Draw::source), numbers);
  Spinor<double> source;
  for (int component = 0; component < 12; ++component) {
    source.spin[component / 3][component % 3] = {numbers[2 * component], numbers[2 * component + 1]};
  }
  if (model.is_transformed) {
    const Link<double> rotation = transformation_of(model, site);
    for (auto& spin : source.spin) {
      const Complex<double> before[3] = {spin[0], spin[1], spin[2]};
      for (int row = 0; row < 3; ++row) {
        spin[row] = {0, 0};
        for (int k = 0; k < 3; ++k) {
          spin[row] = multiply_add(rotation.row[row][k], before[k], spin[row]);
        }
      }
    }
  }
  return source;
}

}  // namespace dslash
