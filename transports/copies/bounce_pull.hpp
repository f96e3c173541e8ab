// The pull of a copy engine into pageable host memory, which it cannot reach at full speed: it goes through a
// ring of pinned chunks, which several cores empty behind it. Knows neither offers nor how the source became
// addressable.
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "transports/copies/copy_pull.hpp"
#include "transports/device_memory/pinned_memory.hpp"

namespace penstock::transports {

/// Thread: one at a time. The caller's part of emptying one chunk takes some 100 µs.
class BouncePull final : public Pull {
 public:
  /// Prepares a pull from device memory that `context` can address.
  BouncePull(CopySource source, BufferView destination, cuda::ContextRef context);
  ~BouncePull() override;

  /// Queues the first copies, unless too many other pulls are at work: it then waits until one of them ends.
  /// Errors: `declined` if no memory could be pinned.
  [[nodiscard]] Status start() noexcept;
  [[nodiscard]] Status advance(bool& finished) noexcept override;

 private:
  [[nodiscard]] Status begin() noexcept;
  [[nodiscard]] Status begin_late() noexcept;
  void end() noexcept;
  [[nodiscard]] Status fill_free_chunks() noexcept;
  [[nodiscard]] std::size_t steps() const noexcept;
  [[nodiscard]] std::size_t step_bytes(std::size_t step) const noexcept;

  CopySource source_;
  BufferView destination_;
  LayoutCursor cursor_;
  cuda::ContextRef context_;
  std::size_t step_bytes_;
  CUstream stream_ = nullptr;
  cuda::Bounce::Loan bounce_;
  std::array<cuda::Event, cuda::Bounce::depth> copied_;
  std::size_t queued_ = 0;  ///< these are counted in steps
  std::size_t emptied_ = 0;
  bool is_at_work_ = false;
  std::optional<CopyPull> by_driver_;  ///< used if no memory could be pinned when this pull's turn came
};

}  // namespace penstock::transports
