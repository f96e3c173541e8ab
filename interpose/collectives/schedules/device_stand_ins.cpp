#include "interpose/collectives/schedules/device_stand_ins.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "interpose/calls/transfer_record.hpp"
#include "interpose/staging/staged_call.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/readiness.hpp"

namespace penstock::interpose {
namespace {

constexpr const char* why_copied = "in host memory, and the GPU reduces it";

transports::BufferView view_on_device(const void* first, std::size_t bytes, std::uint64_t handed_over_ns) {
  return {.buffer = transports::inspect(first),
          .layout = transports::Layout::contiguous(bytes),
          .handed_over_ns = handed_over_ns};
}

/// Returns false for memory that is pinned in part only, which the driver does not copy.
bool can_be_copied(const UserVector& vector) {
  const transports::Buffer buffer = transports::inspect(vector.pointer);
  return buffer.kind != transports::BufferKind::pinned || buffer.holds(0, vector.bytes);
}

/// Uploads the own vector, carries out the schedule, and downloads the result.
class StandInRun final : public ScheduleRun {
 public:
  StandInRun(const DeviceStandIns& stand_ins, const Schedule& schedule, TagRange tags) noexcept
      : stand_ins_(stand_ins), schedule_(schedule), tags_(tags) {}

  bool step(const CallScope& scope) override {
    if (run_ == nullptr) {
      if (!stand_ins_.may_upload(begun_ns_, earlier_)) return false;
      // continues after an error: the others are waiting
      note(stand_ins_.upload(begun_ns_));
      run_ = schedule_.begin(scope, tags_);
    }
    if (!run_->step(scope)) return false;
    note(*run_);
    if (is_well()) note(stand_ins_.download(begun_ns_));
    return true;
  }
  [[nodiscard]] bool is_owed() const override { return run_ != nullptr && run_->is_owed(); }

 private:
  const DeviceStandIns& stand_ins_;
  const Schedule& schedule_;
  const TagRange tags_;
  /// What the application has queued later need not be waited for.
  const std::uint64_t begun_ns_ = transports::time_of_call_ns();
  transports::EarlierWork earlier_;
  std::unique_ptr<ScheduleRun> run_;  ///< null: the own vector is not uploaded yet
};

}  // namespace

std::optional<DeviceStandIns> DeviceStandIns::make(const UserVector& own, const UserVector& result) {
  const bool own_is_there = lies_on_device(own.pointer);
  const bool result_is_there = lies_on_device(result.pointer);
  DeviceStandIns made;
  if (!own_is_there) made.uploaded_ = own;
  if (!result_is_there) made.downloaded_ = result;
  if ((made.uploaded_ && !can_be_copied(own)) || (made.downloaded_ && !can_be_copied(result)))
    return std::nullopt;
  const bool own_fits_result = result_is_there && result.bytes >= own.bytes;
  const std::size_t bytes =
      std::max(own_is_there || own_fits_result ? 0 : own.bytes, result_is_there ? 0 : result.bytes);
  if (bytes != 0) {
    const void* const on_device = own_is_there ? own.pointer : result_is_there ? result.pointer : nullptr;
    const transports::cuda::ContextRef context =
        on_device != nullptr ? transports::cuda::Context::of(transports::inspect(on_device))
                             : transports::cuda::Context::any();
    if (context == nullptr) return std::nullopt;
    const transports::cuda::ContextScope scope(*context);
    if (!scope.status().ok() || !transports::cuda::RelaySlice::take(context, bytes, made.memory_).ok())
      return std::nullopt;
  }
  void* const memory = made.memory_.buffer().pointer;
  made.result_ = result_is_there ? result.pointer : memory;
  made.own_ = own_is_there ? own.pointer : own_fits_result ? result.pointer : memory;
  return made;
}

bool DeviceStandIns::may_upload_now() const {
  return !uploaded_ ||
         transports::is_idle(view_on_device(own_, uploaded_->bytes, transports::time_of_call_ns()));
}

bool DeviceStandIns::may_upload(std::uint64_t begun_ns, transports::EarlierWork& earlier) const {
  return !uploaded_ || earlier.is_done(view_on_device(own_, uploaded_->bytes, begun_ns));
}

Status DeviceStandIns::upload(std::uint64_t begun_ns) const {
  if (!uploaded_ || uploaded_->bytes == 0) return {};
  const transports::BufferView view = view_on_device(own_, uploaded_->bytes, begun_ns);
  return staged_copy(uploaded_->bytes, transports::inspect(uploaded_->pointer).kind, view.buffer.kind,
                     why_copied, [&] { return transports::upload(view, uploaded_->pointer); });
}

Status DeviceStandIns::download(std::uint64_t begun_ns) const {
  if (!downloaded_ || downloaded_->bytes == 0) return {};
  const transports::BufferView view = view_on_device(result_, downloaded_->bytes, begun_ns);
  return staged_copy(downloaded_->bytes, view.buffer.kind, transports::inspect(downloaded_->pointer).kind,
                     why_copied, [&] { return transports::download(downloaded_->pointer, view); });
}

std::unique_ptr<ScheduleRun> StandInSchedule::begin(const CallScope& scope, TagRange tags) const {
  if (!stand_ins_) return schedule_->begin(scope, tags);
  return std::make_unique<StandInRun>(*stand_ins_, *schedule_, tags);
}

}  // namespace penstock::interpose
