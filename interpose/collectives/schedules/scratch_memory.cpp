#include "interpose/collectives/schedules/scratch_memory.hpp"

namespace penstock::interpose {

std::optional<ScratchMemory> ScratchMemory::make(const void* own, const void* result, std::size_t bytes) {
  const transports::Buffer result_buffer = transports::inspect(result);
  const transports::Buffer own_buffer = own == result ? result_buffer : transports::inspect(own);
  if (!transports::lives_on_device(own_buffer.kind) || !transports::lives_on_device(result_buffer.kind) ||
      own_buffer.context != result_buffer.context) {
    return std::nullopt;
  }
  ScratchMemory scratch;
  scratch.own_ = own_buffer;
  scratch.context_ = transports::cuda::Context::of(result_buffer);
  if (scratch.context_ == nullptr) return std::nullopt;
  const transports::cuda::ContextScope scope(*scratch.context_);
  if (!scope.status().ok()) return std::nullopt;
  if (bytes != 0 && !transports::cuda::RelaySlice::take(scratch.context_, bytes, scratch.memory_).ok())
    return std::nullopt;
  return scratch;
}

}  // namespace penstock::interpose
