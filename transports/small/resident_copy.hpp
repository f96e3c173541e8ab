// A resident kernel: it stays on the GPU and makes the copies that are ordered through host memory. An order
// takes 3.8 µs to its end, where the copy engine takes 7.4 and more (H200, NVLink, up to 4 KiB). One block is
// enough for small copies; several share larger ones. The kernel leaves by itself: soon after the program's
// thread has left its MPI call, as that thread may then wait for the device, and after a bounded time in any
// case. Knows neither messages nor when to use it.
#pragma once

#include <cstdint>

#include "transports/copies/copy_kernels.hpp"
#include "transports/cuda/completion_flag.hpp"
#include "transports/cuda/context.hpp"
#include "transports/host/watch.hpp"
#include "transports/small/resident_orders.hpp"

namespace penstock::transports {

/// The resident kernel of one context, which can have one. One launch at a time, one order at a time. Owns
/// nothing on the GPU but the kernel's run: is_over() must hold before this is destroyed. Thread: one at a
/// time.
class ResidentCopy {
 public:
  explicit ResidentCopy(cuda::ContextRef context) noexcept : context_(std::move(context)) {}

  /// The share of the device that the kernel takes.
  enum class Size : std::uint8_t {
    one_block,       ///< for orders up to kernels::largest_order
    several_blocks,  ///< for shared orders, too
  };
  /// Launches the kernel; is_over() must hold. `known`: any memory of the context's device. Cost: some µs.
  /// Errors: `declined` if kernels cannot run; out_of_memory; the driver's refusal.
  [[nodiscard]] Status launch(const void* known, const kernels::ResidentLimits& stay,
                              Size size = Size::one_block) noexcept;

  /// True if the kernel runs, has nothing to do, and has not reported that it leaves.
  [[nodiscard]] bool is_ready() const noexcept;
  /// The same, for this order: takes() it, and the launch has the blocks for it.
  [[nodiscard]] bool is_ready_for(const void* to, const void* from, std::uint64_t bytes) const noexcept;
  [[nodiscard]] bool is_ready_for(const CopyItem& item) const noexcept;
  [[nodiscard]] bool is_ready_for(const OneShotOrder& collective) const noexcept;
  /// The same, for a download or an upload.
  [[nodiscard]] bool is_ready_for_host(const void* device, std::uint64_t bytes) const noexcept;
  /// True if there is no launch, or it will touch nothing any more. Queries the driver now and then.
  [[nodiscard]] bool is_over() noexcept;

  /// Returns whether a kernel of sufficient size can execute the order: not empty, not too large, at
  /// addresses of user space, and aligned if it must be shared.
  [[nodiscard]] static bool takes(const void* to, const void* from, std::uint64_t bytes) noexcept;
  /// Returns whether several blocks share the order, if the launch has several.
  [[nodiscard]] static bool is_shared(const void* to, const void* from, std::uint64_t bytes) noexcept;
  /// Orders a copy, only if is_ready_for() it. Kernels of the context must reach source and target.
  void order(void* to, const void* from, std::uint32_t bytes) noexcept;
  /// The same for layouts in pieces.
  [[nodiscard]] static bool takes(const CopyItem& item) noexcept;
  [[nodiscard]] static bool is_shared(const CopyItem& item) noexcept;
  void order(const CopyItem& item) noexcept;
  /// The same if one side is host memory, which no kernel need reach: at most kernels::bounce_bytes. Part of
  /// the bytes may be at `to` before the outcome is known; `from` is read at once.
  void order_download(void* to, const void* from, std::uint32_t bytes) noexcept;
  void order_upload(void* to, const void* from, std::uint32_t bytes) noexcept;
  /// The same for a one-shot collective with other processes' kernels. `copied` means that it has ended.
  void order(const OneShotOrder& collective) noexcept;
  /// After such an order: others were late or sent something else.
  [[nodiscard]] bool was_incomplete() const noexcept;
  /// The same for an update in place.
  [[nodiscard]] bool is_ready_for(const UpdateOrder& update) const noexcept;
  void order(const UpdateOrder& update) noexcept;
  enum class Outcome : std::uint8_t {
    pending,
    copied,
    missed,  ///< the kernel left without having executed all of the order, and will touch nothing any more
  };
  /// Returns the outcome of the last order. Errors: the kernel, or work before it, has failed; what it
  /// touched is unknown.
  [[nodiscard]] Status query(Outcome& outcome) noexcept;

  /// Orders the kernel to leave, without waiting for it. Not while an order is pending.
  void dismiss() noexcept;

  /// True until query() has seen the last order end.
  [[nodiscard]] bool has_order() const noexcept { return is_pending_; }
  /// The number of orders that the last launch has executed.
  [[nodiscard]] std::uint32_t orders_of_launch() const noexcept { return orders_of_launch_; }
  [[nodiscard]] const cuda::ContextRef& context() const noexcept { return context_; }

 private:
  /// The bytes of a download that are in flight.
  struct Download {
    char* to = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t come = 0;   ///< of a stamped one: bytes that have arrived
    bool is_stamped = false;  ///< in the mailbox' words; else in the bounce buffer
  };

  /// Begins an order by counting it. tell() then writes it, in the form of kernels::ResidentOrder.
  void count() noexcept;
  void write_beside(const std::uint32_t (&words)[kernels::words_beside], std::uint32_t count) noexcept;
  /// For more than kernels::largest_order bytes, `to` and `from` carry the upper bits of the size.
  void order_between(std::uint64_t to, std::uint64_t from, std::uint32_t bytes,
                     bool is_shared = false) noexcept;
  void order_shared(std::uint64_t to, std::uint64_t from, std::uint32_t bytes) noexcept;
  void give(std::uint64_t to, std::uint64_t from) noexcept;
  void tell(std::uint64_t to, std::uint64_t from) noexcept;
  /// Marks the contents of the mailbox as belonging to the last counted order.
  void forget_earlier_orders() noexcept;
  [[nodiscard]] bool shares() const noexcept;
  /// True if all its blocks have executed the last order, and its download, if any, is at its target.
  [[nodiscard]] bool is_done() noexcept;
  [[nodiscard]] bool has_come_down() noexcept;
  /// Returns whether the stream has ended. Queries every 100 µs.
  [[nodiscard]] Status look_for_end(bool& ended) noexcept;

  cuda::ContextRef context_;
  cuda::CompletionFlag counters_;                ///< for its slot
  kernels::ResidentMailbox* mailbox_ = nullptr;  ///< null before the first launch
  char* bounce_ = nullptr;                       ///< as the mailbox
  CUstream stream_ = nullptr;
  Watch watch_{std::chrono::microseconds(100)};
  std::uint32_t launch_ = 0;   ///< the latest
  std::uint64_t from_ = 0;     ///< the latest order's, without the caller's bits
  std::uint32_t orders_ = 0;   ///< the latest order's count; wraps after 2^32
  std::uint32_t sharers_ = 1;  ///< blocks that execute the latest order
  Download download_;          ///< the latest order's; no bytes if it has none
  std::uint32_t orders_of_launch_ = 0;
  bool is_pending_ = false;  ///< an order
  bool has_failed_ = false;  ///< the kernel is not used any more
};

}  // namespace penstock::transports
