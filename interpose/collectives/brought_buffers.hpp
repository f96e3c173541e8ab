// What this rank brings to a collective call, by which it says how it would have the call carried out. Knows
// no single collective.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "interpose/calls/call_scope.hpp"
#include "interpose/collectives/fused_work.hpp"
#include "interpose/collectives/meeting_between_nodes.hpp"
#include "interpose/node/arrival_places.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/staging/staged_call.hpp"
#include "transports/cuda/context.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/machine.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {

/// Could any rank have a device buffer? If not, nothing needs to be looked at. Cost: some loads.
[[nodiscard]] inline bool is_gpu_in_sight() noexcept {
  return NodeDirectory::gpu_seen() || transports::cuda_in_use();
}

/// A value; refers to nothing.
class BroughtBuffers {
 public:
  /// The blocks of a buffer, unless it is MPI_IN_PLACE.
  template <typename BlocksThere>
  void add(const void* buffer, const BlocksThere& blocks) noexcept {
    if (is_left_to_library_ || buffer == MPI_IN_PLACE) return;
    if (!blocks.are_valid()) return leave_to_library();
    // of absolute addresses nothing is known yet
    if (buffer == MPI_BOTTOM && blocks.bytes() != 0)
      return leave_to_library("its buffers are given by absolute addresses");
    if (lies_on_device(buffer)) {
      on_device_ = buffer;
    } else {
      has_host_bytes_ = has_host_bytes_ || !blocks.are_empty();
    }
  }
  /// A buffer that is known to be there.
  void add_on_device(const void* buffer) noexcept {
    if (!is_left_to_library_) on_device_ = buffer;
  }
  /// So many blocks for or from other ranks, `in_all()` bytes: a little goes sooner through host memory, and
  /// so does more where other ranks use the GPU, too.
  template <typename Bytes>
  void weigh(int blocks, Bytes in_all) noexcept {
    if (is_left_to_library_ || on_device_ == nullptr) return;
    const std::uint64_t bytes = in_all();
    message_bytes_ = bytes / static_cast<std::uint64_t>(std::max(blocks, 1));
    const bool is_little = bytes < policy::least_exchanged_bytes;
    if (kernel_) {
      // where ranks know no sizes but their own, it may not be little to the others
      is_little_ = is_little && !kernel_->work.parts.is_checked;
    } else if (is_little) {
      leave_to_library(so_little);
    } else if (!transports::tuning().exchanges_on_shared_gpu(bytes) &&
               transports::is_on_shared_gpu(on_device_)) {
      leave_to_library(shared_gpu);
    }
  }
  /// How large the messages are, where nothing is weighed.
  template <typename Bytes>
  void measure(Bytes bytes_of_a_message) noexcept {
    if (!is_left_to_library_ && on_device_ != nullptr) message_bytes_ = bytes_of_a_message();
  }
  /// What must be equal on all ranks, or they would wait for each other.
  void sign(std::uint64_t arguments) noexcept { arguments_ = arguments; }
  /// There is something about the call that messages do not do, or not as fast, or that the MPI library will
  /// refuse. `why`: a literal.
  void leave_to_library(const char* why = "there are no messages for such a call") noexcept {
    if (!is_left_to_library_) why_library_ = why;
    is_left_to_library_ = true;
  }
  static constexpr const char* so_little = "so little takes less time through the MPI library";
  static constexpr const char* shared_gpu =
      "ranks share a GPU, where kernels and copies of so little take turns";
  /// Why the MPI library carries it out, if it does.
  [[nodiscard]] const char* why_library() const noexcept { return is_little_ ? so_little : why_library_; }

  [[nodiscard]] Preference preference() const noexcept {
    if (is_left_to_library_ || !settings().move) return Preference::library;
    if (on_device_ == nullptr) return Preference::any;
    return kernel_ ? Preference::kernels : Preference::messages;
  }
  [[nodiscard]] Wish wish() const noexcept { return {preference(), arguments_, message_bytes_}; }
  /// One of those that are in a GPU's memory; null: none is.
  [[nodiscard]] const void* on_device() const noexcept { return on_device_; }
  /// Some of them in host memory.
  [[nodiscard]] bool have_host_bytes() const noexcept { return has_host_bytes_; }
  /// A kernel on each rank may do it. `is_little`: for anything else the MPI library is the better one, on
  /// all ranks.
  void offer_kernel(OfferedKernel kernel, bool is_little) noexcept {
    kernel_ = std::move(kernel);
    is_little_ = is_little;
  }
  /// There cannot be one now.
  void withdraw_kernel() noexcept {
    kernel_.reset();
    if (is_little_) leave_to_library(so_little);
  }
  /// Where kernels are preferred: what has been offered.
  [[nodiscard]] const std::optional<OfferedKernel>& kernel() const noexcept { return kernel_; }
  [[nodiscard]] bool are_little() const noexcept { return is_little_; }
  /// Says in the record what kind of memory it is.
  void describe(CallScope& scope) const noexcept {
    if (on_device_ == nullptr || !scope.recording()) return;
    scope.buffer(static_cast<trace::BufferKind>(transports::inspect(on_device_).kind));
  }

 private:
  const void* on_device_ = nullptr;
  bool has_host_bytes_ = false;
  std::optional<OfferedKernel> kernel_;
  bool is_little_ = false;
  std::optional<std::uint64_t> arguments_;
  std::uint64_t message_bytes_ = 0;
  bool is_left_to_library_ = !is_gpu_in_sight();
  const char* why_library_ = "not all ranks can or would exchange it by messages";
};

}  // namespace penstock::interpose
