#include "examples/particles/tiling.hpp"

#include "examples/particles/cell_array.hpp"
#include "examples/particles/cell_owners.hpp"

#include <algorithm>
#include <cmath>

namespace particles {
namespace {

/// What a cell is to the rank.
enum class Kind : std::uint8_t { none, deep, shell, frontier, external };

/// Sorts a rank's cells into classes, and fills a tiling.
class Tiler {
 public:
  Tiler(const Box& box, const Owners& owners, int rank, const std::vector<std::uint8_t>& counts)
      : box_(box),
        voxels_(box.voxels()),
        owners_(owners),
        counts_(counts),
        rank_(static_cast<Owner>(rank)),
        cell_owners_(box, owners),
        offsets_(near_offsets(box)),
        kinds_(static_cast<std::size_t>(box.cell_count()), Kind::none) {}

  Tiling tile() {
    tally_own();
    find_frontier();
    find_shell();
    number_cells();
    place_cells(tiling_);
    find_neighbours();
    if (static_cast<int>(tiling_.neighbours.size()) > most_neighbours) {
      tiling_.complaint = "rank " + std::to_string(rank_) + " has " +
                          std::to_string(tiling_.neighbours.size()) + " neighbours, and " +
                          std::to_string(most_neighbours) + " are the most";
      return std::move(tiling_);
    }
    make_connections();
    return std::move(tiling_);
  }

 private:
  [[nodiscard]] Owner owner(const Site& voxel) const {
    return owners_[static_cast<std::size_t>(box_.voxel_index(voxel))];
  }
  [[nodiscard]] bool is_foreign(Owner owner) const { return owner != no_owner && owner != rank_; }
  [[nodiscard]] Kind& kind(const Site& cell) {
    return kinds_[static_cast<std::size_t>(box_.cell_index(cell))];
  }

  [[nodiscard]] std::int64_t counted(std::size_t voxel) const { return counts_.empty() ? 0 : counts_[voxel]; }

  void tally_own() {
    for (std::size_t voxel = 0; voxel < owners_.size(); ++voxel) {
      if (owners_[voxel] == rank_) {
        tiling_.own.add(counted(voxel));
      }
    }
  }

  template <typename Use>
  void for_each_voxel(const Site& cell, Use&& use) const {
    const std::uint32_t width = box_.voxels_per_cell;
    for_each_site({width, width, width}, [&](const Site& part) {
      use(Site{{cell.at[0] * width + part.at[0], cell.at[1] * width + part.at[1],
                cell.at[2] * width + part.at[2]}});
    });
  }

  /// Calls `use` with those within the cutoff of a voxel.
  template <typename Use>
  void for_each_near(const Site& voxel, Use&& use) const {
    for (const Offset& offset : offsets_) {
      use(moved(voxel, offset.x, offset.y, offset.z, voxels_.at));
    }
  }

  /// A cell with voxels of mine is a frontier cell unless all of it is mine and nothing foreign is near. What
  /// is near may be in a cell without any of mine: an external one.
  void find_frontier() {
    for_each_site(box_.cells, [&](const Site& cell) {
      const Owner found = cell_owners_.of(cell);
      if (found != rank_ && found != CellOwners::several) {
        return;
      }
      if (cell_owners_.is_lonely(cell)) {
        kind(cell) = Kind::deep;
      } else {
        look_around(cell, found);
      }
    });
  }

  void look_around(const Site& cell, Owner found) {
    bool has_own = false;
    bool is_near = found == CellOwners::several;
    for_each_voxel(cell, [&](const Site& voxel) {
      if (owner(voxel) != rank_) {
        return;
      }
      has_own = true;
      for_each_near(voxel, [&](const Site& other) {
        if (is_foreign(owner(other))) {
          is_near = true;
          Kind& beside = kind(box_.cell_of_voxel(other));
          beside = beside == Kind::none ? Kind::external : beside;
        }
      });
    });
    if (has_own) {
      kind(cell) = is_near ? Kind::frontier : Kind::deep;
    }
  }

  void find_shell() {
    for_each_site(box_.cells, [&](const Site& cell) {
      if (kind(cell) != Kind::frontier && kind(cell) != Kind::external) {
        return;
      }
      for_each_around(cell, box_.cells, [&](const Site& other) {
        kind(other) = kind(other) == Kind::deep ? Kind::shell : kind(other);
      });
    });
  }

  void number_cells() {
    tiling_.box = box_;
    const auto number = [&](Kind wanted) {
      for_each_site(box_.cells, [&](const Site& cell) {
        if (kind(cell) == wanted) {
          tiling_.cells.push_back(cell);
        }
      });
      return static_cast<std::uint32_t>(tiling_.cells.size());
    };
    tiling_.classes.deep = number(Kind::deep);
    tiling_.classes.internal = number(Kind::shell);
    tiling_.classes.frontier = number(Kind::frontier);
    tiling_.classes.all = number(Kind::external);
  }

  /// A particle of mine may be in any voxel that touches one of mine, before it is sent to its new owner.
  [[nodiscard]] bool is_in_reach(const Site& voxel) const {
    if (owner(voxel) == rank_) {
      return true;
    }
    for (int z = -1; z <= 1; ++z) {
      for (int y = -1; y <= 1; ++y) {
        for (int x = -1; x <= 1; ++x) {
          if (owner(moved(voxel, x, y, z, voxels_.at)) == rank_) {
            return true;
          }
        }
      }
    }
    return false;
  }

  template <typename Use>
  void for_each_rim_voxel(Use&& use) const {
    for (std::uint32_t cell = tiling_.classes.internal; cell < tiling_.classes.all; ++cell) {
      for_each_voxel(tiling_.cells[cell], use);
    }
  }

  void find_neighbours() {
    std::vector<bool> is_neighbour;
    const auto note = [&](Owner other) {
      if (is_foreign(other)) {
        const auto index = static_cast<std::size_t>(other);
        is_neighbour.resize(std::max(is_neighbour.size(), index + 1));
        is_neighbour[index] = true;
      }
    };
    for_each_rim_voxel([&](const Site& voxel) {
      if (owner(voxel) != no_owner && is_in_reach(voxel)) {
        note(owner(voxel));
        for_each_near(voxel, [&](const Site& other) { note(owner(other)); });
      }
    });
    for (std::size_t other = 0; other < is_neighbour.size(); ++other) {
      if (is_neighbour[other]) {
        tiling_.neighbours.push_back(static_cast<int>(other));
      }
    }
    tiling_.near.assign(tiling_.neighbours.size(), {});
  }

  [[nodiscard]] std::int32_t neighbour(Owner other) const {
    const auto& all = tiling_.neighbours;
    return static_cast<std::int32_t>(std::lower_bound(all.begin(), all.end(), other) - all.begin());
  }

  void make_connections() {
    for_each_rim_voxel([&](const Site& voxel) {
      Connection connection;
      const Owner found = owner(voxel);
      const std::int64_t particles = counted(static_cast<std::size_t>(box_.voxel_index(voxel)));
      (is_foreign(found) ? tiling_.foreign : tiling_.rim).add(particles);
      if (found == rank_) {
        connection.owner = mine;
      } else if (found != no_owner && is_in_reach(voxel)) {
        connection.owner = neighbour(found);
        connection.near |= std::uint64_t{1} << connection.owner;
      }
      if (connection.owner != nobody) {
        for_each_near(voxel, [&](const Site& other) {
          if (is_foreign(owner(other))) {
            connection.near |= std::uint64_t{1} << neighbour(owner(other));
          }
        });
      }
      for (std::size_t index = 0; found == rank_ && index < tiling_.near.size(); ++index) {
        if ((connection.near >> index & 1) != 0) {
          tiling_.near[index].add(particles);
        }
      }
      tiling_.connections.push_back(connection);
    });
  }

  Box box_;
  Site voxels_;
  const Owners& owners_;
  const std::vector<std::uint8_t>& counts_;
  Owner rank_;
  CellOwners cell_owners_;
  std::vector<Offset> offsets_;
  std::vector<Kind> kinds_;  ///< of all cells of the box
  Tiling tiling_;
};

}  // namespace

std::vector<Offset> near_offsets(const Box& box) {
  const int reach = static_cast<int>(box.voxels_per_cell);
  const auto gap_square = [&](int step, int axis) {
    const double gap = std::max(std::abs(step) - 1, 0) * box.voxel_side(axis);
    return gap * gap;
  };
  std::vector<Offset> offsets;
  for (int z = -reach; z <= reach; ++z) {
    for (int y = -reach; y <= reach; ++y) {
      for (int x = -reach; x <= reach; ++x) {
        if (gap_square(x, 0) + gap_square(y, 1) + gap_square(z, 2) < 1) {
          offsets.push_back({x, y, z});
        }
      }
    }
  }
  return offsets;
}

Tiling make_tiling(const Box& box, const Owners& owners, int rank, const std::vector<std::uint8_t>& counts) {
  return Tiler(box, owners, rank, counts).tile();
}

}  // namespace particles
