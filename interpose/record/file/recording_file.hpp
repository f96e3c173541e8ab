// Maps the file of one rank's recording into memory and lets writers claim its blocks. The file grows block
// by block. A block's space is reserved before it is touched, so that a full disk is an error code and never
// a SIGBUS, and nothing needs trimming at the end. Knows records only as bytes, and no writers.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/record/trace_format.hpp"

namespace penstock::record {

enum class Refusal : std::uint8_t {
  none,
  limit,     ///< the file has reached its limit
  no_space,  ///< the file system or RLIMIT_FSIZE allows no more; see `error`
  not_ours,  ///< this is a forked child, or the program closed our descriptor
};

struct ClaimedBlock {
  std::byte* begin = nullptr;  ///< trace::block_bytes long, all zero
  Refusal refusal = Refusal::none;
  int error = 0;  ///< errno
};

/// Owns the descriptor and the mapping, and keeps both until the process ends, as a thread may write even
/// while the recording ends. Thread: any, after create().
class RecordingFile {
 public:
  /// Returns 0 or errno; EEXIST: a file of that name exists, and stays.
  [[nodiscard]] int create(const char* path, std::uint64_t limit_bytes) noexcept;

  /// Returns a block by which the file grows.
  [[nodiscard]] ClaimedBlock claim_block() noexcept;
  /// Returns the number of blocks that the limit allows.
  [[nodiscard]] std::uint64_t most_blocks() const noexcept { return block_limit_; }
  /// Numbers the blocks as they are begun.
  [[nodiscard]] std::uint64_t next_sequence() noexcept {
    return next_sequence_.fetch_add(1, std::memory_order_relaxed) + 1;
  }

  /// Returns the mapped header, part of the file. Several threads change counters by add().
  [[nodiscard]] trace::FileHeader& header() noexcept {
    return *reinterpret_cast<trace::FileHeader*>(mapping_);
  }
  /// Returns a slot of the header's table of open calls.
  [[nodiscard]] trace::OpenCall& open_call(std::uint32_t slot) noexcept {
    return reinterpret_cast<trace::OpenCall*>(mapping_ + trace::open_calls_offset)[slot];
  }
  /// Notes that the process is alive now.
  void note_life() noexcept;
  static void add(std::uint64_t& header_field, std::uint64_t amount) noexcept {
    std::atomic_ref<std::uint64_t>(header_field).fetch_add(amount, std::memory_order_relaxed);
  }
  static void lower(std::uint64_t& header_field, std::uint64_t value) noexcept {
    const std::atomic_ref<std::uint64_t> shared(header_field);
    std::uint64_t seen = shared.load(std::memory_order_relaxed);
    while (value < seen && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
  }

  [[nodiscard]] bool is_open() const noexcept { return mapping_ != nullptr; }
  /// Returns false in a forked child.
  [[nodiscard]] bool belongs_to_this_process() const noexcept;

 private:
  [[nodiscard]] bool descriptor_is_still_ours() const noexcept;
  [[nodiscard]] int secure(std::uint64_t offset, std::uint64_t bytes) const noexcept;

  std::byte* mapping_ = nullptr;
  std::uint64_t block_limit_ = 0;
  std::atomic<std::uint64_t> next_block_{0};
  std::atomic<std::uint64_t> next_sequence_{0};
  int descriptor_ = -1;
  pid_t process_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace penstock::record
