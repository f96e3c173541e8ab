// Lends buffers to CUPTI, which fills and returns them; one thread reads them, and they are used again. CUPTI
// requests them inside the application's CUDA calls, so that must be quick and take no lock that is held
// across a call of CUPTI. Knows no record.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace penstock::record {

struct FilledBuffer {
  std::uint8_t* begin = nullptr;
  std::size_t bytes = 0;
};

/// Owns the buffers. Thread: any.
class ActivityBuffers {
 public:
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
  static constexpr std::size_t most_buffers = 64;
  static constexpr std::size_t spare_buffers = 4;

  ActivityBuffers();

  /// Makes `spare_buffers` ready, pages touched, so that the next requests allocate nothing.
  void top_up() noexcept;
  /// Returns null if `most_buffers` are on loan: CUPTI then drops records and counts them.
  [[nodiscard]] std::uint8_t* take_empty() noexcept;
  void put_filled(FilledBuffer buffer) noexcept;
  void put_empty(std::uint8_t* buffer) noexcept;
  /// Takes all filled buffers, oldest first. Returns their number.
  [[nodiscard]] std::size_t take_filled(std::span<FilledBuffer, most_buffers> out) noexcept;

  /// Waits until a buffer is filled, wake() is called or the time is over.
  void wait(std::chrono::milliseconds time) noexcept;
  void wake() noexcept;

 private:
  struct Free {
    void operator()(std::uint8_t* buffer) const noexcept;
  };
  using Buffer = std::unique_ptr<std::uint8_t, Free>;
  [[nodiscard]] static Buffer make() noexcept;

  std::mutex mutex_;  ///< innermost: no other lock is taken under it
  std::condition_variable changed_;
  std::vector<Buffer> all_;  ///< all three vectors reserve room for all buffers
  std::vector<std::uint8_t*> empty_;
  std::vector<FilledBuffer> filled_;
  bool woken_ = false;
};

}  // namespace penstock::record
