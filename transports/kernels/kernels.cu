// Penstock's kernels. Compiled by nvcc to the fat binary that the library carries, and as plain C++ for the
// simulated GPU; nothing but the driver API launches them.
#include <cuda_runtime.h>

#include "transports/kernels/copy_batch.hpp"

namespace penstock::transports::kernels {
namespace {

struct alignas(16) Word16 {
  std::uint64_t low, high;
};

/// Copies whole words, all threads of the block together. Sources may be a peer's memory, 1.5 µs away, so
/// each thread has several loads in flight: in one round, if words are not small, a whole piece.
template <class Word>
__device__ void copy_words(char* to, const char* from, std::uint32_t count) {
  constexpr std::uint32_t in_flight = sizeof(Word) == 16 ? 4 : 8;
  auto* const target = reinterpret_cast<Word*>(to);
  const auto* const source = reinterpret_cast<const Word*>(from);
  for (std::uint32_t first = threadIdx.x; first < count; first += in_flight * blockDim.x) {
    Word held[in_flight] = {};
    for (std::uint32_t i = 0; i < in_flight; ++i) {
      if (first + i * blockDim.x < count) held[i] = source[first + i * blockDim.x];
    }
    for (std::uint32_t i = 0; i < in_flight; ++i) {
      if (first + i * blockDim.x < count) target[first + i * blockDim.x] = held[i];
    }
  }
}

/// `to` and `from` are alike in alignment: bytes up to the first whole word, words, bytes after the last.
template <class Word>
__device__ void copy_piece(char* to, const char* from, std::uint32_t bytes) {
  const auto misaligned = static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(to) % sizeof(Word));
  const std::uint32_t head = misaligned < bytes ? misaligned : bytes;
  const auto words = static_cast<std::uint32_t>((bytes - head) / sizeof(Word));
  const auto body_end = static_cast<std::uint32_t>(head + words * sizeof(Word));
  const bool in_head = threadIdx.x < head;
  const bool in_tail = threadIdx.x < bytes - body_end;
  // loaded before the words and stored after them, so that nobody waits for these loads alone
  const char head_byte = in_head ? from[threadIdx.x] : char{};
  const char tail_byte = in_tail ? from[body_end + threadIdx.x] : char{};
  copy_words<Word>(to + head, from + head, words);
  if (in_head) to[threadIdx.x] = head_byte;
  if (in_tail) to[body_end + threadIdx.x] = tail_byte;
}

__device__ void copy_piece(char* to, const char* from, std::uint32_t bytes) {
  const std::uintptr_t difference =
      reinterpret_cast<std::uintptr_t>(to) ^ reinterpret_cast<std::uintptr_t>(from);
  if (difference % 16 == 0) {
    copy_piece<Word16>(to, from, bytes);
  } else if (difference % 8 == 0) {
    copy_piece<std::uint64_t>(to, from, bytes);
  } else if (difference % 4 == 0) {
    copy_piece<std::uint32_t>(to, from, bytes);
  } else if (difference % 2 == 0) {
    copy_piece<std::uint16_t>(to, from, bytes);
  } else {
    copy_piece<std::uint8_t>(to, from, bytes);
  }
}

/// Blocks that have finished, of the launch that uses the slot; 0 between launches. On a GPU each context has
/// its own.
__device__ std::uint32_t finished_blocks[slot_count];

/// True for one thread of the launch, when all others' work can be seen.
__device__ bool is_last_of_launch(std::uint32_t slot) {
  __syncthreads();
  if (threadIdx.x != 0) return false;
  if (gridDim.x == 1) return true;
  __threadfence();
  return atomicInc(&finished_blocks[slot], gridDim.x - 1) == gridDim.x - 1;  // becomes 0 again
}

/// Whoever sees the flag sees all that this thread has seen.
__device__ void raise(std::uint32_t* flag) {
#ifdef __CUDACC__
  __threadfence_system();
  *static_cast<volatile std::uint32_t*>(flag) = 1;
#else
  __atomic_store_n(flag, 1u, __ATOMIC_RELEASE);  // ThreadSanitizer knows no fences
#endif
}

template <std::uint32_t capacity>
__device__ void copy_batch(const CopyBatch<capacity>& batch) {
  std::uint32_t mine = 0;  // the last item whose first block is not after this one
  for (std::uint32_t end = batch.count; end - mine > 1;) {
    const std::uint32_t middle = (mine + end) / 2;
    (batch.first_block[middle] <= blockIdx.x ? mine : end) = middle;
  }
  const auto& item = batch.items[mine];
  const std::uint64_t begin = std::uint64_t{blockIdx.x - batch.first_block[mine]} * piece_bytes;
  const std::uint64_t left = item.bytes - begin;
  copy_piece(static_cast<char*>(item.to) + begin, static_cast<const char*>(item.from) + begin,
             left < piece_bytes ? static_cast<std::uint32_t>(left) : piece_bytes);
  if (batch.flag != nullptr && is_last_of_launch(batch.slot)) raise(batch.flag);
}

}  // namespace

#define PENSTOCK_COPY_KERNEL(capacity)                                              \
  extern "C" __global__ void __launch_bounds__(most_threads)                        \
      penstock_copy_##capacity(const __grid_constant__ CopyBatch<capacity> batch) { \
    copy_batch(batch);                                                              \
  }
PENSTOCK_COPY_CAPACITIES(PENSTOCK_COPY_KERNEL)

}  // namespace penstock::transports::kernels
