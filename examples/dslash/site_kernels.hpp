// Kernels over the sites of a slab and right-hand sides, with sums that have the same bits for any number of
// ranks: of each slice's blocks of planes first, then of these in order, slice by slice. For .cu files only.
#pragma once

#include "examples/dslash/access.hpp"
#include "examples/dslash/hop_kernel.hpp"
#include "examples/dslash/kernels.hpp"
#include "examples/dslash/model.hpp"

namespace dslash {

constexpr int sites_of_thread = 4;
constexpr int sites_of_block = sites_of_thread * block_threads;
constexpr unsigned all_lanes = 0xFFFFFFFF;
constexpr int lanes = 32;

/// Adds what all threads of a block have; thread 0 gets the sums.
template <int count>
__device__ void add_of_block(double (&sums)[count]) {
#if defined(__CUDACC__)
  constexpr int parts = block_threads / lanes;
  for (int i = 0; i < count; ++i) {
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
      sums[i] += __shfl_down_sync(all_lanes, sums[i], distance);
    }
  }
  const bool has_part = threadIdx.x % lanes == 0;
  const unsigned part = threadIdx.x / lanes;
#else  // on the simulated GPU shuffles cost more than all the rest
  constexpr int parts = block_threads;
  const bool has_part = true;
  const unsigned part = threadIdx.x;
#endif
  __shared__ double of_parts[parts][most_sums];
  for (int i = 0; has_part && i < count; ++i) {
    of_parts[part][i] = sums[i];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < count; ++i) {
      sums[i] = 0;
      for (const auto& of_part : of_parts) {
        sums[i] += of_part[i];
      }
    }
  }
}

/// Whether this block is the last of `count` to come here. What the others have written before can be read.
__device__ inline bool is_last(unsigned* arrived, unsigned count) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicInc(arrived, count - 1) == count - 1;
    __threadfence();
  }
  __syncthreads();
  return last;
}

__device__ inline double read_fresh(const double* number) {
  return *static_cast<const volatile double*>(number);
}

/// Adds the slices' sums in order. All threads load first: one that loads and adds in turns waits for memory
/// each time.
template <int count>
__device__ void add_slices(const SumRoom& room, unsigned side, unsigned slices) {
  __shared__ double loaded[count][block_threads];
  const auto z_blocks = static_cast<unsigned>(room.z_blocks);
  const unsigned blocks = slices * z_blocks;
  const unsigned loaded_at_once = block_threads / z_blocks * z_blocks;
  double total = 0;
  for (unsigned first = 0; first < blocks; first += loaded_at_once) {
    const unsigned here = first + loaded_at_once < blocks ? loaded_at_once : blocks - first;
    if (threadIdx.x < here) {
      const std::size_t at = (std::size_t{side} * blocks + first + threadIdx.x) * most_sums;
      for (unsigned i = 0; i < count; ++i) {
        loaded[i][threadIdx.x] = read_fresh(room.z_block_sums + at + i);
        if (room.z_block_sums_on_host != nullptr) {
          room.z_block_sums_on_host[at + i] = loaded[i][threadIdx.x];
        }
      }
    }
    __syncthreads();
    if (threadIdx.x < count) {
      for (unsigned slice = 0; slice < here; slice += z_blocks) {
        double of_slice = 0;
        for (unsigned z_block = slice; z_block < slice + z_blocks; ++z_block) {
          of_slice += loaded[threadIdx.x][z_block];
        }
        total += of_slice;
      }
    }
    __syncthreads();
  }
  if (threadIdx.x < count) {
    room.totals[side * most_sums + threadIdx.x] = total;
  }
}

template <int count>
__device__ void finish_sums(double (&sums)[count], const SumRoom& room) {
  const unsigned slice = blockIdx.y;
  const unsigned side = blockIdx.z;
  const unsigned blocks = gridDim.x;
  const unsigned slices = gridDim.y;
  double* const partials = room.partials + (std::size_t{side} * slices + slice) * blocks * most_sums;
  unsigned* const arrived = room.arrived + side * (slices + 1);
  const auto z_blocks = static_cast<unsigned>(room.z_blocks);
  const unsigned blocks_of_z_block = blocks / z_blocks;
  double* const z_block_sums = room.z_block_sums + side * slices * z_blocks * most_sums;
  add_of_block(sums);
  if (threadIdx.x == 0) {
    for (int i = 0; i < count; ++i) {
      partials[blockIdx.x * most_sums + i] = sums[i];
    }
  }
  if (!is_last(arrived + slice, blocks)) {
    return;
  }
  for (unsigned z_block = 0; z_block < z_blocks; ++z_block) {
    for (int i = 0; i < count; ++i) {
      sums[i] = 0;
      for (unsigned block = threadIdx.x; block < blocks_of_z_block; block += block_threads) {
        sums[i] += read_fresh(partials + (z_block * blocks_of_z_block + block) * most_sums + i);
      }
    }
    __syncthreads();  // the previous sums have been read
    add_of_block(sums);
    if (threadIdx.x == 0) {
      for (int i = 0; i < count; ++i) {
        z_block_sums[(slice * z_blocks + z_block) * most_sums + i] = sums[i];
      }
    }
  }
  if (is_last(arrived + slices, slices)) {
    add_slices<count>(room, side, slices);
  }
}

namespace kernels {

/// Calls `body(site, field, sums)` for each site. Grid: blocks of a slice's blocks of planes, slices,
/// right-hand sides.
template <typename Body>
__global__ void __launch_bounds__(block_threads)
    over_sites(const __grid_constant__ Body body, int face_sites, Selection sides, SumRoom room) {
  const int field = sides.field_of(static_cast<int>(blockIdx.z));
  const int blocks_of_z_block = static_cast<int>(gridDim.x) / room.z_blocks;
  const int sites_of_z_block = face_sites / room.z_blocks;
  const int z_block = static_cast<int>(blockIdx.x) / blocks_of_z_block;
  const int block = static_cast<int>(blockIdx.x) - z_block * blocks_of_z_block;
  const int first = static_cast<int>(blockIdx.y) * face_sites + z_block * sites_of_z_block;
  double sums[Body::sums > 0 ? Body::sums : 1] = {};
  for (int k = 0; k < sites_of_thread; ++k) {
    const int in_z_block = (block * sites_of_thread + k) * block_threads + static_cast<int>(threadIdx.x);
    if (in_z_block < sites_of_z_block) {
      body(first + in_z_block, field, sums);
    }
  }
  if constexpr (Body::sums > 0) {
    finish_sums(sums, room);
  }
}

}  // namespace kernels

template <typename Body>
void queue_over_sites(cudaStream_t stream, const Slab& slab, const Selection& sides, const Body& body,
                      const SumRoom& room) {
  if (sides.count == 0) {
    return;
  }
  cudaLaunchConfig_t config{};
  const int blocks_of_z_block = (slab.face_sites() / room.z_blocks + sites_of_block - 1) / sites_of_block;
  config.gridDim = dim3(static_cast<unsigned>(room.z_blocks * blocks_of_z_block),
                        static_cast<unsigned>(slab.slices), static_cast<unsigned>(sides.count));
  config.blockDim = dim3(block_threads);
  config.stream = stream;
  check_launch(cudaLaunchKernelEx(&config, kernels::over_sites<Body>, body, slab.face_sites(), sides, room));
}

}  // namespace dslash
