// The receiver's side of a partitioned message whose partitions it copies out of the sender's buffer, each
// once it is ready. Knows notes and how another rank's memory is reached; makes no MPI call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "interpose/node/node_directory.hpp"
#include "interpose/partitioned/direct_send.hpp"
#include "interpose/partitioned/partition_notes.hpp"
#include "interpose/windows/memory/member_memory.hpp"
#include "transports/copies/pull.hpp"
#include "transports/host/status.hpp"
#include "transports/host/watch.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// Thread: one at a time.
class DirectReceive {
 public:
  /// `buffer`: the whole message's, on a device and in one piece.
  DirectReceive(const MessageName& name, const DirectoryRow& sender, transports::BufferView buffer) noexcept
      : name_(name), sender_(sender), buffer_(std::move(buffer)) {}

  /// Looks for the sender's note and decides, which is final. Maps the sender's memory, so it may take a
  /// millisecond, once. Errors: std::bad_alloc.
  [[nodiscard]] Mover mover();
  /// Begins another operation. `since_ns`: when; work that the program queues later is not waited for.
  void begin(std::uint64_t since_ns);
  /// Takes one step; never blocks. Returns true once all has arrived. A failure is the status, and the rest
  /// of the operation is not copied. Errors: std::bad_alloc.
  [[nodiscard]] bool advance(Status& status);
  /// Returns whether these bytes have arrived.
  [[nodiscard]] bool has_arrived(std::size_t begin, std::size_t end) const noexcept;

  [[nodiscard]] std::uint64_t key() const noexcept { return key_; }
  [[nodiscard]] transports::BufferKind source_kind() const noexcept { return source_kind_; }
  [[nodiscard]] bool is_own() const noexcept { return memory_->is_own(); }
  /// Returns when the last of what has begun to move did so, ns; 0: nothing has.
  [[nodiscard]] std::uint64_t last_start_ns() const noexcept { return last_start_ns_; }

 private:
  enum class Piece : std::uint8_t { awaited, moving, here };
  struct Moving {
    std::uint32_t first;
    std::uint32_t end;
    std::unique_ptr<transports::Pull> pull;
  };

  [[nodiscard]] Mover decide(const FoundNote& found);
  [[nodiscard]] bool can_reach(const PartitionNote& note);
  void step_moving(Status& status);
  void start_ready_ones(Status& status);
  void start(std::uint32_t first, std::uint32_t end, Status& status);
  void arrive(std::uint32_t first, std::uint32_t end) noexcept;
  [[nodiscard]] bool sender_is_gone(Status& status);

  const MessageName name_;
  const DirectoryRow& sender_;
  transports::BufferView buffer_;
  Mover mover_ = Mover::undecided;
  FoundNote note_;
  std::optional<MemberMemory> memory_;
  std::span<const std::atomic<std::uint32_t>> words_;
  std::size_t piece_bytes_ = 0;  ///< of one of the sender's partitions
  std::vector<Piece> pieces_;    ///< one for each of them
  std::vector<Moving> moving_;
  std::uint32_t arrived_ = 0;
  std::uint32_t begun_ = 0;
  std::uint64_t since_ns_ = 0;
  std::uint64_t last_start_ns_ = 0;
  std::uint64_t key_ = 0;
  transports::BufferKind source_kind_ = transports::BufferKind::unknown;
  transports::Watch watch_;
};

}  // namespace penstock::interpose
