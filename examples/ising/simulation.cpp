#include "examples/ising/simulation.hpp"

#include <array>

namespace ising {
namespace {

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

int size_of(MPI_Comm communicator) {
  int size = 0;
  MPI_Comm_size(communicator, &size);
  return size;
}

std::size_t words_of(const Slab& slab) {
  return static_cast<std::size_t>(slab.words());
}

}  // namespace

Simulation::Simulation(const Options& options, MPI_Comm communicator)
    : options_(options),
      communicator_(communicator),
      rank_(rank_in(communicator)),
      rank_count_(size_of(communicator)),
      slab_(slab_of_rank(options.lattice, rank_, rank_count_)),
      metropolis_(options.temperature),
      spins_even_(words_of(slab_)),
      spins_odd_(words_of(slab_)),
      couplings_even_(words_of(slab_)),
      couplings_odd_(words_of(slab_)),
      tallies_(tally_count),
      glass_{slab_, {spins_even_.get(), spins_odd_.get()}, {couplings_even_.get(), couplings_odd_.get()}},
      exchanger_(options.exchange, communicator) {
  queue_start(boundary_, glass_, options_.model());
  boundary_.synchronize();
  exchange(0);
  exchange(1);
}

void Simulation::sweep() {
  const example::NamedRange range("sweep");
  const PlaneRange outer{0, slab_.planes > 1 ? slab_.planes - 1 : 1, slab_.planes > 1 ? 2 : 1};
  const PlaneRange inner{1, 1, slab_.planes - 2};
  for (int colour = 0; colour < 2; ++colour) {
    // The outer planes read the inner ones next to them, as the last half sweep left them.
    bulk_done_.block(boundary_);
    queue_update(boundary_, glass_, metropolis_, colour, outer, sweeps_done_, options_.seed);
    queue_update(bulk_, glass_, metropolis_, colour, inner, sweeps_done_, options_.seed);
    bulk_done_.record(bulk_);
    // MPI may read the outer planes once they are updated. The inner ones go on meanwhile; the next half
    // sweep's inner update, which reads the outer planes, is queued only after this wait.
    boundary_.synchronize();
    exchange(colour);
  }
  ++sweeps_done_;
}

void Simulation::exchange(int colour) {
  const example::NamedRange range("exchange");
  const int below = (rank_ + rank_count_ - 1) % rank_count_;
  const int above = (rank_ + 1) % rank_count_;
  const int words = static_cast<int>(slab_.plane_words());
  // Two tags, because with two ranks both neighbours are the same one.
  constexpr int downwards = 0;
  constexpr int upwards = 1;
  const std::array<example::Message, 2> receives{
      {{plane(colour, slab_.planes), words, above, downwards}, {plane(colour, -1), words, below, upwards}}};
  const std::array<example::Message, 2> sends{{{plane(colour, 0), words, below, downwards},
                                               {plane(colour, slab_.planes - 1), words, above, upwards}}};
  exchanger_(boundary_, sends, receives);
}

std::int64_t Simulation::device_bytes(const Options& options, int rank, int rank_count) {
  constexpr int arrays = 4;  // spins and couplings of two colours
  const Slab slab = slab_of_rank(options.lattice, rank, rank_count);
  return arrays * slab.words() * std::int64_t{sizeof(std::uint32_t)} +
         tally_count * std::int64_t{sizeof(Tally)};
}

void Simulation::synchronize() const {
  boundary_.synchronize();
  bulk_.synchronize();
}

Observables Simulation::measure() {
  const example::NamedRange range("measure");
  synchronize();
  queue_tally(boundary_, glass_, tallies_.get());
  boundary_.synchronize();
  std::vector<Tally> tallies(rank_ == 0 ? tally_count : 0);
  const auto* words = reinterpret_cast<const std::uint32_t*>(tallies_.get());
  MPI_Reduce(exchanger_.sendable(boundary_, words, tally_count * sizeof(Tally) / sizeof *words),
             tallies.data(), tally_count * tally_words, MPI_UINT64_T, MPI_SUM, 0, communicator_);
  Tally sum{};
  for (const Tally& tally : tallies) {
    sum.satisfied_bonds += tally.satisfied_bonds;
    sum.up_spins += tally.up_spins;
    sum.hash += tally.hash;
  }
  // A satisfied bond has energy −1, the others +1; there are three a spin. In two dimensions there are two,
  // and half a satisfied one too many has been counted for each spin, which comes to the same.
  const auto sites = static_cast<double>(options_.lattice.sites());
  return {3.0 - 2.0 * static_cast<double>(sum.satisfied_bonds) / sites,
          2.0 * static_cast<double>(sum.up_spins) / sites - 1.0, sum.hash};
}

std::vector<std::uint8_t> Simulation::gather_spins() {
  synchronize();
  const Lattice& lattice = options_.lattice;
  const Slab whole = slab_of_rank(lattice, 0, 1);
  std::vector<int> counts;
  std::vector<int> displacements;
  for (int rank = 0; rank < rank_count_; ++rank) {
    const Slab slab = slab_of_rank(lattice, rank, rank_count_);
    counts.push_back(slab.planes);
    displacements.push_back(slab.first_plane);
  }
  MPI_Datatype plane_type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(whole.plane_words()), MPI_UINT32_T, &plane_type);
  MPI_Type_commit(&plane_type);

  const bool collects = rank_ == 0;
  std::vector<std::uint32_t> words(collects ? static_cast<std::size_t>(whole.plane_words() * lattice.z) : 0);
  std::vector<std::uint8_t> spins(collects ? static_cast<std::size_t>(lattice.sites()) : 0);
  for (int colour = 0; colour < 2; ++colour) {
    const std::uint32_t* own = exchanger_.sendable(
        boundary_, plane(colour, 0), static_cast<std::size_t>(slab_.plane_words() * slab_.planes));
    MPI_Gatherv(own, slab_.planes, plane_type, words.data(), counts.data(), displacements.data(), plane_type,
                0, communicator_);
    for (int z = 0; collects && z < lattice.z; ++z) {
      for (int y = 0; y < lattice.y; ++y) {
        for (int x = whole.first_x(colour, z, y); x < lattice.x; x += 2) {
          const int byte = x / 2 % 4;
          const std::uint32_t word = words[static_cast<std::size_t>(whole.global_word(z, y, x / 8))];
          const auto site = static_cast<std::size_t>((std::int64_t{z} * lattice.y + y) * lattice.x + x);
          spins[site] = static_cast<std::uint8_t>(word >> 8 * byte & 0xFF);
        }
      }
    }
  }
  MPI_Type_free(&plane_type);
  return spins;
}

std::uint32_t* Simulation::plane(int colour, int plane) const {
  return glass_.spins[colour] + slab_.row_start(plane, 0);
}

}  // namespace ising
