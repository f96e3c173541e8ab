// MPI_Scan and MPI_Exscan of vectors in device memory, combined by the GPU. This header knows the algorithms,
// not which MPI call uses them.
//
// Small scans are direct: each rank gets the vectors of all ranks before it, and combines them at once. Large
// ones are a chain, piece by piece: each rank combines the result of the rank before it with its own vector
// and passes that on, so that each rank receives and sends one vector, whatever their number. Both forms
// combine elements in the order of the ranks, from the first on.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include "interpose/collectives/schedules/message_schedule.hpp"
#include "interpose/collectives/schedules/reduction_shape.hpp"
#include "interpose/collectives/schedules/schedule.hpp"
#include "interpose/collectives/schedules/scratch_memory.hpp"
#include "interpose/node/policy.hpp"
#include "transports/reduction/device_reduction.hpp"

namespace penstock::interpose {

/// The vectors that make up a rank's result: those of the ranks up to itself, or of those before it.
enum class Prefix : unsigned char { inclusive, exclusive };

/// The facts of a scan that all its ranks know alike. A value.
struct ScanShape {
  ReductionShape vectors;
  std::size_t count = 0;  ///< elements
  Prefix prefix = Prefix::inclusive;

  [[nodiscard]] bool goes_straight() const noexcept;
  /// Returns whether this rank passes on what it has combined.
  [[nodiscard]] bool passes_on() const noexcept;
  [[nodiscard]] bool is_first() const noexcept { return vectors.rank == 0; }
  /// Elements of a piece, and how many pieces are in flight at a time.
  [[nodiscard]] std::size_t piece() const noexcept;
  [[nodiscard]] std::size_t pieces() const noexcept { return (count + piece() - 1) / piece(); }
  [[nodiscard]] std::size_t depth() const noexcept;
  /// Number of vectors that this rank receives for a piece.
  [[nodiscard]] std::size_t sources() const noexcept;
  /// The first rank combines nothing, and needs none.
  [[nodiscard]] std::size_t scratch_bytes() const noexcept;
};

/// `own` is this rank's vector, `result` where its prefix goes: nowhere for the first rank's exclusive one.
/// Both may be the same.
class ScanSchedule final : public Schedule {
 public:
  ScanSchedule(const ScanShape& shape, std::optional<ScratchMemory> scratch, const void* own, void* result);

  void outlive_the_call() override {}
  [[nodiscard]] bool may_begin() const override;
  [[nodiscard]] std::unique_ptr<ScheduleRun> begin(const CallScope& scope, TagRange tags) const override;

 private:
  friend class ScanRun;
  ScanShape shape_;
  std::optional<ScratchMemory> scratch_;  ///< none: the first rank
  const std::byte* own_;
  std::byte* result_;
};

/// One scan. Each piece arrives, is combined, and is passed on if another rank waits for it. Pieces take each
/// step in order, as messages between two ranks are matched in order.
class ScanRun final : public ScheduleRun {
 public:
  ScanRun(const ScanSchedule& schedule, const CallScope& scope, TagRange tags);
  [[nodiscard]] bool step(const CallScope& scope) override;
  /// The combined elements are for the others, and combining completes by itself.
  [[nodiscard]] bool is_owed() const override;

 private:
  struct Piece {
    std::unique_ptr<MessageRun> coming;
    std::unique_ptr<transports::DeviceReduction> reduction;
    std::unique_ptr<MessageRun> leaving;
  };

  [[nodiscard]] const ScanShape& shape() const noexcept { return schedule_.shape_; }
  [[nodiscard]] std::size_t offset(std::size_t index) const noexcept;
  [[nodiscard]] std::size_t elements(std::size_t index) const noexcept;
  [[nodiscard]] Piece& piece(std::size_t index) noexcept { return under_way_[index % shape().depth()]; }
  [[nodiscard]] std::byte* slot(std::size_t index, std::size_t source) const noexcept;
  [[nodiscard]] std::byte* outgoing(std::size_t index) const noexcept;

  void step_messages(const CallScope& scope);
  void post(const CallScope& scope);
  void combine();
  void hand_on(const CallScope& scope);
  [[nodiscard]] bool is_combined();
  [[nodiscard]] bool may_send(const std::byte* from);
  [[nodiscard]] bool advance(const CallScope& scope);

  const ScanSchedule& schedule_;
  TagRange tags_;
  std::array<Piece, policy::most_scanned_pieces> under_way_;
  // number of pieces that have taken each step
  std::size_t posted_ = 0;
  std::size_t combined_ = 0;
  std::size_t handed_on_ = 0;
  std::size_t over_ = 0;
  std::unique_ptr<MessageRun> kept_;  ///< copies the first rank's result if it is not in place
  SendWait send_wait_;
};

}  // namespace penstock::interpose
