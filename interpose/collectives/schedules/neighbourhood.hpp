// The neighbours with which a rank exchanges blocks in the neighbourhood collectives of a communicator with a
// topology, and which of its blocks belongs to which of a neighbour's. This header knows no single
// collective.
#pragma once

#include <mpi.h>

#include <vector>

namespace penstock::interpose {

/// Number of neighbours that this rank receives from and sends to. Zero without a topology: MPI reports that
/// error.
struct NeighbourCounts {
  int sources = 0;
  int destinations = 0;
};
[[nodiscard]] NeighbourCounts count_neighbours(MPI_Comm communicator) noexcept;

/// Makes a communicator of the same ranks with the same neighbours in the same order, but without the
/// attributes. All ranks call it. Returns the MPI library's code.
[[nodiscard]] int make_with_same_neighbours(MPI_Comm communicator, int own_rank, MPI_Comm* made);

/// A neighbour; MPI_PROC_NULL at the edge of a Cartesian grid. A block is received on the way on which it is
/// sent. If two ranks are each other's neighbours on both sides, the way distinguishes the two messages.
struct Neighbour {
  int rank = MPI_PROC_NULL;
  int way = 0;
};

/// The blocks that neighbours get.
enum class Sent : unsigned char {
  same_block,    ///< Allgather(v)
  equal_blocks,  ///< Alltoall
  own_blocks,    ///< Alltoallv, w
};

/// The neighbours of one rank, in the order of its blocks. A value.
class Neighbourhood {
 public:
  /// Errors: std::bad_alloc.
  [[nodiscard]] static Neighbourhood of(MPI_Comm communicator, int own_rank);

  /// Returns whether the MPI library is sure to assign the blocks as this class does. If a rank is a
  /// neighbour twice, some libraries deviate from the standard, and then all buffers must get what the
  /// library does. MPICH (4.0) receives such blocks in the reverse order, which is right on a grid with one
  /// such dimension; for the forms with counts it keeps the order, which is wrong. Open MPI (4.1) is wrong in
  /// the non-blocking forms.
  [[nodiscard]] bool suits(Sent sent, bool is_nonblocking) const noexcept {
    return are_all_different_ || (sent == Sent::same_block && is_grid_) ||
           (sent == Sent::equal_blocks && dimensions_to_itself_ <= 1 && is_grid_ && !is_nonblocking);
  }
  [[nodiscard]] bool are_none() const noexcept { return sources_.empty() && destinations_.empty(); }
  [[nodiscard]] const std::vector<Neighbour>& sources() const noexcept { return sources_; }
  [[nodiscard]] const std::vector<Neighbour>& destinations() const noexcept { return destinations_; }

  /// Calls `function(number of the block, neighbour)` for each neighbour that is another rank.
  template <typename Function>
  void for_sources(Function function) const {
    for_others(sources_, function);
  }
  template <typename Function>
  void for_destinations(Function function) const {
    for_others(destinations_, function);
  }
  /// Calls `function(number sent, number received)` for each block that this rank sends to itself.
  template <typename Function>
  void for_kept(Function function) const {
    for (std::size_t to = 0; to < destinations_.size(); ++to) {
      for (std::size_t from = 0; from < sources_.size(); ++from) {
        if (destinations_[to].rank == own_rank_ && sources_[from].rank == own_rank_ &&
            destinations_[to].way == sources_[from].way) {
          function(static_cast<int>(to), static_cast<int>(from));
        }
      }
    }
  }

 private:
  void add_grid(MPI_Comm communicator);
  void add_graph(MPI_Comm communicator);
  void add_distributed_graph(MPI_Comm communicator);
  template <typename Function>
  void for_others(const std::vector<Neighbour>& all, Function function) const {
    for (std::size_t number = 0; number < all.size(); ++number) {
      if (all[number].rank != MPI_PROC_NULL && all[number].rank != own_rank_)
        function(static_cast<int>(number), all[number]);
    }
  }

  int own_rank_ = MPI_PROC_NULL;
  bool are_all_different_ = false;
  bool is_grid_ = false;
  int dimensions_to_itself_ = 0;
  std::vector<Neighbour> sources_;
  std::vector<Neighbour> destinations_;
};

}  // namespace penstock::interpose
