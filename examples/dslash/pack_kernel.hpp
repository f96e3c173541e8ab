// Packing of faces, and the flags that say that faces are packed or have come. For .cu files only.
#pragma once

#include "examples/dslash/access.hpp"

#if !defined(__CUDACC__)
#include <thread>
#endif

namespace dslash {

constexpr int block_threads = 128;

DSLASH_INLINE unsigned read_flag([[maybe_unused]] const unsigned* flag) {
#if defined(__CUDA_ARCH__)
  unsigned value = 0;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
  return value;
#elif defined(__CUDACC__)
  return 0;
#else
  return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
#endif
}

DSLASH_INLINE void write_flag([[maybe_unused]] unsigned* flag, [[maybe_unused]] unsigned value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
#elif !defined(__CUDACC__)
  __atomic_store_n(flag, value, __ATOMIC_RELEASE);
#endif
}

/// Epochs are counted without end, so they are compared by their difference.
__device__ inline void wait_for(const unsigned* flag, unsigned epoch) {
  while (flag != nullptr && static_cast<int>(read_flag(flag) - epoch) < 0) {
#if !defined(__CUDACC__)
    std::this_thread::yield();
#endif
  }
}

/// Copies a half spinor of an outer slice, as it is stored.
template <typename Precision, bool is_lower>
DSLASH_INLINE void pack_half(const SpinorView<Precision>& in, const FaceView& face, int face_sites, int site,
                             int item) {
  typename Precision::Stored stored[half_spinor_numbers];
  load_stored<Precision, spinor_numbers, is_lower ? half_spinor_numbers : 0>(in.data, in.sites, site, stored);
  store_stored<Precision, half_spinor_numbers>(face.data, face_sites, item, stored);
  if constexpr (is_fixed_point<Precision>) {
    face.norms[item] = __ldg(in.norms + site);
  }
}

/// Projects a spinor of an outer plane as the neighbour along z would: the same operations, the same bits.
template <typename Precision, int sign>
DSLASH_INLINE void pack_projected(const SpinorView<Precision>& in, const FaceView& face, int face_sites,
                                  int site, int item) {
  const auto half = project<z_direction, sign>(load_raw_spinor(in, site));
  typename ZPrecision<Precision>::Stored stored[half_spinor_numbers];
  DSLASH_UNROLL for (int i = 0; i < 6; ++i) {
    stored[2 * i] = half.spin[i / 3][i % 3].re;
    stored[2 * i + 1] = half.spin[i / 3][i % 3].im;
  }
  store_stored<ZPrecision<Precision>, half_spinor_numbers>(face.data, face_sites, item, stored);
  if constexpr (is_fixed_point<Precision>) {
    face.norms[item] = __ldg(in.norms + site);
  }
}

/// Faces of a side, one item a thread: in time first.
template <typename Precision>
DSLASH_INLINE void pack_item(const PackArguments<Precision>& arguments, int side, int index) {
  const SpinorView<Precision> in = view_of_side(arguments.in, arguments.sides, side);
  const auto face = [&](Face of) { return view_of_side(arguments.out, of, arguments.sides, side); };
  const Slab& slab = arguments.slab;
  const int in_time = slab.is_split_in_time() ? slab.face_sites() : 0;
  if (index < in_time) {
    pack_half<Precision, false>(in, face(t_upper), in_time, in.sites - in_time + index, index);
  } else if (index < 2 * in_time) {
    index -= in_time;
    pack_half<Precision, true>(in, face(t_lower), in_time, index, index);
  } else {
    index -= 2 * in_time;
    const int along_z = slab.z_face_sites();
    const bool is_upper = index < along_z;
    index -= is_upper ? 0 : along_z;
    const int slice = index / slab.plane_sites();
    const int first = slice * slab.face_sites() + index - slice * slab.plane_sites();
    if (is_upper) {
      pack_projected<Precision, -1>(in, face(z_upper), along_z,
                                    first + slab.face_sites() - slab.plane_sites(), index);
    } else {
      pack_projected<Precision, 1>(in, face(z_lower), along_z, first, index);
    }
  }
}

/// Items that a side has in all faces.
[[nodiscard]] DSLASH_INLINE int items_of_faces(const Slab& slab) {
  return 2 * ((slab.is_split_in_time() ? slab.face_sites() : 0) +
              (slab.is_split_along_z() ? slab.z_face_sites() : 0));
}

/// The last block tells that all is there.
template <typename Precision>
__device__ __forceinline__ void pack_faces(const PackArguments<Precision>& arguments, int block) {
  const int index = block * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
  const int items = items_of_faces(arguments.slab);
  const int side = index / items;
  if (side < arguments.sides.selected.count) {
    pack_item(arguments, side, index - side * items);
  }
  if (arguments.signal.arrived == nullptr) {
    return;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    const auto last = static_cast<unsigned>(arguments.blocks - 1);
    if (atomicInc(arguments.signal.arrived, last) == last) {
      __threadfence_system();
      DSLASH_UNROLL for (unsigned* const flag : arguments.signal.flags) {
        if (flag != nullptr) {
          write_flag(flag, arguments.signal.epoch);
        }
      }
    }
  }
}

// Not in an unnamed namespace: profilers show these names.
namespace kernels {

template <typename Precision>
__global__ void __launch_bounds__(block_threads)
    pack(const __grid_constant__ PackArguments<Precision> arguments) {
  pack_faces(arguments, static_cast<int>(blockIdx.x));
}

}  // namespace kernels
}  // namespace dslash
