// This rank's buffers and vote in a reduction that the GPU may do. This header knows no single collective.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "interpose/collectives/calls/collective_call.hpp"
#include "interpose/collectives/kernels/one_shot_collectives.hpp"
#include "interpose/collectives/schedules/device_stand_ins.hpp"
#include "interpose/collectives/schedules/reduction_shape.hpp"
#include "interpose/collectives/schedules/scratch_memory.hpp"
#include "interpose/node/gpu_in_sight.hpp"
#include "interpose/node/policy.hpp"
#include "transports/cuda/kernels.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {

/// The elements that a kernel on each rank would exchange and combine.
struct KernelPart {
  transports::OneShotParts parts{};
  std::uint32_t combined = transports::kernels::most_sources;  ///< as OneShotReduction's
};
/// Returns the part of a collective in which all ranks get the same.
[[nodiscard]] inline KernelPart to_all(std::size_t elements) noexcept {
  return {transports::equal_parts(elements, false)};
}
/// Returns the part of a collective in which only the root gets something.
[[nodiscard]] inline KernelPart to_root(std::size_t elements, int root, bool is_root) noexcept {
  KernelPart part;
  part.parts.sent[root] = elements;
  if (is_root) std::ranges::fill(part.parts.received, elements);
  return part;
}

/// Owns the memory to combine in until the schedule does. Lives within the call.
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
    is_for_gpu_ = !library_is_faster();
    if (!is_for_gpu_) why_library_ = CollectiveBuffers::too_small;
  }

  /// Offers a kernel on each rank, however small the vector is. `make()` returns its KernelPart.
  template <typename Make>
  void offer_kernel(MPI_Comm communicator, Make make) {
    CommunicatorInfo* const info = peek_info(communicator);
    if (info == nullptr || shape_.ranks == 0) return;
    one_shot_ = OneShotCollectives::of(*info);
    if (one_shot_ == nullptr || !one_shot_->may_take(bytes_)) return;
    kernel_part_ = make();
    is_for_gpu_ = true;
  }
  [[nodiscard]] bool is_for_gpu() const noexcept { return is_for_gpu_; }
  [[nodiscard]] const ReductionShape& shape() const noexcept { return shape_; }
  /// Sets the elements of its messages, if they are not the whole vector.
  void sends_at_a_time(std::size_t elements) noexcept { message_bytes_ = elements * shape_.element_bytes(); }
  /// Allows a blocking call to have both vectors in host memory, if other ranks of that communicator have had
  /// some on devices. Requires that no work of the application's runs on the GPU: a plain MPI waits for no
  /// kernel there.
  void may_be_on_host(MPI_Comm communicator) noexcept {
    const CommunicatorInfo* const info = peek_info(communicator);
    may_be_on_host_ = info != nullptr && info->meets;
  }
  /// Takes `bytes` of memory, as this rank combines `elements` elements.
  void take_place(const void* own, void* result, std::size_t elements, std::size_t bytes) {
    if (elements == 0) result = const_cast<void*>(own);  // nothing is written
    own_ = own;
    result_ = result;
    if (!is_for_gpu_) return;
    const bool own_is_there = lies_on_device(own);
    const bool goes_from_host = bytes_ >= policy::least_reduced_from_host_bytes;
    if (!own_is_there && !goes_from_host) return leave_to_library(CollectiveBuffers::too_small);
    const bool result_is_there = result == own ? own_is_there : lies_on_device(result);
    if (own_is_there || result_is_there) on_device_ = own_is_there ? own : result;
    if (!own_is_there || !result_is_there) {
      if (!goes_from_host) return leave_to_library(CollectiveBuffers::too_small);
      if (!take_stand_ins(elements * shape_.element_bytes())) return leave_to_library(in_host_memory);
    }
    scratch_ = ScratchMemory::make(own_, result_, bytes);
    if (!scratch_ || !transports::cuda::Kernels::ready_in(*scratch_->context()).ok())
      return leave_to_library();
    if (!transports::tuning().reduces_on_shared_gpu(bytes_) &&
        transports::is_on_shared_gpu(*scratch_->context())) {
      return leave_to_library(CollectiveBuffers::shared_gpu);
    }
    if (!stand_ins_) offer_kernel_at(scratch_->own(), result_, scratch_->context());
    if (!kernel_ && library_is_faster()) leave_to_library(CollectiveBuffers::too_small);
  }
  /// Notes that this rank combines nothing by messages; its kernel may still take part. `result` may be null:
  /// nothing is written then.
  void combine_nothing(const void* own, void* result) {
    if (result == nullptr) result = const_cast<void*>(own);
    own_ = own;
    result_ = result;
    if (!is_for_gpu_) return;
    if (lies_on_device(own)) on_device_ = own;
    if (kernel_part_ && on_device_ != nullptr) {
      const std::optional<ScratchMemory> beside = ScratchMemory::make(own, result, 0);
      if (beside) offer_kernel_at(beside->own(), result, beside->context());
    }
    if (!kernel_ && library_is_faster()) leave_to_library(CollectiveBuffers::too_small);
  }
  void leave_to_library(const char* why = no_kernel) noexcept {
    if (is_for_gpu_) why_library_ = why;
    is_for_gpu_ = false;
    scratch_.reset();
    stand_ins_.reset();
  }
  [[nodiscard]] std::optional<ScratchMemory> take_place_away() noexcept {
    return std::exchange(scratch_, std::nullopt);
  }
  /// This rank's vectors, after take_place(): stand-ins for those in host memory.
  [[nodiscard]] const void* own() const noexcept { return own_; }
  [[nodiscard]] void* result() const noexcept { return result_; }
  /// Returns a schedule for these, with the copies into and out of the stand-ins.
  template <typename Steps>
  [[nodiscard]] StandInSchedule around(Steps schedule) {
    return {std::make_unique<Steps>(std::move(schedule)), std::exchange(stand_ins_, std::nullopt)};
  }

  /// `shares`: a number that differs if ranks share the vector differently.
  [[nodiscard]] CollectiveBuffers buffers(const void* own, MPI_Count count, MPI_Datatype datatype,
                                          std::uint64_t shares = 0) const {
    CollectiveBuffers all;
    if (is_for_gpu_) {
      if (on_device_ != nullptr) {
        all.add_on_device(on_device_);
      } else {
        all.add(own, one_block(count, datatype));
      }
      // the number of steps depends on these
      const auto type = static_cast<std::uint64_t>(shape_.kind.type);
      const auto operation = static_cast<std::uint64_t>(shape_.kind.operation);
      all.sign((bytes_ << 16 | type << 8 | operation) ^ shares);
      all.measure([&] { return message_bytes_; });
      if (kernel_) all.offer_kernel(*kernel_, library_is_faster());
    } else {
      all.leave_to_library(why_library_);
    }
    return all;
  }

 private:
  [[nodiscard]] bool library_is_faster() const noexcept { return bytes_ < policy::least_reduced_bytes; }
  void offer_kernel_at(const transports::Buffer& own, void* result,
                       const transports::cuda::ContextRef& context) {
    if (!kernel_part_ || !one_shot_->suits(bytes_, context)) return;
    transports::OneShotWork work{
        own.pointer, result, kernel_part_->parts,
        transports::OneShotReduction{shape_.kind.type, shape_.kind.operation, kernel_part_->combined}};
    for (std::uint64_t& elements : work.parts.sent) elements *= shape_.element_bytes();
    for (std::uint64_t& elements : work.parts.received) elements *= shape_.element_bytes();
    kernel_ = OfferedKernel{work, own, context};
  }

  /// Does not suit pairs with gaps: a copy byte by byte would overwrite the gaps.
  [[nodiscard]] bool take_stand_ins(std::size_t result_bytes) {
    const auto is_usable = [](const void* pointer) {
      return pointer != MPI_BOTTOM && pointer != MPI_IN_PLACE;
    };
    if (!is_usable(own_) || !is_usable(result_) || shape_.kind.pairs != MPI_DATATYPE_NULL) return false;
    if (on_device_ == nullptr && !may_be_on_host_) return false;
    stand_ins_ = DeviceStandIns::make({const_cast<void*>(own_), bytes_}, {result_, result_bytes});
    if (!stand_ins_ || (on_device_ == nullptr && !stand_ins_->may_upload_now())) return false;
    own_ = stand_ins_->own();
    result_ = stand_ins_->result();
    return true;
  }

  static constexpr const char* no_kernel = "no kernel can reduce such vectors";
  static constexpr const char* in_host_memory =
      "some vectors are in host memory and cannot be reduced by a GPU";
  bool is_for_gpu_ = false;
  const char* why_library_ = no_kernel;
  OneShotCollectives* one_shot_ = nullptr;
  std::optional<KernelPart> kernel_part_;
  std::optional<OfferedKernel> kernel_;
  ReductionShape shape_{};
  std::size_t bytes_ = 0;  ///< of the vector
  std::size_t message_bytes_ = 0;
  const void* own_ = nullptr;
  void* result_ = nullptr;
  const void* on_device_ = nullptr;  ///< one of the program's vectors there
  bool may_be_on_host_ = false;
  std::optional<DeviceStandIns> stand_ins_;
  std::optional<ScratchMemory> scratch_;
};

}  // namespace penstock::interpose
