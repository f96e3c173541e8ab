#include "examples/gmh/programs/stencil.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "examples/gmh/programs/program.hpp"

namespace gmh_programs {
namespace {

constexpr int upwards_tag = 0;
constexpr int downwards_tag = 1;

}  // namespace

StencilPart part_of(const StencilProblem& problem, int rank, int ranks) {
  const int least = problem.rows / ranks;
  const int larger = problem.rows % ranks;
  StencilPart part;
  part.rows = least + (rank < larger ? 1 : 0);
  part.first_row = 1 + rank * least + std::min(rank, larger);
  return part;
}

Stencil::Stencil(gmh_tasklist_t list, const StencilProblem& problem) : list_(list), problem_(problem) {
  int ranks = 1;
  require(gmh_rank(list, &rank_));
  require(gmh_size(list, &ranks));
  part_ = part_of(problem, rank_, ranks);
  grid_ = {problem.columns, part_.rows};
  require(gmh_create_command_stream(list, &bulk_, GMH_NORMAL));
  require(gmh_create_command_stream(list, &urgent_, GMH_URGENT));
  allocate();
  if (rank_ > 0) add_neighbour(rank_ - 1, true);
  if (rank_ + 1 < ranks) add_neighbour(rank_ + 1, false);
  for (int step = 0; step < problem.steps; ++step) add_step(step);
  add_end();
}

void Stencil::allocate() {
  const std::size_t cells =
      static_cast<std::size_t>(grid_.rows + 2) * static_cast<std::size_t>(grid_.columns);
  for (std::size_t grid = 0; grid < grids_.size(); ++grid) {
    void* gpu = nullptr;
    void* host = nullptr;
    require(
        gmh_mem_create(list_, cells * sizeof(double), GMH_READ | GMH_WRITE, GMH_WITH_SHADOW, &grids_[grid]));
    require(gmh_mem_pointers(grids_[grid], &gpu, &host, nullptr));
    values_[grid] = static_cast<double*>(gpu);
    for (int row = 0; row < grid_.rows + 2; ++row) {
      for (int column = 0; column < grid_.columns; ++column) {
        static_cast<double*>(host)[static_cast<std::ptrdiff_t>(row) * grid_.columns + column] =
            first_value(part_.first_row - 1 + row, column, problem_.rows + 2, problem_.columns);
      }
    }
    require(gmh_mem_to_gpu(grids_[grid], bulk_));
  }
  void* word = nullptr;
  void* host = nullptr;
  require(gmh_mem_create(list_, sizeof(double), GMH_READ | GMH_WRITE, GMH_NO_SHADOW, &change_));
  require(gmh_mem_pointers(change_, &word, nullptr, nullptr));
  require(gmh_mem_create(list_, sizeof(double), GMH_READ | GMH_WRITE, GMH_WITH_SHADOW, &largest_change_));
  require(gmh_mem_pointers(largest_change_, nullptr, &host, nullptr));
  change_word_ = static_cast<unsigned long long*>(word);
  host_change_ = static_cast<const double*>(host);
}

gmh_mem_t Stencil::row_of(int grid, int row) {
  gmh_mem_t part = nullptr;
  const std::size_t bytes = static_cast<std::size_t>(grid_.columns) * sizeof(double);
  require(gmh_mem_part(grids_[static_cast<std::size_t>(grid)], static_cast<std::size_t>(row) * bytes, bytes,
                       &part));
  return part;
}

void Stencil::add_neighbour(int rank, bool is_above) {
  Neighbour neighbour{rank, is_above, {}, {}, nullptr, nullptr};
  for (int grid = 0; grid < 2; ++grid) {
    neighbour.sent[static_cast<std::size_t>(grid)] = row_of(grid, is_above ? 1 : grid_.rows);
    neighbour.received[static_cast<std::size_t>(grid)] = row_of(grid, is_above ? 0 : grid_.rows + 1);
  }
  require(gmh_create_command_stream(list_, &neighbour.sends, GMH_URGENT));
  require(gmh_create_command_stream(list_, &neighbour.receives, GMH_URGENT));
  neighbours_.push_back(neighbour);
}

int Stencil::queue(cudaStream_t stream, void* update) {
  const Update& each = *static_cast<const Update*>(update);
  return queue_update(stream, each.grid, each.rows, each.from, each.to, each.change);
}

int Stencil::clear(cudaStream_t stream, void* change) {
  return cudaMemsetAsync(change, 0, sizeof(double), stream);
}

void Stencil::add_step(int step) {
  const auto parity = static_cast<std::size_t>(step % 2);
  const bool is_last = step + 1 == problem_.steps;
  unsigned long long* const change = is_last ? change_word_ : nullptr;
  Before now;

  // The surface two steps ago has read the row beyond; that of the previous step has written this rank's row.
  std::vector<gmh_event_t> for_surface{before_.interior};
  for (const Neighbour& neighbour : neighbours_) {
    gmh_event_t received = nullptr;
    require(gmh_add_recv_buffer(list_, neighbour.receives, neighbour.received[parity], 0, neighbour.rank,
                                neighbour.is_above ? downwards_tag : upwards_tag, 1, &before_.surface,
                                &received));
    require(gmh_name(received, neighbour.is_above ? "receive from above" : "receive from below"));
    for_surface.push_back(received);
  }
  for (const Neighbour& neighbour : neighbours_) {
    now.sends.emplace_back();
    require(gmh_add_send_buffer(list_, neighbour.sends, neighbour.sent[parity], 0, neighbour.rank,
                                neighbour.is_above ? upwards_tag : downwards_tag, 1, &before_.surface,
                                &now.sends.back()));
    require(gmh_name(now.sends.back(), neighbour.is_above ? "send upwards" : "send downwards"));
  }
  if (is_last) {
    gmh_event_t cleared = nullptr;
    require(gmh_add_gpu_kernel(list_, bulk_, clear, change_word_, 0, nullptr, &cleared));
    for_surface.push_back(cleared);
  }

  updates_.push_back(
      {grid_, {2, std::max(0, grid_.rows - 2), 1}, values_[parity], values_[1 - parity], change});
  require(gmh_add_gpu_kernel(list_, bulk_, queue, &updates_.back(), 1, &before_.surface, &now.interior));
  require(gmh_name(now.interior, "interior"));

  // The interior and the sends of the previous step have read what the surface overwrites.
  for_surface.insert(for_surface.end(), before_.sends.begin(), before_.sends.end());
  const Rows outer{1, grid_.rows == 1 ? 1 : 2, std::max(1, grid_.rows - 1)};
  updates_.push_back({grid_, outer, values_[parity], values_[1 - parity], change});
  require(gmh_add_gpu_kernel(list_, urgent_, queue, &updates_.back(), static_cast<int>(for_surface.size()),
                             for_surface.data(), &now.surface));
  require(gmh_name(now.surface, "surface"));
  before_ = std::move(now);
}

void Stencil::add_end() {
  gmh_event_t reduced = nullptr;
  require(gmh_add_allreduce(list_, change_, largest_change_, GMH_DOUBLE, GMH_MAX, &reduced));
  require(gmh_name(reduced, "residual"));
  require(gmh_add_copy(list_, bulk_, largest_change_, GMH_TO_HOST, 0, nullptr, nullptr));
  require(gmh_add_control_task(list_, control, this));
}

int Stencil::control(void* stencil) {
  Stencil& self = *static_cast<Stencil*>(stencil);
  self.part_.steps_done += self.problem_.steps;
  self.part_.change = *self.host_change_;
  const bool goes_on = self.part_.steps_done + self.problem_.steps <= self.problem_.most_steps;
  return goes_on && self.part_.change > self.problem_.tolerance ? GMH_RERUN : GMH_EXIT;
}

StencilPart Stencil::solve() {
  require(gmh_Barrier(list_));
  const double start_s = MPI_Wtime();
  require(gmh_start(list_));
  require(gmh_Barrier(list_));
  part_.seconds = MPI_Wtime() - start_s;

  void* host = nullptr;
  require(gmh_mem_to_host(grids_[0], bulk_));
  require(gmh_Barrier(list_));  // waits for the copy
  require(gmh_mem_pointers(grids_[0], nullptr, &host, nullptr));
  const double* const first = static_cast<const double*>(host) + grid_.columns;
  part_.values.assign(first, first + static_cast<std::ptrdiff_t>(grid_.rows) * grid_.columns);
  return std::move(part_);
}

}  // namespace gmh_programs
