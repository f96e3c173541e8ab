// A Jacobi solver as an event flow: in each step, messages bring the neighbours' rows while the interior is
// updated, and the rank's outer rows wait for both. Every few steps, the largest change of all ranks decides
// whether the list runs again.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "examples/gmh/gmh.h"
#include "examples/gmh/programs/stencil_kernels.hpp"

namespace gmh_programs {

struct StencilProblem {
  int columns = 1024;
  int rows = 1024;  ///< without the boundary
  int steps = 20;   ///< between two checks of the change; even
  int most_steps = 1000;
  double tolerance = 0;
};

/// A rank's result.
struct StencilPart {
  int first_row = 0;  ///< in the whole grid, from 1
  int rows = 0;
  int steps_done = 0;
  double change = 0;
  double seconds = 0;
  std::vector<double> values;  ///< its rows
};

/// Returns the rows of a rank. If they do not divide evenly, the first ranks have one more.
[[nodiscard]] StencilPart part_of(const StencilProblem& problem, int rank, int ranks);

/// A rank's solver. Thread: its own.
class Stencil {
 public:
  Stencil(gmh_tasklist_t list, const StencilProblem& problem);
  Stencil(const Stencil&) = delete;
  Stencil& operator=(const Stencil&) = delete;

  /// Runs until the change is small enough or the steps are done.
  [[nodiscard]] StencilPart solve();

 private:
  /// A kernel's arguments, whose address is fixed while the list runs.
  struct Update {
    Grid grid;
    Rows rows;
    const double* from;
    double* to;
    unsigned long long* change;
  };
  /// Events of the previous step.
  struct Before {
    gmh_event_t interior = nullptr;
    gmh_event_t surface = nullptr;
    std::vector<gmh_event_t> sends;
  };
  struct Neighbour {
    int rank;
    bool is_above;
    std::array<gmh_mem_t, 2> sent;      ///< this rank's outer row of each of the two grids
    std::array<gmh_mem_t, 2> received;  ///< the row beyond it
    gmh_stream_t sends;
    gmh_stream_t receives;
  };

  void allocate();
  void add_neighbour(int rank, bool is_above);
  [[nodiscard]] gmh_mem_t row_of(int grid, int row);
  void add_step(int step);
  void add_end();
  static int queue(cudaStream_t stream, void* update);
  static int clear(cudaStream_t stream, void* change);
  static int control(void* stencil);

  gmh_tasklist_t list_;
  StencilProblem problem_;
  StencilPart part_;
  Grid grid_{};
  int rank_ = 0;
  std::array<gmh_mem_t, 2> grids_{};
  std::array<double*, 2> values_{};
  gmh_mem_t change_ = nullptr;
  gmh_mem_t largest_change_ = nullptr;
  unsigned long long* change_word_ = nullptr;
  const double* host_change_ = nullptr;
  gmh_stream_t bulk_ = nullptr;
  gmh_stream_t urgent_ = nullptr;
  std::vector<Neighbour> neighbours_;
  std::deque<Update> updates_;
  Before before_;
};

}  // namespace gmh_programs
