// What this rank brings to a reduction that the GPU may do. Knows no single collective.
#pragma once

#include <mpi.h>

#include <optional>
#include <utility>

#include "interpose/collectives/collective_call.hpp"
#include "interpose/collectives/fused_collectives.hpp"
#include "interpose/collectives/reduction_shape.hpp"
#include "interpose/collectives/workplace.hpp"
#include "interpose/node/policy.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {

/// What of the vectors a kernel on each rank would exchange. The same on all ranks, but for `combined`.
struct KernelPart {
  std::size_t count = 0;                                       ///< elements for each rank
  bool is_for_each = false;                                    ///< other ones for each
  std::uint32_t combined = transports::kernels::most_sources;  ///< as FusedVectors'
};

/// Owns the memory to combine in until the plan does. Lives within the call.
class ReductionPart {
 public:
  ReductionPart(const Ranks& ranks, MPI_Datatype datatype, MPI_Op operation, MPI_Count count) {
    if (!is_gpu_in_sight() || !settings().reduce_on_gpu) return;
    if (!ranks.is_intra() || ranks.peers == 1 || count <= 0) return;
    const std::optional<ReductionKind> kind = reduction_kind(datatype, operation);
    if (!kind) return;
    shape_ = {*kind, ranks.rank, ranks.peers};
    bytes_ = static_cast<std::size_t>(count) * shape_.element_bytes();
    message_bytes_ = bytes_;
    is_for_gpu_ = !is_little();
  }

  /// Of a reduction to all ranks: a kernel on each may do it, however little it is.
  void offer_kernel(MPI_Comm communicator, const KernelPart& part) {
    CommunicatorInfo* const info = peek_info(communicator);
    if (info == nullptr || shape_.ranks == 0) return;
    fused_ = FusedCollectives::of(*info);
    kernel_part_ = part;
    is_for_gpu_ = is_for_gpu_ || (fused_ != nullptr && fused_->may_take(bytes_));
  }
  [[nodiscard]] bool is_for_gpu() const noexcept { return is_for_gpu_; }
  [[nodiscard]] const ReductionShape& shape() const noexcept { return shape_; }
  /// Its messages have so many elements, not all of the vector.
  void sends_at_a_time(std::size_t elements) noexcept { message_bytes_ = elements * shape_.element_bytes(); }
  /// This rank combines, and needs so many bytes of memory for it.
  void take_place(const void* own, void* result, std::size_t bytes) {
    if (!is_for_gpu_ || !lies_on_device(own) || !transports::DeviceReduction::available().ok()) {
      return leave_to_library();
    }
    place_ = Workplace::make(own, result, bytes);
    if (!place_ ||
        (bytes_ < transports::tuning().shared_gpu_from && transports::is_on_shared_gpu(*place_->context()))) {
      return leave_to_library();
    }
    offer_kernel_at(place_->own(), result, place_->context());
    if (!kernel_ && is_little()) leave_to_library();
  }
  /// This rank combines nothing by messages; a kernel on it may have part in what all do.
  void combine_nothing(const void* own, void* result) {
    if (!is_for_gpu_) return;
    if (fused_ != nullptr && lies_on_device(own) && transports::DeviceReduction::available().ok()) {
      const std::optional<Workplace> beside = Workplace::make(own, result, 0);
      if (beside) offer_kernel_at(beside->own(), result, beside->context());
    }
    if (!kernel_ && is_little()) leave_to_library();
  }
  void leave_to_library() noexcept { is_for_gpu_ = false; }
  [[nodiscard]] std::optional<Workplace> take_place_away() noexcept {
    return std::exchange(place_, std::nullopt);
  }

  /// `shares`: a number that differs where ranks share the vector differently.
  [[nodiscard]] BroughtBuffers buffers(const void* own, MPI_Count count, MPI_Datatype datatype,
                                       std::uint64_t shares = 0) const {
    BroughtBuffers all;
    if (is_for_gpu_) {
      if (place_) {
        all.add_on_device(own);
      } else {
        all.add(own, one_block(count, datatype));
      }
      // in how many steps it goes depends on these
      const auto type = static_cast<std::uint64_t>(shape_.kind.type);
      const auto operation = static_cast<std::uint64_t>(shape_.kind.operation);
      all.sign((bytes_ << 16 | type << 8 | operation) ^ shares);
      all.measure([&] { return message_bytes_; });
      if (kernel_) all.offer_kernel(*kernel_, is_little());
    } else {
      all.leave_to_library();
    }
    return all;
  }

 private:
  [[nodiscard]] bool is_little() const noexcept { return bytes_ < policy::least_reduced_bytes; }
  void offer_kernel_at(const transports::Buffer& own, void* result,
                       const transports::cuda::ContextRef& context) {
    if (fused_ == nullptr || !fused_->suits(bytes_, context)) return;
    const transports::FusedVectors vectors{own.pointer,           result,
                                           kernel_part_.count,    shape_.kind.type,
                                           shape_.kind.operation, kernel_part_.is_for_each,
                                           kernel_part_.combined};
    kernel_ = OfferedKernel{vectors, own, context};
  }

  bool is_for_gpu_ = false;
  FusedCollectives* fused_ = nullptr;
  KernelPart kernel_part_;
  std::optional<OfferedKernel> kernel_;
  ReductionShape shape_{};
  std::size_t bytes_ = 0;  ///< of the vector
  std::size_t message_bytes_ = 0;
  std::optional<Workplace> place_;
};

}  // namespace penstock::interpose
