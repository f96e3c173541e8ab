// Keeps blocks of the file ready before writers need them. The kernel takes some hundred microseconds to
// reserve a block and map its pages, which would otherwise pass inside an MPI call. Its thread also notes in
// the header that the process is alive. Knows no lanes and no records.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <semaphore>
#include <thread>

#include "interpose/record/file/recording_file.hpp"
#include "interpose/record/file/retired_blocks.hpp"

namespace penstock::record {

/// Thread: any for take() and announce_need(); one for start() and stop().
class BlockSupply {
 public:
  constexpr BlockSupply(RecordingFile& file, RetiredBlocks& retired) noexcept
      : file_(file), retired_(retired) {}

  /// Starts the thread; without it, take() is only slower. Errors: std::system_error.
  void start();
  void stop() noexcept;

  /// Returns a block that is ready, or claims one now.
  [[nodiscard]] ClaimedBlock take() noexcept;
  /// Announces that a writer will take a block soon.
  void announce_need() noexcept;

 private:
  void prepare_blocks() noexcept;
  /// Returns a block that is needed no more, else one by which the file grows, else the oldest one.
  [[nodiscard]] ClaimedBlock claim() noexcept;
  [[nodiscard]] std::byte* take_ready() noexcept;

  RecordingFile& file_;
  RetiredBlocks& retired_;
  std::array<std::atomic<std::byte*>, 16> ready_{};
  /// Counts what was announced and not yet handled; the thread sleeps on it. From start() on.
  std::optional<std::counting_semaphore<>> needs_;
  std::atomic<bool> preparing_{false};
  std::atomic<bool> stopping_{false};
  std::optional<std::thread> thread_;
};

}  // namespace penstock::record
