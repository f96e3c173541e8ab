// The sender's side of a partitioned message whose receiver copies the partitions out of the buffer. Knows
// notes and ready words; makes no MPI call.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "interpose/node/node_directory.hpp"
#include "interpose/partitioned/partition_notes.hpp"
#include "transports/host/status.hpp"
#include "transports/host/watch.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// Who moves a message.
enum class Mover : std::uint8_t {
  undecided,  ///< the other side has not shown what it has
  library,
  receiver,
};

/// Owns the note. Thread: one at a time; signal() any, for different partitions.
class DirectSend {
 public:
  /// Shows a buffer that others can read, in one piece. `words`: one for each partition; they outlive it.
  DirectSend(const MessageName& name, const DirectoryRow& receiver, const transports::BufferView& buffer,
             const ReadyWords& words) noexcept;
  ~DirectSend();
  DirectSend(const DirectSend&) = delete;
  DirectSend& operator=(const DirectSend&) = delete;

  /// Returns why the buffer could not be shown, or nothing.
  [[nodiscard]] const char* why_not() const noexcept { return why_not_; }
  /// Looks for the receiver's decision, which is final.
  [[nodiscard]] Mover mover() noexcept;
  /// Begins another operation, once no partition is marked ready. `key`: for its record.
  void begin(std::uint64_t key) noexcept;
  /// Returns true once the receiver has all partitions, or is gone: then with a status.
  [[nodiscard]] bool is_over(Status& status) noexcept;

 private:
  const MessageName name_;
  const DirectoryRow& receiver_;
  const transports::ProcessIdentity receiver_process_;
  FoundNote note_;
  const char* why_not_ = "";
  std::uint32_t begun_ = 0;
  transports::Watch watch_;
};

/// Sets the words of partitions that the program has marked ready once the work is done that it had queued
/// before. Thread: any, for different partitions.
void signal_partitions(const transports::Buffer& buffer, std::span<const int> partitions,
                       std::span<std::atomic<std::uint32_t>> words) noexcept;

}  // namespace penstock::interpose
