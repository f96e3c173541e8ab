#include "examples/ising/bytes/glass.hpp"

namespace ising::bytes {
namespace {

std::size_t words_of(const Options& options, RankOf rank) {
  return static_cast<std::size_t>(slab_of_rank(options.lattice, rank.rank, rank.count).words());
}

}  // namespace

ByteGlass::ByteGlass(const Options& options, RankOf rank)
    : model_(options.model()),
      metropolis_(options.temperature),
      rank_(rank),
      spins_even_(words_of(options, rank)),
      spins_odd_(words_of(options, rank)),
      couplings_even_(words_of(options, rank)),
      couplings_odd_(words_of(options, rank)),
      view_{slab_of_rank(options.lattice, rank.rank, rank.count),
            {spins_even_.get(), spins_odd_.get()},
            {couplings_even_.get(), couplings_odd_.get()}},
      parts_(view_.slab.planes, [](int) { return true; }) {}

std::int64_t ByteGlass::device_bytes(const Options& options, RankOf rank) {
  constexpr std::size_t arrays = 4;
  return static_cast<std::int64_t>(arrays * sizeof(std::uint32_t) * words_of(options, rank));
}

void ByteGlass::queue_start(const example::Stream& stream) {
  bytes::queue_start(stream, view_, model_);
}

void ByteGlass::queue_update(const example::Stream& stream, int phase, Part part, std::uint32_t sweep) {
  bytes::queue_update(stream, view_, metropolis_, phase, parts_[part], sweep, model_.seed);
}

Halos ByteGlass::halos(int phase) {
  const int words = static_cast<int>(view_.slab.plane_words());
  const int planes = view_.slab.planes;
  return {{{plane(phase, 0), words, rank_.below(), tag_downwards},
           {plane(phase, planes - 1), words, rank_.above(), tag_upwards}},
          {{plane(phase, planes), words, rank_.above(), tag_downwards},
           {plane(phase, -1), words, rank_.below(), tag_upwards}}};
}

void ByteGlass::queue_tally(const example::Stream& stream, Tally* tallies) {
  bytes::queue_tally(stream, view_, tallies);
}

std::vector<std::uint32_t> ByteGlass::gather(const example::Stream& stream, example::Exchanger& exchanger) {
  const Lattice& lattice = model_.lattice;
  const Slab whole = slab_of_rank(lattice, 0, 1);
  std::vector<std::uint32_t> spins(rank_.rank == 0 ? static_cast<std::size_t>(lattice.sites()) : 0);
  for (int colour = 0; colour < 2; ++colour) {
    const std::vector<std::uint32_t> words = gather_planes(
        stream, exchanger, plane(colour, 0), static_cast<int>(whole.plane_words()), lattice.z, rank_);
    for (int z = 0; !words.empty() && z < lattice.z; ++z) {
      for (int y = 0; y < lattice.y; ++y) {
        for (int x = whole.first_x(colour, z, y); x < lattice.x; x += 2) {
          const std::uint32_t word = words[static_cast<std::size_t>(whole.global_word(z, y, x / 8))];
          spins[index_of(lattice, {x, y, z})] = word >> 8 * (x / 2 % 4) & 0xFF;
        }
      }
    }
  }
  return spins;
}

}  // namespace ising::bytes
