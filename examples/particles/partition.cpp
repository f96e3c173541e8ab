#include "examples/particles/partition.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>

namespace particles {
namespace {

using Fluid = std::vector<std::uint8_t>;

/// Layers of voxels across the longest side, cut where the volume before is nearest to each rank's share.
Partition cut_into_slabs(const Box& box, const Fluid& fluid, int pieces) {
  const int axis = static_cast<int>(std::max_element(box.side, box.side + 3) - box.side);
  const Site voxels = box.voxels();
  std::vector<std::int64_t> volume(voxels.at[axis]);
  const std::uint8_t* next = fluid.data();
  for_each_site(voxels.at, [&](const Site& site) { volume[site.at[axis]] += *next++; });

  const auto total = static_cast<double>(std::accumulate(volume.begin(), volume.end(), std::int64_t{0}));
  std::vector<Owner> owner_of_layer(volume.size());
  double before = 0;
  for (std::size_t layer = 0; layer < volume.size(); ++layer) {
    const double middle = before + static_cast<double>(volume[layer]) / 2;
    owner_of_layer[layer] =
        static_cast<Owner>(std::min(static_cast<int>(middle / total * pieces), pieces - 1));
    before += static_cast<double>(volume[layer]);
  }
  Partition partition{Owners(fluid.size(), no_owner), {}};
  Owner* owner = partition.owners.data();
  next = fluid.data();
  for_each_site(voxels.at,
                [&](const Site& site) { *owner++ = *next++ > 0 ? owner_of_layer[site.at[axis]] : no_owner; });
  return partition;
}

Partition draw_at_random(const Fluid& fluid, int pieces, std::uint64_t seed) {
  Partition partition{Owners(fluid.size(), no_owner), {}};
  for (std::size_t voxel = 0; voxel < fluid.size(); ++voxel) {
    if (fluid[voxel] > 0) {
      const example::FourWords random = example::philox(
          {{static_cast<std::uint32_t>(voxel), static_cast<std::uint32_t>(voxel >> 32), 0, 3}}, seed);
      partition.owners[voxel] = static_cast<Owner>(random.word[0] % static_cast<std::uint32_t>(pieces));
    }
  }
  return partition;
}

std::string heading(const Box& box, int pieces) {
  return "voxels " + std::to_string(box.voxels(0)) + " " + std::to_string(box.voxels(1)) + " " +
         std::to_string(box.voxels(2)) + " pieces " + std::to_string(pieces);
}

Partition read_partition(const std::string& path, const Box& box, const Fluid& fluid, int pieces) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) {
    return {{}, "--partition: cannot read the file " + path};
  }
  if (!line.starts_with("voxels ")) {
    return {{}, "--partition: " + path + " is no file of voxels' owners"};
  }
  if (line != heading(box, pieces)) {
    return {
        {},
        "--partition: " + path + " is for \"" + line + "\", and not for \"" + heading(box, pieces) + "\""};
  }
  Partition partition{Owners(fluid.size(), no_owner), {}};
  for (std::size_t voxel = 0; voxel < fluid.size(); ++voxel) {
    if (fluid[voxel] == 0) {
      continue;
    }
    int owner = -1;
    if (!(file >> owner) || owner < 0 || owner >= pieces) {
      return {{}, "--partition: " + path + " has no rank as owner of voxel " + std::to_string(voxel)};
    }
    partition.owners[voxel] = static_cast<Owner>(owner);
  }
  return partition;
}

/// Whether each rank has something, or what is wrong.
std::string complaint_of(const Owners& owners, int pieces) {
  std::vector<bool> has_voxel(static_cast<std::size_t>(pieces));
  for (const Owner owner : owners) {
    if (owner != no_owner) {
      has_voxel[static_cast<std::size_t>(owner)] = true;
    }
  }
  const auto empty = std::find(has_voxel.begin(), has_voxel.end(), false);
  return empty == has_voxel.end() ? std::string{}
                                  : "piece " + std::to_string(empty - has_voxel.begin()) +
                                        " is empty; take fewer ranks or another --partition";
}

}  // namespace

Partition make_partition(const Options& options, const Box& box, const Fluid& fluid) {
  const auto voxels =
      std::count_if(fluid.begin(), fluid.end(), [](std::uint8_t eighths) { return eighths > 0; });
  if (voxels < options.pieces) {
    return {{},
            std::to_string(voxels) + " voxels are too few for " + std::to_string(options.pieces) + " ranks"};
  }
  Partition partition;
  if (options.partition == "slabs") {
    partition = cut_into_slabs(box, fluid, options.pieces);
  } else if (options.partition == "random") {
    partition = draw_at_random(fluid, options.pieces, options.seed);
  } else if (options.partition == "scotch") {
    partition = cut_by_scotch(box, fluid, options.pieces, options.seed);
  } else if (options.partition == "metis") {
    partition = cut_by_metis(box, fluid, options.pieces, options.seed);
  } else {
    partition = read_partition(options.partition, box, fluid, options.pieces);
  }
  if (partition.complaint.empty()) {
    partition.complaint = complaint_of(partition.owners, options.pieces);
  }
  return partition;
}

std::string write_partition(const std::string& path, const Box& box, int pieces, const Owners& owners) {
  std::ofstream file(path);
  file << heading(box, pieces) << '\n';
  for (const Owner owner : owners) {
    if (owner != no_owner) {
      file << owner << '\n';
    }
  }
  file.close();
  return file ? std::string{} : "--write-partition: cannot write the file " + path;
}

}  // namespace particles
