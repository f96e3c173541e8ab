#include "examples/dslash/gauge_window.hpp"

#include <algorithm>
#include <array>
#include <fstream>

namespace dslash {
namespace {

/// The first rank's that has one. Collective.
std::string complaint_of_all(const std::string& own, const Team& team) {
  int first = own.empty() ? team.size : team.rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, team.communicator);
  if (first == team.size) {
    return {};
  }
  std::array<char, 512> text{};
  own.copy(text.data(), text.size() - 1);
  MPI_Bcast(text.data(), text.size(), MPI_CHAR, first, team.communicator);
  return text.data();
}

}  // namespace

std::string GaugeWindow::load(const std::string& path, const Team& team, bool is_whole) {
  std::string complaint;
  try {
    read(path, team, is_whole);
  } catch (const FormatError& error) {
    complaint = error.what();
  }
  return complaint_of_all(complaint, team);
}

void GaugeWindow::read(const std::string& path, const Team& team, bool is_whole) {
  std::ifstream file(path, std::ios::binary);
  const IldgHeader header = IldgHeader::read(file);
  const Slab& slab = team.slab;
  const int all = slab.lattice.t;
  const int slices = is_whole ? all : std::min(slab.slices + 2, all);
  view_ = {nullptr, is_whole ? 0 : (slab.first_slice + all - 1) % all, slices};
  const std::size_t of_slice = window_numbers_of_slice(slab.lattice);
  numbers_ = example::PinnedArray<double>(static_cast<std::size_t>(slices) * of_slice);
  view_.numbers = numbers_.get();
  for (int slice = 0; slice < slices; ++slice) {
    read_slice(file, header, (view_.first_slice + slice) % all,
               numbers_.get() + static_cast<std::size_t>(slice) * of_slice);
  }
}

}  // namespace dslash
