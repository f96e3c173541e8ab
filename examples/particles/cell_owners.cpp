#include "examples/particles/cell_owners.hpp"

namespace particles {

CellOwners::CellOwners(const Box& box, const Owners& owners)
    : box_(box), owners_(static_cast<std::size_t>(box.cell_count()), no_owner) {
  const Owner* next = owners.data();
  for_each_site(box.voxels().at, [&](const Site& voxel) {
    const Owner found = *next++;
    if (found == no_owner) {
      return;
    }
    Owner& owner = owners_[static_cast<std::size_t>(box.cell_index(box.cell_of_voxel(voxel)))];
    owner = owner == no_owner || owner == found ? found : several;
  });
}

bool CellOwners::is_lonely(const Site& cell) const {
  const Owner owner = of(cell);
  bool is_lonely = owner != several;
  for_each_around(cell, box_.cells, [&](const Site& other) {
    is_lonely = is_lonely && (of(other) == owner || of(other) == no_owner);
  });
  return is_lonely;
}

}  // namespace particles
