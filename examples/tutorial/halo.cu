// Heat in a plate, its rows divided among the ranks, a GPU for each. The tutorial finds three faults in it.
//   halo STEPS
#include <cuda_runtime.h>
#include <mpi.h>
#include <nvtx3/nvToolsExt.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int columns = 1024;
constexpr int rows = 768;  // of a rank, without the two rows of its neighbours

__device__ int this_row() {
  return static_cast<int>(blockIdx.y) + 1;
}
__device__ int this_column() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

// Each point becomes the mean of its neighbours; the plate's left and right edges are insulated.
__global__ void relax(const double* now, double* next, double* change) {
  const int row = this_row();
  const int column = this_column();
  const double* at = now + row * columns + column;
  const double left = column > 0 ? at[-1] : at[0];
  const double right = column < columns - 1 ? at[1] : at[0];
  next[row * columns + column] = 0.25 * (left + right + at[-columns] + at[columns]);
  change[(row - 1) * columns + column] = std::fabs(next[row * columns + column] - at[0]);
}

// The mean change of each row's points.
__global__ void add_up(const double* change, double* of_rows) {
  double sum = 0;
  for (int column = 0; column < columns; ++column) sum += change[blockIdx.x * columns + column];
  of_rows[blockIdx.x] = sum / columns;
}

class Plate {
 public:
  explicit Plate(MPI_Comm ranks) : ranks_(ranks) {
    MPI_Comm_rank(ranks, &rank_);
    MPI_Comm_size(ranks, &size_);
    cudaMalloc(&now_, bytes());
    cudaMalloc(&next_, bytes());
    cudaMalloc(&change_, sizeof(double) * rows * columns);
    cudaMalloc(&of_rows_, sizeof(double) * rows);
    host_.assign((rows + 2) * columns, 0);
    if (rank_ == 0) {  // the upper edge is hot
      for (int column = 0; column < columns; ++column) host_[column] = 100;
    }
    cudaMemcpy(now_, host_.data(), bytes(), cudaMemcpyHostToDevice);
    cudaMemcpy(next_, host_.data(), bytes(), cudaMemcpyHostToDevice);
  }
  ~Plate() {
    for (double* memory : {now_, next_, change_, of_rows_}) cudaFree(memory);
  }

  void exchange_edges() {
    const int above = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL;
    const int below = rank_ < size_ - 1 ? rank_ + 1 : MPI_PROC_NULL;
    cudaMemcpy(host_.data(), now_, bytes(), cudaMemcpyDeviceToHost);
    double* plate = host_.data();
    MPI_Sendrecv(plate + columns, columns, MPI_DOUBLE, above, 0, plate + (rows + 1) * columns, columns,
                 MPI_DOUBLE, below, 0, ranks_, MPI_STATUS_IGNORE);
    MPI_Sendrecv(plate + rows * columns, columns, MPI_DOUBLE, below, 1, plate, columns, MPI_DOUBLE, above, 1,
                 ranks_, MPI_STATUS_IGNORE);
    cudaMemcpy(now_, host_.data(), bytes(), cudaMemcpyHostToDevice);
  }

  void relax_all() {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(columns / 256, rows);
    config.blockDim = dim3(256);
    cudaLaunchKernelEx(&config, relax, static_cast<const double*>(now_), next_, change_);
    double* const old = now_;
    now_ = next_;
    next_ = old;
  }

  // The mean change of a point in the last step.
  double change() {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(rows);
    config.blockDim = dim3(1);
    cudaLaunchKernelEx(&config, add_up, static_cast<const double*>(change_), of_rows_);
    std::vector<double> of_rows(rows);
    cudaMemcpy(of_rows.data(), of_rows_, sizeof(double) * rows, cudaMemcpyDeviceToHost);
    double mine = 0;
    for (const double row : of_rows) mine += row / rows;
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, ranks_);
    return all / size_;
  }

  // Rank 0 keeps a picture of its rows.
  void write_picture(int step) {
    if (rank_ != 0) return;
    cudaMemcpy(host_.data(), now_, bytes(), cudaMemcpyDeviceToHost);
    std::FILE* file = std::fopen("plate.pgm", "w");
    if (file == nullptr) return;
    std::fprintf(file, "P2\n# step %d\n%d %d\n100\n", step, columns, rows);
    for (int row = 1; row <= rows; ++row) {
      for (int column = 0; column < columns; ++column)
        std::fprintf(file, "%d ", static_cast<int>(host_[row * columns + column]));
      std::fputc('\n', file);
    }
    std::fclose(file);
  }

  void step(int number) {
    exchange_edges();
    relax_all();
    last_change_ = change();
    write_picture(number);
  }

  int rank() const { return rank_; }
  double last_change() const { return last_change_; }

 private:
  static constexpr std::size_t bytes() { return sizeof(double) * (rows + 2) * columns; }
  MPI_Comm ranks_;
  int rank_ = 0;
  int size_ = 1;
  double* now_ = nullptr;
  double* next_ = nullptr;
  double* change_ = nullptr;
  double* of_rows_ = nullptr;
  std::vector<double> host_;
  double last_change_ = 0;
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int steps = argc > 1 ? std::atoi(argv[1]) : 100;
  {
    Plate plate(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int step = 1; step <= steps; ++step) {
      nvtxRangePushA("step");
      plate.step(step);
      nvtxRangePop();
    }
    if (plate.rank() == 0) {
      std::printf("%d steps, %.1f ms each; mean change %.6g\n", steps, 1000 * (MPI_Wtime() - begin) / steps,
                  plate.last_change());
    }
  }
  MPI_Finalize();
}
