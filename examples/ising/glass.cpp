#include "examples/ising/glass.hpp"

#include "examples/ising/bits/checkerboard.hpp"
#include "examples/ising/bits/glass.hpp"
#include "examples/ising/bits/sliced.hpp"
#include "examples/ising/bytes/glass.hpp"

namespace ising {

std::unique_ptr<Glass> make_glass(const Options& options, RankOf rank) {
  if (options.replicas == 1) {
    return std::make_unique<bytes::ByteGlass>(options, rank);
  }
  if (options.layout == Layout::checkerboard) {
    return std::make_unique<bits::BitGlass<bits::Checkerboard>>(options, rank);
  }
  return std::make_unique<bits::BitGlass<bits::Sliced>>(options, rank);
}

std::int64_t glass_bytes(const Options& options, RankOf rank) {
  if (options.replicas == 1) {
    return bytes::ByteGlass::device_bytes(options, rank);
  }
  if (options.layout == Layout::checkerboard) {
    return bits::BitGlass<bits::Checkerboard>::device_bytes(options, rank);
  }
  return bits::BitGlass<bits::Sliced>::device_bytes(options, rank);
}

std::vector<std::uint32_t> gather_planes(const example::Stream& stream, example::Exchanger& exchanger,
                                         const std::uint32_t* own_planes, int plane_words, int extent,
                                         RankOf rank) {
  std::vector<int> counts;
  std::vector<int> displacements;
  for (int other = 0; other < rank.count; ++other) {
    const Planes planes = planes_of_rank(extent, other, rank.count);
    counts.push_back(planes.count);
    displacements.push_back(planes.first);
  }
  const auto words_in = [&](int planes) {
    return static_cast<std::size_t>(plane_words) * static_cast<std::size_t>(planes);
  };
  MPI_Datatype plane_type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(plane_words, MPI_UINT32_T, &plane_type);
  MPI_Type_commit(&plane_type);
  const int own_count = counts[static_cast<std::size_t>(rank.rank)];
  std::vector<std::uint32_t> words(rank.rank == 0 ? words_in(extent) : 0);
  MPI_Gatherv(exchanger.sendable(stream, own_planes, words_in(own_count)), own_count, plane_type,
              words.data(), counts.data(), displacements.data(), plane_type, 0, exchanger.communicator());
  MPI_Type_free(&plane_type);
  return words;
}

}  // namespace ising
