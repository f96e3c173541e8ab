// Keeps blocks of the file ready before writers need them: to secure and bring in a block takes the kernel
// some hundred microseconds, which would else pass inside somebody's MPI call. Knows nothing of lanes and
// records.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>

#include "interpose/record/recording_file.hpp"

namespace penstock::record {

/// Thread: any for take() and announce_need(); one for start() and stop().
class BlockSupply {
 public:
  explicit constexpr BlockSupply(RecordingFile& file) noexcept : file_(file) {}

  /// Without start(), take() works all the same, only slower. Errors: std::system_error.
  void start();
  void stop() noexcept;

  /// A block that is ready, or else one claimed here and now.
  [[nodiscard]] ClaimedBlock take() noexcept;
  /// A writer will take one soon.
  void announce_need() noexcept;

 private:
  void prepare_blocks() noexcept;
  [[nodiscard]] std::byte* take_ready() noexcept;

  RecordingFile& file_;
  std::array<std::atomic<std::byte*>, 16> ready_{};
  std::atomic<std::uint32_t> needs_{0};  ///< announced and not yet looked at; the thread sleeps on it
  std::atomic<bool> preparing_{false};
  std::atomic<bool> stopping_{false};
  std::optional<std::thread> thread_;
};

}  // namespace penstock::record
