// Files for viewers: the surfaces of pieces, and particles.
#include "examples/particles/files.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace particles {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

template <typename Value>
Value take(const std::string& bytes, std::size_t& at) {
  Value value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  at += sizeof value;
  return value;
}

struct Corner {
  float x, y, z;
};

struct Square {
  std::int32_t corners[4];
  std::int32_t piece;
  std::uint8_t colour[3];
};

struct Mesh {
  std::string heading;
  std::vector<Corner> corners;
  std::vector<Square> squares;
};

Mesh read_ply(const std::string& path) {
  const std::string bytes = content_of(path);
  const std::string end = "end_header\n";
  std::size_t at = bytes.find(end) + end.size();
  Mesh mesh{bytes.substr(0, at), {}, {}};
  std::istringstream words(mesh.heading);
  std::map<std::string, std::size_t> counts;
  for (std::string word; words >> word;) {
    if (word == "element") {
      words >> word;
      words >> counts[word];
    }
  }
  for (std::size_t corner = 0; corner < counts["vertex"]; ++corner) {
    mesh.corners.push_back(take<Corner>(bytes, at));
  }
  for (std::size_t index = 0; index < counts["face"]; ++index) {
    EXPECT_EQ(take<std::uint8_t>(bytes, at), 4);
    Square square{};
    for (std::int32_t& corner : square.corners) {
      corner = take<std::int32_t>(bytes, at);
    }
    square.piece = take<std::int32_t>(bytes, at);
    for (std::uint8_t& part : square.colour) {
      part = take<std::uint8_t>(bytes, at);
    }
    mesh.squares.push_back(square);
  }
  EXPECT_EQ(at, bytes.size());
  return mesh;
}

/// Six times the volume that the squares of a piece enclose, if all are seen from outside.
double volume_of(const Mesh& mesh, std::int32_t piece) {
  double volume = 0;
  for (const Square& square : mesh.squares) {
    for (int second = 1; second < 3 && square.piece == piece; ++second) {
      const Corner a = mesh.corners[static_cast<std::size_t>(square.corners[0])];
      const Corner b = mesh.corners[static_cast<std::size_t>(square.corners[second])];
      const Corner c = mesh.corners[static_cast<std::size_t>(square.corners[second + 1])];
      volume += a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x);
    }
  }
  return volume / 6;
}

TEST(ParticlesPly, has_the_closed_surface_of_each_piece_with_its_corners_once) {
  // Voxels of half a cutoff's width: three layers of one piece, one of another with a hole in it.
  const Box box{{2, 3, 2}, {2, 3, 2}, 2};
  Owners owners(4 * 6 * 4, 0);
  std::fill(owners.end() - 4 * 6, owners.end(), Owner{1});
  owners.back() = no_owner;
  const std::string path = testing::TempDir() + "particles_pieces.ply";
  ASSERT_EQ(write_ply(path, box, owners), "");
  const Mesh mesh = read_ply(path);
  EXPECT_EQ(mesh.heading.substr(0, 4), "ply\n");
  EXPECT_NEAR(volume_of(mesh, 0), 2 * 3 * 1.5, 1e-5);
  EXPECT_NEAR(volume_of(mesh, 1), 2 * 3 * 0.5 - 0.125, 1e-5);
  EXPECT_EQ(mesh.squares.size(), 2U * 24 + 6 * 10 + 2U * 23 + 20);
  std::set<std::tuple<float, float, float>> corners;
  for (const Corner& corner : mesh.corners) {
    corners.insert({corner.x, corner.y, corner.z});
  }
  EXPECT_EQ(corners.size(), mesh.corners.size());
  std::map<std::int32_t, std::set<std::uint32_t>> colours;
  for (const Square& square : mesh.squares) {
    std::uint32_t colour = 0;
    for (const std::uint8_t part : square.colour) colour = colour << 8 | part;
    colours[square.piece].insert(colour);
  }
  ASSERT_EQ(colours.size(), 2U);
  EXPECT_EQ(colours[0].size(), 1U);
  EXPECT_EQ(colours[1].size(), 1U);
  EXPECT_NE(colours[0], colours[1]);
}

TEST(ParticlesXyz, has_particles_by_their_identities) {
  const Box box{{4, 4, 8}, {4, 4, 8}, 1};
  const std::string path = testing::TempDir() + "particles.xyz";
  const std::uint32_t half = std::uint32_t{1} << 31;
  ASSERT_EQ(write_xyz(path, box, false, 7, {{{half, 0, half / 2}, 9}, {{0, half, half}, 2}}), "");
  EXPECT_EQ(content_of(path),
            "2\nLattice=\"4 0 0 0 4 0 0 0 8\" pbc=\"F F F\" Properties=species:S:1:pos:R:3:id:I:1 Step=7\n"
            "P 0 2 4 2\nP 2 0 2 9\n");
}

TEST(ParticlesFiles, say_that_they_cannot_be_written) {
  const Box box{{3, 3, 3}, {3, 3, 3}, 1};
  EXPECT_EQ(write_ply("/nonexistent/pieces.ply", box, Owners(27, 0)),
            "--ply: cannot write the file /nonexistent/pieces.ply");
  EXPECT_EQ(write_xyz("/nonexistent/particles.xyz", box, true, 0, {}),
            "--xyz: cannot write the file /nonexistent/particles.xyz");
}

}  // namespace
}  // namespace particles
