#include "examples/particles/balancer.hpp"

#include <algorithm>
#include <utility>

#include "examples/particles/balance.hpp"
#include "examples/particles/shared_partition.hpp"
#include "examples/support/gpu_memory.hpp"

namespace particles {
namespace {

/// Slabs stay slabs, and METIS's pieces its own; other partitions become Scotch's, if it is there.
Options options_of_partition(Options options) {
  if (options.partition != "metis") {
    options.partition = options.partition != "slabs" && has_scotch() ? "scotch" : "slabs";
  }
  options.write_partition.clear();
  options.ply.clear();
  return options;
}

/// A traveller as MPI counts it: numbers of particles fit int where those of bytes do not.
class TravellerType {
 public:
  TravellerType() {
    MPI_Type_contiguous(sizeof(Traveller), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  ~TravellerType() { MPI_Type_free(&type_); }
  TravellerType(const TravellerType&) = delete;
  TravellerType& operator=(const TravellerType&) = delete;
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

void copy_travellers(Traveller* to, const Traveller* from, int count) {
  example::check(cudaMemcpy(to, from, static_cast<std::size_t>(count) * sizeof(Traveller), cudaMemcpyDefault),
                 "copy particles");
}

}  // namespace

Balancer::Balancer(const Options& options, const Domain& domain, const std::vector<std::uint8_t>& fluid,
                   Owners owners, MPI_Comm communicator)
    : options_(options),
      domain_(domain),
      fluid_(fluid),
      owners_(std::move(owners)),
      communicator_(communicator) {
  MPI_Comm_size(communicator, &rank_count_);
}

std::string Balancer::rebalance(std::unique_ptr<Simulation>& simulation) {
  const example::NamedRange range("rebalance");
  MPI_Barrier(communicator_);
  const double start_s = MPI_Wtime();
  const std::vector<std::uint32_t> counts = count(*simulation);
  Rebalancing found{simulation->steps(), imbalance_of(owners_, counts, rank_count_), 0, 0};
  found.imbalance_after = found.imbalance_before;
  // A partition that leaves a rank without voxels is none: the old one stays.
  Partition partition = share_partition(options_of_partition(options_), domain_.box,
                                        measured_weights(fluid_, counts), communicator_);
  if (!partition.owners.empty()) {
    const double imbalance = imbalance_of(partition.owners, counts, rank_count_);
    if (imbalance < found.imbalance_before) {
      found.imbalance_after = imbalance;
      std::string complaint =
          move(simulation, renumbered(std::move(partition.owners), owners_, counts, rank_count_), counts);
      if (!complaint.empty()) {
        return complaint;
      }
    }
  }
  MPI_Barrier(communicator_);
  found.time_s = MPI_Wtime() - start_s;
  done_.push_back(found);
  return {};
}

/// Of all ranks, the same on all.
std::vector<std::uint32_t> Balancer::count(Simulation& simulation) const {
  std::vector<std::uint32_t> counts = simulation.count_in_voxels();
  constexpr std::size_t most = 1 << 30;  // MPI counts in int
  for (std::size_t first = 0; first < counts.size(); first += most) {
    MPI_Allreduce(MPI_IN_PLACE, counts.data() + first,
                  static_cast<int>(std::min(most, counts.size() - first)), MPI_UINT32_T, MPI_SUM,
                  communicator_);
  }
  return counts;
}

std::string Balancer::move(std::unique_ptr<Simulation>& simulation, Owners owners,
                           const std::vector<std::uint32_t>& counts) {
  owners_ = std::move(owners);
  auto next = std::make_unique<Simulation>(options_, domain_, owners_, communicator_, in_bytes(counts));
  std::string complaint = next->complaint();
  if (!complaint.empty()) {
    return complaint;
  }
  History past = simulation->history();
  past.sent_records = simulation->sent_records();
  Travellers out = simulation->pack_up(owners_, rank_count_);
  simulation.reset();  // its memory is needed
  const Travellers come = travel(out);
  complaint = example::memory_complaint(next->device_bytes(), communicator_);
  if (!complaint.empty()) {
    return complaint + "; take a smaller --size or more GPUs";
  }
  next->prepare(come, past);
  simulation = std::move(next);
  return {};
}

Travellers Balancer::travel(const Travellers& out) const {
  std::vector<int> counts(out.counts.size());
  MPI_Alltoall(out.counts.data(), 1, MPI_INT, counts.data(), 1, MPI_INT, communicator_);
  Travellers come(std::move(counts));
  const TravellerType type;
  const auto exchange = [&](const Traveller* from, Traveller* to) {
    MPI_Alltoallv(from, out.counts.data(), out.starts.data(), type.get(), to, come.counts.data(),
                  come.starts.data(), type.get(), communicator_);
  };
  if (options_.exchange == Exchange::staged_by_hand) {
    const example::PinnedArray<Traveller> host_out(static_cast<std::size_t>(out.all()) + 1);
    const example::PinnedArray<Traveller> host_come(static_cast<std::size_t>(come.all()) + 1);
    copy_travellers(host_out.get(), out.memory->get(), out.all());
    exchange(host_out.get(), host_come.get());
    copy_travellers(come.memory->get(), host_come.get(), come.all());
    example::check(cudaDeviceSynchronize(), "wait for copies to the GPU");
  } else {
    exchange(out.memory->get(), come.memory->get());
  }
  return come;
}

}  // namespace particles
