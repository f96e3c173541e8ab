// A kernel that stands by on the GPU and copies what it is told through host memory: 3.8 µs from the order to
// its end, where the copy engine takes 7.4 and more (H200, NVLink, up to 4 KiB). One block of it is enough
// for small copies; several share larger ones. It leaves by itself: soon after the program's thread has left
// its MPI call, as that may wait for the device then, and after a bounded time in any case. Knows neither
// messages nor when to use it.
#pragma once

#include <cstdint>

#include "transports/copies/copy_kernels.hpp"
#include "transports/cuda/completion_flag.hpp"
#include "transports/cuda/context.hpp"
#include "transports/host/watch.hpp"
#include "transports/small/small_copies.hpp"

namespace penstock::transports {

/// The kernel of one context, which can have one at a time. One launch at a time, one order at a time. Owns
/// nothing on the GPU but the kernel's run: who lets go of it must have seen is_over(). Thread: one at a
/// time.
class StandbyCopy {
 public:
  explicit StandbyCopy(cuda::ContextRef context) noexcept : context_(std::move(context)) {}

  /// How much of the device it takes.
  enum class Size : std::uint8_t {
    one_block,       ///< for orders of kernels::largest_order
    several_blocks,  ///< for shared orders, too
  };
  /// Launches the kernel; is_over() must hold. `known`: any memory of the context's device. Cost: some µs.
  /// Errors: `declined` where kernels cannot run; out_of_memory; the driver's refusal.
  [[nodiscard]] Status launch(const void* known, const kernels::StandbyStay& stay,
                              Size size = Size::one_block) noexcept;

  /// It runs, has nothing to do, and has not said that it leaves.
  [[nodiscard]] bool is_ready() const noexcept;
  /// The same, for an order of that kind, which takes() it.
  [[nodiscard]] bool is_ready_for(const void* to, const void* from, std::uint64_t bytes) const noexcept;
  [[nodiscard]] bool is_ready_for(const CopyItem& item) const noexcept;
  [[nodiscard]] bool is_ready_for(const FusedOrder& collective) const noexcept;
  /// The same, for a download or an upload.
  [[nodiscard]] bool is_ready_for_host(const void* device, std::uint64_t bytes) const noexcept;
  /// There is no launch, or it will touch nothing any more. Asks the driver now and then.
  [[nodiscard]] bool is_over() noexcept;

  /// Can be ordered of a kernel that has the size for it: not empty, not too large, at addresses of user
  /// space, and aligned if it must be shared.
  [[nodiscard]] static bool takes(const void* to, const void* from, std::uint64_t bytes) noexcept;
  /// By several blocks, where there are so many.
  [[nodiscard]] static bool is_shared(const void* to, const void* from, std::uint64_t bytes) noexcept;
  /// Orders a copy, only if is_ready_for() it. Source and target: memory that kernels of the context reach.
  void order(void* to, const void* from, std::uint32_t bytes) noexcept;
  /// The same for layouts in pieces.
  [[nodiscard]] static bool takes(const CopyItem& item) noexcept;
  [[nodiscard]] static bool is_shared(const CopyItem& item) noexcept;
  void order(const CopyItem& item) noexcept;
  /// The same, where host memory, which no kernel need reach, is one side: at most kernels::bounce_bytes.
  /// What goes to `to` may be there in part before the outcome is known; `from` is read at once.
  void order_download(void* to, const void* from, std::uint32_t bytes) noexcept;
  void order_upload(void* to, const void* from, std::uint32_t bytes) noexcept;
  /// The same for a collective with other processes' kernels. `copied` means that it has ended.
  void order(const FusedOrder& collective) noexcept;
  /// After that: it ended because the others were late.
  [[nodiscard]] bool was_incomplete() const noexcept;
  enum class Outcome : std::uint8_t {
    pending,
    copied,
    missed,  ///< it left without having executed the order, or all of it: nothing will be touched any more
  };
  /// What became of the last order. Error: the kernel, or work before it, has failed; what it touched is
  /// unknown.
  [[nodiscard]] Status query(Outcome& outcome) noexcept;

  /// Tells it to leave, without waiting for it. Not while an order is pending.
  void dismiss() noexcept;

  /// The last order has not been seen to end, by query().
  [[nodiscard]] bool has_order() const noexcept { return is_pending_; }
  /// Orders that the last launch has executed.
  [[nodiscard]] std::uint32_t orders_of_launch() const noexcept { return orders_of_launch_; }
  [[nodiscard]] const cuda::ContextRef& context() const noexcept { return context_; }

 private:
  /// A download's bytes that are on their way.
  struct Download {
    char* to = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t come = 0;   ///< of a stamped one
    bool is_stamped = false;  ///< in the mailbox' words; else in the bounce buffer
  };

  /// Begins an order: counts it. Then tell() of it, as kernels::StandbyOrder says.
  void count() noexcept;
  void write_beside(const std::uint32_t (&words)[kernels::words_beside], std::uint32_t count) noexcept;
  /// Of more than kernels::largest_order bytes `to` and `from` say the rest.
  void order_between(std::uint64_t to, std::uint64_t from, std::uint32_t bytes,
                     bool is_shared = false) noexcept;
  void order_shared(std::uint64_t to, std::uint64_t from, std::uint32_t bytes) noexcept;
  void give(std::uint64_t to, std::uint64_t from) noexcept;
  void tell(std::uint64_t to, std::uint64_t from) noexcept;
  /// Whatever stands in the mailbox is of the last order that was counted.
  void forget_earlier_orders() noexcept;
  [[nodiscard]] bool shares() const noexcept;
  /// The last order has been executed by all who had to, and what it brought down is where it belongs.
  [[nodiscard]] bool is_done() noexcept;
  [[nodiscard]] bool has_come_down() noexcept;
  /// Has the stream come to an end? Looks every 100 µs.
  [[nodiscard]] Status look_for_end(bool& ended) noexcept;

  cuda::ContextRef context_;
  cuda::CompletionFlag counters_;               ///< for its slot
  kernels::StandbyMailbox* mailbox_ = nullptr;  ///< null before the first launch
  char* bounce_ = nullptr;                      ///< as the mailbox
  CUstream stream_ = nullptr;
  Watch watch_{std::chrono::microseconds(100)};
  std::uint32_t launch_ = 0;   ///< the latest
  std::uint64_t from_ = 0;     ///< the latest order's, without the caller's bits
  std::uint32_t orders_ = 0;   ///< its count; begins again after 2^32
  std::uint32_t sharers_ = 1;  ///< blocks that execute it
  Download download_;          ///< by it; else of no bytes
  std::uint32_t orders_of_launch_ = 0;
  bool is_pending_ = false;  ///< an order
  bool has_failed_ = false;  ///< it is not used any more
};

}  // namespace penstock::transports
