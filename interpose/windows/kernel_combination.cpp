#include "interpose/windows/kernel_combination.hpp"

#include <algorithm>
#include <cstdint>

#include "interpose/collectives/schedules/reduction_kind.hpp"
#include "interpose/progress/progress.hpp"
#include "transports/cuda/kernels.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {
namespace {

namespace cuda = transports::cuda;

/// Kernels of two processes take turns on a GPU, so that copies through host memory are faster for a few
/// bytes.
bool suits_kernels(cuda::Context& context, std::size_t bytes) noexcept {
  const bool waits_for_turn =
      transports::is_on_shared_gpu(context) && bytes < transports::tuning().shared_gpu_from;
  return !waits_for_turn && cuda::Kernels::ready_in(context).ok();
}

}  // namespace

std::optional<KernelCombination> KernelCombination::find(const MemberMemory& memory,
                                                         const transports::Layout& where,
                                                         const transports::BufferView& origin,
                                                         MPI_Op operation, MPI_Datatype element) {
  if (!transports::belongs_to_context(origin.buffer.kind) || origin.is_scattered() ||
      !origin.layout.is_contiguous()) {
    return std::nullopt;
  }
  const auto known = reduction_kind(element, operation);
  // without gaps between them, pairs are not as kernels know them
  if (!known || known->pairs != MPI_DATATYPE_NULL) return std::nullopt;
  KernelCombination found;
  found.context_ = cuda::Context::of(origin.buffer);
  if (found.context_ == nullptr) return std::nullopt;
  const MemberMemory::ForKernels reached = memory.for_kernels(origin, where);
  void* const target = reached.address;
  found.keeper_ = reached.keeper;
  if (target == nullptr || !suits_kernels(*found.context_, where.bytes())) return std::nullopt;
  const std::size_t bytes = transports::bytes_of(known->type);
  const std::size_t alignment = std::min<std::size_t>(bytes, 8);
  if (reinterpret_cast<std::uintptr_t>(target) % alignment != 0 ||
      reinterpret_cast<std::uintptr_t>(origin.first_byte()) % alignment != 0) {
    return std::nullopt;
  }
  found.sources_[0] = target;
  found.sources_[1] = origin.first_byte();
  found.reduction_ = {
      .to = target, .count = where.bytes() / bytes, .type = known->type, .operation = known->operation};
  return found;
}

Status KernelCombination::run() const {
  transports::DeviceReduction kernel(context_);
  transports::VectorReduction reduction = reduction_;
  reduction.sources = sources_;
  if (Status launched = kernel.launch(reduction); !launched.ok()) return launched;
  Status status;
  wait_with_progress([&] {
    bool is_over = false;
    status = kernel.query(is_over);
    return is_over || !status.ok();
  });
  return status;
}

}  // namespace penstock::interpose
