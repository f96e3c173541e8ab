#include "examples/ising/simulation.hpp"

namespace ising {
namespace {

RankOf rank_in(MPI_Comm communicator) {
  RankOf rank{0, 1};
  MPI_Comm_rank(communicator, &rank.rank);
  MPI_Comm_size(communicator, &rank.count);
  return rank;
}

}  // namespace

Simulation::Simulation(const Options& options, MPI_Comm communicator)
    : options_(options),
      rank_(rank_in(communicator)),
      glass_(make_glass(options, rank_)),
      tallies_(tally_count),
      different_(replica_pairs),
      exchanger_(options.exchange, communicator) {
  glass_->queue_start(boundary_);
  boundary_.synchronize();
  for (int phase = 0; phase < glass_->phases(); ++phase) {
    exchange(phase);
  }
}

std::int64_t Simulation::device_bytes(const Options& options, RankOf rank) {
  return glass_bytes(options, rank) + tally_count * std::int64_t{sizeof(Tally)} +
         replica_pairs * std::int64_t{sizeof(unsigned long long)};
}

void Simulation::sweep() {
  const example::NamedRange range("sweep");
  for (int phase = 0; phase < glass_->phases(); ++phase) {
    // The outer planes read the inner ones next to them, as the last phase left them.
    bulk_done_.block(boundary_);
    glass_->queue_update(boundary_, phase, Part::outer, sweeps_done_);
    glass_->queue_update(bulk_, phase, Part::inner, sweeps_done_);
    bulk_done_.record(bulk_);
    // MPI may read the outer planes once they are updated. The inner ones go on meanwhile; the next phase's
    // inner update, which reads the outer planes, is queued only after this wait.
    boundary_.synchronize();
    exchange(phase);
  }
  ++sweeps_done_;
}

void Simulation::exchange(int phase) {
  const example::NamedRange range("exchange");
  const Halos halos = glass_->halos(phase);
  exchanger_(boundary_, halos.sends, halos.receives);
}

void Simulation::synchronize() const {
  boundary_.synchronize();
  bulk_.synchronize();
}

Observables Simulation::measure() {
  const example::NamedRange range("measure");
  synchronize();
  glass_->queue_tally(boundary_, tallies_.get());
  boundary_.synchronize();
  std::vector<Tally> tallies(rank_.rank == 0 ? tally_count : 0);
  const auto* words = reinterpret_cast<const std::uint32_t*>(tallies_.get());
  MPI_Reduce(exchanger_.sendable(boundary_, words, tally_count * sizeof(Tally) / sizeof *words),
             tallies.data(), tally_count * tally_words, MPI_UINT64_T, MPI_SUM, 0, exchanger_.communicator());
  Tally sum{};
  for (const Tally& tally : tallies) {
    sum.satisfied_bonds += tally.satisfied_bonds;
    sum.up_spins += tally.up_spins;
    sum.hash += tally.hash;
  }
  // A satisfied bond has energy −1, the others +1; there are three a spin. In two dimensions there are two,
  // and one satisfied end too many has been counted for each spin, which comes to the same.
  const auto spins = static_cast<double>(options_.spins());
  return {3.0 - static_cast<double>(sum.satisfied_bonds) / spins,
          2.0 * static_cast<double>(sum.up_spins) / spins - 1.0, sum.hash};
}

double Simulation::mean_square_overlap() {
  const example::NamedRange range("overlap");
  synchronize();
  constexpr std::size_t bytes = replica_pairs * sizeof(unsigned long long);
  example::check(cudaMemsetAsync(different_.get(), 0, bytes, boundary_.get()), "clear sums");
  glass_->queue_overlap(boundary_, different_.get());
  boundary_.synchronize();
  std::vector<unsigned long long> different(replica_pairs);
  const auto* words = reinterpret_cast<const std::uint32_t*>(different_.get());
  MPI_Reduce(exchanger_.sendable(boundary_, words, bytes / sizeof *words), different.data(), replica_pairs,
             MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, exchanger_.communicator());
  double squares = 0;
  for (const unsigned long long count : different) {
    const double overlap =
        1.0 - 2.0 * static_cast<double>(count) / static_cast<double>(options_.lattice.sites());
    squares += overlap * overlap;
  }
  return squares / replica_pairs;
}

std::vector<std::uint32_t> Simulation::gather_spins() {
  synchronize();
  return glass_->gather(boundary_, exchanger_);
}

}  // namespace ising
