// The buffers of a collective on this rank, and the vote (library, messages, kernels) that follows from them.
// This header knows no single collective.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "interpose/calls/call_scope.hpp"
#include "interpose/collectives/agreement/meeting_between_nodes.hpp"
#include "interpose/collectives/kernels/one_shot_work.hpp"
#include "interpose/node/gpu_in_sight.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/node/vote_slots.hpp"
#include "interpose/staging/staged_call.hpp"
#include "transports/cuda/context.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/machine.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {

/// A value; refers to nothing.
class CollectiveBuffers {
 public:
  /// Adds the blocks of a buffer, unless it is MPI_IN_PLACE.
  template <typename BlocksThere>
  void add(const void* buffer, const BlocksThere& blocks) noexcept {
    if (is_left_to_library_ || buffer == MPI_IN_PLACE) return;
    if (!blocks.are_valid()) return leave_to_library();
    // absolute addresses are not inspected
    if (buffer == MPI_BOTTOM && blocks.bytes() != 0)
      return leave_to_library("its buffers are given by absolute addresses (MPI_BOTTOM)");
    if (lies_on_device(buffer)) {
      on_device_ = buffer;
    } else {
      has_host_bytes_ = has_host_bytes_ || !blocks.are_empty();
    }
  }
  /// Adds a buffer that is known to be on a device.
  void add_on_device(const void* buffer) noexcept {
    if (!is_left_to_library_) on_device_ = buffer;
  }
  /// Votes by the size of `blocks` blocks for or from other ranks, `in_all()` bytes together. A small
  /// exchange is faster through host memory, and so is a larger one if other ranks share the GPU.
  template <typename Bytes>
  void weigh(int blocks, Bytes in_all) noexcept {
    if (is_left_to_library_ || on_device_ == nullptr) return;
    const std::uint64_t bytes = in_all();
    message_bytes_ = bytes / static_cast<std::uint64_t>(std::max(blocks, 1));
    const bool library_is_faster = bytes < policy::least_exchanged_bytes;
    if (kernel_) {
      // if ranks know only their own sizes, it may not be small on the others
      library_is_faster_ = library_is_faster && !kernel_->work.parts.is_checked;
    } else if (library_is_faster) {
      leave_to_library(too_small);
    } else if (!transports::tuning().exchanges_on_shared_gpu(bytes) &&
               transports::is_on_shared_gpu(on_device_)) {
      leave_to_library(shared_gpu);
    }
  }
  /// Sets the size of the messages, where weigh() is not called.
  template <typename Bytes>
  void measure(Bytes bytes_of_a_message) noexcept {
    if (!is_left_to_library_ && on_device_ != nullptr) message_bytes_ = bytes_of_a_message();
  }
  /// Sets what must be equal on all ranks, which would otherwise wait for each other.
  void sign(std::uint64_t arguments) noexcept { arguments_ = arguments; }
  /// Votes for the library: messages cannot carry out the call, or not as fast, or the MPI library will
  /// refuse it. `why`: a literal.
  void leave_to_library(const char* why = "Penstock has no algorithm for such a call") noexcept {
    if (!is_left_to_library_) why_library_ = why;
    is_left_to_library_ = true;
  }
  static constexpr const char* too_small = "small: faster through the MPI library";
  static constexpr const char* shared_gpu =
      "small, and ranks share a GPU, where their kernels and copies take turns";
  /// Returns why the MPI library carries it out, if it does.
  [[nodiscard]] const char* why_library() const noexcept {
    return library_is_faster_ ? too_small : why_library_;
  }

  [[nodiscard]] Vote vote() const noexcept {
    if (is_left_to_library_ || !settings().move) return Vote::library;
    if (on_device_ == nullptr) return Vote::any;
    return kernel_ ? Vote::kernels : Vote::messages;
  }
  [[nodiscard]] Proposal proposal() const noexcept { return {vote(), arguments_, message_bytes_}; }
  /// Returns one of the buffers in a GPU's memory; null: none is.
  [[nodiscard]] const void* on_device() const noexcept { return on_device_; }
  /// Returns whether some of the bytes are in host memory.
  [[nodiscard]] bool have_host_bytes() const noexcept { return has_host_bytes_; }
  /// Offers a kernel on each rank. `library_is_faster`: without kernels the MPI library is better, on all
  /// ranks.
  void offer_kernel(OfferedKernel kernel, bool library_is_faster) noexcept {
    kernel_ = std::move(kernel);
    library_is_faster_ = library_is_faster;
  }
  /// Withdraws the kernel.
  void withdraw_kernel() noexcept {
    kernel_.reset();
    if (library_is_faster_) leave_to_library(too_small);
  }
  /// The kernel offered, if this rank votes for kernels.
  [[nodiscard]] const std::optional<OfferedKernel>& kernel() const noexcept { return kernel_; }
  [[nodiscard]] bool library_is_faster() const noexcept { return library_is_faster_; }
  /// Records the kind of memory.
  void record_kind(CallScope& scope) const noexcept {
    if (on_device_ == nullptr || !scope.recording()) return;
    scope.buffer(static_cast<trace::BufferKind>(transports::inspect(on_device_).kind));
  }

 private:
  const void* on_device_ = nullptr;
  bool has_host_bytes_ = false;
  std::optional<OfferedKernel> kernel_;
  bool library_is_faster_ = false;
  std::optional<std::uint64_t> arguments_;
  std::uint64_t message_bytes_ = 0;
  bool is_left_to_library_ = !is_gpu_in_sight();
  const char* why_library_ = "some rank needs or prefers the MPI library";
};

}  // namespace penstock::interpose
