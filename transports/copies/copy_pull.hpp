// The pull of a copy engine or of the CPU: copies memory that this process can address into a view. Knows
// neither offers nor how the source became addressable.
#pragma once

#include <memory>

#include "transports/copies/copy.hpp"
#include "transports/copies/pull.hpp"
#include "transports/cuda/context.hpp"
#include "transports/stream_order/earlier_work.hpp"

namespace penstock::transports {

/// Memory to copy from, in one piece unless `loops` describes another layout.
struct CopySource {
  const void* pointer = nullptr;  ///< where the message begins
  std::size_t bytes = 0;
  Side side = Side::device;
  CUcontext context = nullptr;  ///< for cuMemcpyPeerAsync; null if the copying context can reach the memory
  std::shared_ptr<const void> keeper;  ///< keeps the memory mapped meanwhile
  bool is_managed = false;
  bool is_pinned = false;  ///< all of it is host memory that kernels reach
  StridedLoops loops;      ///< depth 0: in one piece
};

/// Copies from memory in one piece. Thread: one at a time.
class CopyPull final : public Pull {
 public:
  /// Copies in `context`, or by the CPU if that is null (both sides host memory).
  CopyPull(CopySource source, BufferView destination, cuda::ContextRef context);
  ~CopyPull() override;

  /// Queues the first copies, unless they would have to wait here, after the application's earlier work if
  /// the destination lies on a device.
  [[nodiscard]] Status start() noexcept;
  [[nodiscard]] Status advance(bool& finished) noexcept override;
  [[nodiscard]] bool signal_at_end(std::atomic<std::uint32_t>* flag) noexcept override;

 private:
  [[nodiscard]] Status take_stream() noexcept;
  [[nodiscard]] bool may_copy() noexcept;
  [[nodiscard]] Status issue() noexcept;
  [[nodiscard]] Status issue_copies(std::size_t bytes) noexcept;

  CopySource source_;
  BufferView destination_;
  LayoutCursor cursor_;
  cuda::ContextRef context_;
  CUstream stream_ = nullptr;
  cuda::Event copied_;
  const bool copies_block_;  ///< the caller, until all is done that they are ordered behind
  EarlierWork earlier_;
  std::size_t step_bytes_;  ///< the most that is issued at a time
  std::size_t issued_ = 0;
  bool in_flight_ = false;
};

}  // namespace penstock::transports
