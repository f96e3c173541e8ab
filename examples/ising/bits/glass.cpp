#include "examples/ising/bits/glass.hpp"

#include "examples/ising/bits/checkerboard.hpp"
#include "examples/ising/bits/sliced.hpp"

namespace ising::bits {
namespace {

template <typename Layout>
Layout layout_of(const Options& options, RankOf rank) {
  return {options.lattice, planes_of_rank(options.lattice.z, rank.rank, rank.count)};
}

/// With both halos.
template <typename Layout>
std::size_t words_of(const Layout& layout) {
  return static_cast<std::size_t>(layout.plane_words()) * static_cast<std::size_t>(layout.planes.count + 2);
}

}  // namespace

template <typename Layout>
BitGlass<Layout>::BitGlass(const Options& options, RankOf rank)
    : model_(options.model()),
      thresholds_(Metropolis(options.temperature)),
      rank_(rank),
      spins_(words_of(layout_of<Layout>(options, rank))),
      couplings_(words_of(layout_of<Layout>(options, rank))),
      view_{layout_of<Layout>(options, rank), spins_.get(), couplings_.get()} {
  for (int phase = 0; phase < Layout::phases(options.lattice); ++phase) {
    parts_.emplace_back(view_.layout.planes.count,
                        [&](int plane) { return view_.layout.updates(phase, plane); });
  }
}

template <typename Layout>
std::int64_t BitGlass<Layout>::device_bytes(const Options& options, RankOf rank) {
  constexpr std::size_t bytes_a_word = sizeof(std::uint32_t) + sizeof(std::uint8_t);
  return static_cast<std::int64_t>(bytes_a_word * words_of(layout_of<Layout>(options, rank)));
}

template <typename Layout>
void BitGlass<Layout>::queue_start(const example::Stream& stream) {
  for (int phase = 0; phase < phases(); ++phase) {
    bits::queue_start(stream, view_, phase, parts_[static_cast<std::size_t>(phase)][Part::whole], model_);
  }
}

template <typename Layout>
void BitGlass<Layout>::queue_update(const example::Stream& stream, int phase, Part part,
                                    std::uint32_t sweep) {
  bits::queue_update(stream, view_, thresholds_, phase, parts_[static_cast<std::size_t>(phase)][part], sweep,
                     model_.seed);
}

/// Only what the phase has changed: with slices that is one plane for each neighbour once a sweep, with a
/// checkerboard half a plane twice.
template <typename Layout>
Halos BitGlass<Layout>::halos(int phase) {
  const Layout& layout = view_.layout;
  const int last = layout.planes.count - 1;
  Halos halos;
  const auto add = [&](std::vector<example::Message>& messages, int plane, int peer, int tag) {
    if (layout.updates(phase, plane)) {
      messages.push_back({view_.spins + layout.position(phase, plane), layout.phase_words(), peer, tag});
    }
  };
  add(halos.sends, 0, rank_.below(), tag_downwards);
  add(halos.sends, last, rank_.above(), tag_upwards);
  add(halos.receives, last + 1, rank_.above(), tag_downwards);
  add(halos.receives, -1, rank_.below(), tag_upwards);
  return halos;
}

template <typename Layout>
void BitGlass<Layout>::queue_tally(const example::Stream& stream, Tally* tallies) {
  for (int phase = 0; phase < phases(); ++phase) {
    bits::queue_tally(stream, view_, phase, parts_[static_cast<std::size_t>(phase)][Part::whole], tallies);
  }
}

template <typename Layout>
void BitGlass<Layout>::queue_overlap(const example::Stream& stream, unsigned long long* different) {
  for (int phase = 0; phase < phases(); ++phase) {
    bits::queue_overlap(stream, view_, phase, parts_[static_cast<std::size_t>(phase)][Part::whole],
                        different);
  }
}

template <typename Layout>
std::vector<std::uint32_t> BitGlass<Layout>::gather(const example::Stream& stream,
                                                    example::Exchanger& exchanger) {
  const Lattice& lattice = model_.lattice;
  const int plane_words = view_.layout.plane_words();
  const std::vector<std::uint32_t> words =
      gather_planes(stream, exchanger, view_.spins + plane_words, plane_words, lattice.z, rank_);
  std::vector<std::uint32_t> spins(words.size());
  if (words.empty()) {
    return spins;
  }
  const Layout whole{lattice, {0, lattice.z}};
  for (int phase = 0; phase < phases(); ++phase) {
    for (int plane = 0; plane < lattice.z; ++plane) {
      for (int index = 0; whole.updates(phase, plane) && index < whole.phase_words(); ++index) {
        const Spot spot = whole.spot(phase, {plane, 1, 1}, static_cast<std::uint32_t>(index));
        spins[index_of(lattice, spot.site)] = words[static_cast<std::size_t>(spot.word - plane_words)];
      }
    }
  }
  return spins;
}

template class BitGlass<Checkerboard>;
template class BitGlass<Sliced>;

}  // namespace ising::bits
