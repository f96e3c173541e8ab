// The device code of the batched copies. Only kernels.cu includes this file.
#pragma once

#include "transports/kernels/copy_batch.hpp"
#include "transports/kernels/copy_piece.cuh"
#include "transports/kernels/launch_end.cuh"
#include "transports/kernels/strided_copy.cuh"

namespace penstock::transports::kernels {
namespace {

/// Returns the item of a batch that this block of threads copies: the last one whose first block is not after
/// it.
template <class Batch>
__device__ std::uint32_t item_of_block(const Batch& batch) {
  std::uint32_t mine = 0;
  for (std::uint32_t end = batch.count; end - mine > 1;) {
    const std::uint32_t middle = (mine + end) / 2;
    (batch.first_block[middle] <= blockIdx.x ? mine : end) = middle;
  }
  return mine;
}

template <std::uint32_t capacity>
__device__ void copy_batch(const CopyBatch<capacity>& batch) {
  const std::uint32_t mine = item_of_block(batch);
  const auto& item = batch.items[mine];
  const std::uint64_t begin = std::uint64_t{blockIdx.x - batch.first_block[mine]} * piece_bytes;
  const std::uint64_t left = item.bytes - begin;
  copy_piece<Loads::cached>(static_cast<char*>(item.to) + begin, static_cast<const char*>(item.from) + begin,
                            left < piece_bytes ? static_cast<std::uint32_t>(left) : piece_bytes,
                            all_of_block());
  raise_at_end(batch.flag, batch.slot);
}

template <std::uint32_t capacity>
__device__ void strided_copy_batch(const StridedBatch<capacity>& batch) {
  const std::uint32_t mine = item_of_block(batch);
  copy_strided<Loads::cached>(batch.items[mine], blockIdx.x - batch.first_block[mine], 1, all_of_block());
  raise_at_end(batch.flag, batch.slot);
}

}  // namespace
}  // namespace penstock::transports::kernels
