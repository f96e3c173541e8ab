#include "examples/particles/survey.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "examples/particles/cell_owners.hpp"
#include "examples/particles/tiling.hpp"

namespace particles {
namespace {

/// Other pieces within the cutoff of a voxel.
std::set<Owner> pieces_near(const Box& box, const std::vector<Offset>& offsets, const Owners& owners,
                            const Site& voxel, Owner own) {
  std::set<Owner> found;
  for (const Offset& offset : offsets) {
    const Owner other = owners[static_cast<std::size_t>(
        box.voxel_index(moved(voxel, offset.x, offset.y, offset.z, box.voxels().at)))];
    if (other != no_owner && other != own) {
      found.insert(other);
    }
  }
  return found;
}

/// Faces of a voxel, the upper ones, behind which another piece begins.
int cut_faces(const Box& box, const Owners& owners, const Site& voxel, Owner own) {
  int faces = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const Site next = moved(voxel, axis == 0, axis == 1, axis == 2, box.voxels().at);
    const Owner other = owners[static_cast<std::size_t>(box.voxel_index(next))];
    faces += other != no_owner && other != own ? 1 : 0;
  }
  return faces;
}

/// For each cell whether a voxel of another piece may be within the cutoff of one in it.
std::vector<bool> cells_near_others(const Box& box, const Owners& owners) {
  const CellOwners cell_owners(box, owners);
  std::vector<bool> is_near;
  is_near.reserve(static_cast<std::size_t>(box.cell_count()));
  for_each_site(box.cells, [&](const Site& cell) { is_near.push_back(!cell_owners.is_lonely(cell)); });
  return is_near;
}

}  // namespace

Survey survey(const Box& box, const std::vector<std::uint8_t>& fluid, const Owners& owners, int pieces) {
  Survey result{.pieces = pieces};
  const std::vector<Offset> offsets = near_offsets(box);
  const std::vector<bool> near_others = cells_near_others(box, owners);
  std::vector<std::int64_t> volume(static_cast<std::size_t>(pieces));
  std::vector<std::int64_t> near_any(static_cast<std::size_t>(pieces));
  std::vector<std::set<Owner>> neighbours(static_cast<std::size_t>(pieces));
  std::int64_t sent = 0;
  std::size_t index = 0;
  for_each_site(box.voxels().at, [&](const Site& voxel) {
    const Owner own = owners[index];
    const std::int64_t eighths = fluid[index++];
    if (own == no_owner) {
      return;
    }
    const auto piece = static_cast<std::size_t>(own);
    ++result.voxels;
    volume[piece] += eighths;
    if (!near_others[static_cast<std::size_t>(box.cell_index(box.cell_of_voxel(voxel)))]) {
      return;
    }
    const std::set<Owner> near = pieces_near(box, offsets, owners, voxel, own);
    sent += eighths * static_cast<std::int64_t>(near.size());
    near_any[piece] += near.empty() ? 0 : eighths;
    neighbours[piece].insert(near.begin(), near.end());
    result.edge_cut += near.empty() ? 0 : cut_faces(box, owners, voxel, own);
  });
  const auto total = static_cast<double>(std::accumulate(volume.begin(), volume.end(), std::int64_t{0}));
  result.imbalance =
      static_cast<double>(*std::max_element(volume.begin(), volume.end())) * pieces / total - 1;
  std::int64_t sent_to_all = 0;
  for (std::size_t piece = 0; piece < volume.size(); ++piece) {
    const auto count = static_cast<int>(neighbours[piece].size());
    result.mean_neighbours += static_cast<double>(count) / pieces;
    result.most_neighbours = std::max(result.most_neighbours, count);
    sent_to_all += near_any[piece] * count;
  }
  result.sent_share = static_cast<double>(sent) / total;
  result.sent_to_all_share = static_cast<double>(sent_to_all) / total;
  return result;
}

}  // namespace particles
