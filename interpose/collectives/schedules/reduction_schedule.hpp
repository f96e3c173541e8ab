// Reductions of vectors in device memory: messages bring the other ranks' parts into memory of Penstock's
// own, and a kernel combines them. This header knows the algorithms, not which MPI call uses them.
//
// Elements are combined in the order of the ranks; with more than eight ranks the rank that combines an
// element is the first. Over several nodes each node's vectors are combined first, and then those of the
// nodes. Therefore the bits are the same from run to run, and on all ranks.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "interpose/calls/call_scope.hpp"
#include "interpose/collectives/schedules/message_schedule.hpp"
#include "interpose/collectives/schedules/node_map.hpp"
#include "interpose/collectives/schedules/reduction_shape.hpp"
#include "interpose/collectives/schedules/schedule.hpp"
#include "interpose/collectives/schedules/scratch_memory.hpp"
#include "transports/host/status.hpp"

namespace penstock::interpose {

/// Elements of a vector.
struct ElementRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// The vectors to combine, and where the result goes. `own` is this rank's vector.
class ReductionSchedule final : public Schedule {
 public:
  /// Combines all vectors, to all ranks. `result` may be `own`.
  [[nodiscard]] static ReductionSchedule all_to_all(const ReductionShape& shape,
                                                    std::optional<ScratchMemory> scratch, const void* own,
                                                    void* result, std::size_t count);
  /// The two stages of a reduction over several nodes with as many ranks each.
  struct NodeShapes {
    ReductionShape within;   ///< the ranks of this node
    ReductionShape between;  ///< this rank and its counterparts on the other nodes
  };
  [[nodiscard]] static NodeShapes shapes_of(const ReductionShape& shape, const NodeMap& map);
  /// The scratch that a rank needs for both stages, which follow each other, and the elements of a message
  /// between nodes.
  [[nodiscard]] static std::size_t scratch_bytes(const NodeShapes& shapes, std::size_t count);
  [[nodiscard]] static std::size_t largest_at_a_time(const NodeShapes& shapes, std::size_t count);
  /// Does the same as all_to_all(): each rank combines its share of the node's vectors, then with its
  /// counterparts that of all nodes', and the node's ranks gather the shares. A vector crosses between two
  /// nodes once, however many ranks they have, and all ranks send and receive.
  [[nodiscard]] static ReductionSchedule all_to_all_over_nodes(const NodeShapes& shapes,
                                                               std::optional<ScratchMemory> scratch,
                                                               const void* own, void* result,
                                                               std::size_t count);
  /// To the root only, which alone has `scratch` and `result`. `result` may be `own`.
  [[nodiscard]] static ReductionSchedule all_to_root(const ReductionShape& shape,
                                                     std::optional<ScratchMemory> scratch, const void* own,
                                                     void* result, std::size_t count, int root);
  /// Combines each rank's range, to that rank. `result` holds this rank's range and nothing else; it may
  /// begin where `own` does, but must not lie elsewhere in it.
  [[nodiscard]] static ReductionSchedule scatter(const ReductionShape& shape,
                                                 std::optional<ScratchMemory> scratch, const void* own,
                                                 void* result, std::vector<ElementRange> ranges);
  /// The scratch that a rank needs to combine ranges of `largest` elements at a time.
  [[nodiscard]] static std::size_t scratch_bytes(const ReductionShape& shape, std::size_t largest);
  /// Elements that a rank of all_to_all() combines at a time.
  [[nodiscard]] static std::size_t largest_at_a_time(const ReductionShape& shape, std::size_t count);

  void outlive_the_call() override {}
  [[nodiscard]] bool may_begin() const override;
  [[nodiscard]] std::unique_ptr<ScheduleRun> begin(const CallScope& scope, TagRange tags) const override;

 private:
  friend class ReductionRun;
  using SharedScratch = std::shared_ptr<const ScratchMemory>;
  [[nodiscard]] static ReductionSchedule all_to_all_in(const ReductionShape& shape, SharedScratch scratch,
                                                       const void* own, void* result, std::size_t count);
  ReductionSchedule(const ReductionShape& shape, SharedScratch scratch, const void* own, void* result,
                    std::vector<ElementRange> ranges);
  void gather_into(std::byte* all) noexcept;
  [[nodiscard]] const ElementRange& own_range() const noexcept {
    return ranges_[static_cast<std::size_t>(shape_.rank)];
  }

  ReductionShape shape_;
  SharedScratch scratch_;  ///< null: this rank combines nothing
  const std::byte* own_;
  std::byte* result_;                                 ///< where this rank's range goes
  std::vector<ElementRange> ranges_;                  ///< what each rank combines
  std::byte* gathered_ = nullptr;                     ///< where all ranges go in the end; null: nowhere
  std::unique_ptr<const ReductionSchedule> between_;  ///< before that, for this rank's range; null: nothing
};

/// One reduction, piece by piece: while the GPU combines one, the next arrives.
class ReductionRun final : public ScheduleRun {
 public:
  ReductionRun(const ReductionSchedule& schedule, const CallScope& scope, TagRange tags);
  [[nodiscard]] bool step(const CallScope& scope) override;
  /// The combined elements may be for the others, and combining completes by itself.
  [[nodiscard]] bool is_owed() const override { return phase_ == Phase::combining || coming_->is_owed(); }

 private:
  enum class Phase : unsigned char { coming, combining, between_nodes, gathering, over };

  [[nodiscard]] const ReductionShape& shape() const noexcept { return schedule_.shape_; }
  [[nodiscard]] std::size_t bytes(std::size_t elements) const noexcept {
    return elements * shape().element_bytes();
  }
  [[nodiscard]] std::byte* slot(std::size_t index, int other) const noexcept;
  [[nodiscard]] std::unique_ptr<ScheduleRun> post(const CallScope& scope, std::size_t index) const;
  void combine(std::size_t index);
  [[nodiscard]] std::unique_ptr<ScheduleRun> gather(const CallScope& scope) const;
  [[nodiscard]] bool is_combined();
  [[nodiscard]] bool may_send(const void* from, std::size_t length);
  [[nodiscard]] bool go_on(const CallScope& scope);

  const ReductionSchedule& schedule_;
  TagRange tags_;
  std::size_t piece_;   ///< elements
  std::size_t pieces_;  ///< of the largest range
  std::size_t index_ = 0;
  Phase phase_ = Phase::coming;
  std::unique_ptr<ScheduleRun> coming_;
  std::unique_ptr<transports::DeviceReduction> reduction_;
  SendWait send_wait_;
};

}  // namespace penstock::interpose
