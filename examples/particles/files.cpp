#include "examples/particles/files.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <fstream>
#include <type_traits>

namespace particles {
namespace {

/// In the order of the host's bytes, which the header names.
template <typename Value>
void append(std::string& bytes, Value value) {
  static_assert(std::is_arithmetic_v<Value>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Squares between voxels, and their corners.
class Surfaces {
 public:
  explicit Surfaces(const Box& box)
      : box_(box),
        width_(std::size_t{box.voxels(0)} + 1),
        height_(std::size_t{box.voxels(1)} + 1),
        numbers_(width_ * height_ * (std::size_t{box.voxels(2)} + 1), none) {}

  /// That of a voxel which is the lower (side 0) or upper (1) one along an axis, seen from outside.
  void add(const Site& voxel, int axis, std::uint32_t side, Owner owner) {
    append(squares_, std::uint8_t{4});
    for (std::uint32_t turn = 0; turn < 4; ++turn) {
      // around the square, the other way on the other side
      const std::uint32_t step = side == 1 ? turn : 3 - turn;
      Site corner = voxel;
      corner.at[axis] += side;
      corner.at[(axis + 1) % 3] += step == 1 || step == 2 ? 1 : 0;
      corner.at[(axis + 2) % 3] += step >= 2 ? 1 : 0;
      append(squares_, number_of(corner));
    }
    append(squares_, std::int32_t{owner});
    const example::FourWords random = example::philox({{static_cast<std::uint32_t>(owner), 0, 0, 4}}, 1);
    for (int colour = 0; colour < 3; ++colour) {
      append(squares_, static_cast<std::uint8_t>(64 + random.word[colour] % 192));  // not dark
    }
    ++square_count_;
  }

  [[nodiscard]] bool is_too_large() const { return corner_count_ > INT32_MAX; }

  void write(std::ofstream& file) const {
    constexpr bool is_little = std::endian::native == std::endian::little;
    file << "ply\nformat binary_" << (is_little ? "little" : "big") << "_endian 1.0\nelement vertex "
         << corner_count_ << "\nproperty float x\nproperty float y\nproperty float z\nelement face "
         << square_count_
         << "\nproperty list uchar int vertex_indices\nproperty int piece\nproperty uchar red\n"
            "property uchar green\nproperty uchar blue\nend_header\n"
         << corners_ << squares_;
  }

 private:
  static constexpr std::int32_t none = -1;

  std::int32_t number_of(const Site& corner) {
    std::int32_t& number = numbers_[(corner.at[2] * height_ + corner.at[1]) * width_ + corner.at[0]];
    if (number == none) {
      number = static_cast<std::int32_t>(corner_count_++);
      for (int axis = 0; axis < 3; ++axis) {
        append(corners_, static_cast<float>(corner.at[axis] * box_.voxel_side(axis)));
      }
    }
    return number;
  }

  const Box& box_;
  std::size_t width_;
  std::size_t height_;
  std::vector<std::int32_t> numbers_;  ///< of corners that have been used
  std::string corners_;
  std::string squares_;
  std::int64_t corner_count_ = 0;
  std::int64_t square_count_ = 0;
};

/// That of the next voxel along an axis, or of none beyond the box: pieces end there.
Owner owner_beside(const Box& box, const Owners& owners, Site voxel, int axis, std::uint32_t side) {
  if (voxel.at[axis] + side == (side == 0 ? 0 : box.voxels(axis))) {
    return no_owner;
  }
  voxel.at[axis] += side == 0 ? UINT32_MAX : 1;
  return owners[static_cast<std::size_t>(box.voxel_index(voxel))];
}

}  // namespace

std::string write_ply(const std::string& path, const Box& box, const Owners& owners) {
  Surfaces surfaces(box);
  for_each_site(box.voxels().at, [&](const Site& voxel) {
    const Owner own = owners[static_cast<std::size_t>(box.voxel_index(voxel))];
    for (int axis = 0; axis < 3 && own != no_owner; ++axis) {
      for (const std::uint32_t side : {0U, 1U}) {
        if (owner_beside(box, owners, voxel, axis, side) != own) {
          surfaces.add(voxel, axis, side, own);
        }
      }
    }
  });
  if (surfaces.is_too_large()) {
    return "--ply: the pieces have more than 2^31 corners";
  }
  std::ofstream file(path, std::ios::binary);
  surfaces.write(file);
  file.close();
  return file ? std::string{} : "--ply: cannot write the file " + path;
}

std::string write_xyz(const std::string& path, const Box& box, bool is_periodic, std::int64_t step,
                      std::vector<Place> places) {
  std::sort(places.begin(), places.end(),
            [](const Place& one, const Place& other) { return one.identity < other.identity; });
  std::ofstream file(path);
  char line[256];
  const char truth = is_periodic ? 'T' : 'F';
  std::snprintf(
      line, sizeof line,
      "Lattice=\"%.9g 0 0 0 %.9g 0 0 0 %.9g\" pbc=\"%c %c %c\" Properties=species:S:1:pos:R:3:id:I:1 "
      "Step=%lld\n",
      box.side[0], box.side[1], box.side[2], truth, truth, truth, static_cast<long long>(step));
  file << places.size() << '\n' << line;
  for (const Place& place : places) {
    std::snprintf(line, sizeof line, "P %.9g %.9g %.9g %u\n", place.at[0] * box.unit(0),
                  place.at[1] * box.unit(1), place.at[2] * box.unit(2), place.identity);
    file << line;
  }
  file.close();
  return file ? std::string{} : "--xyz: cannot write the file " + path;
}

}  // namespace particles
