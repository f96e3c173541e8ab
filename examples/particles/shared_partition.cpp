#include "examples/particles/shared_partition.hpp"

#include <algorithm>

#include "examples/particles/files.hpp"

namespace particles {

Partition share_partition(const Options& options, const Box& box, const std::vector<std::uint8_t>& weights,
                          MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  Partition made;
  if (rank == 0) {
    made = make_partition(options, box, weights);
    if (made.complaint.empty() && !options.write_partition.empty()) {
      made.complaint = write_partition(options.write_partition, box, options.pieces, made.owners);
    }
    if (made.complaint.empty() && !options.ply.empty()) {
      made.complaint = write_ply(options.ply, box, made.owners);
    }
  }
  int is_refused = made.complaint.empty() ? 0 : 1;
  MPI_Bcast(&is_refused, 1, MPI_INT, 0, communicator);
  made.owners.resize(is_refused != 0 ? 0 : weights.size());
  constexpr std::size_t most = 1 << 30;  // MPI counts in int
  for (std::size_t first = 0; first < made.owners.size(); first += most) {
    MPI_Bcast(made.owners.data() + first, static_cast<int>(std::min(most, made.owners.size() - first)),
              MPI_INT16_T, 0, communicator);
  }
  return made;
}

}  // namespace particles
