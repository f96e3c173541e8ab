#include "interpose/collectives/schedules/message_schedule.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "interpose/calls/communicators.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "interpose/protocol/receiving.hpp"
#include "interpose/protocol/sending.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/copies/copy_pull.hpp"
#include "transports/copy_selection/start_copy.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/readiness.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {

bool may_be_sent(const void* buffer, const BlockPlace& block) {
  const auto* const first = static_cast<const std::byte*>(buffer) + block.displacement;
  if (!transports::is_on_device(first)) return true;
  transports::BufferView view = view_of(first, block.count, block.datatype);
  view.handed_over_ns = transports::time_of_call_ns();
  return transports::is_idle(view);
}

int most_tag_ranges() noexcept {
  static const int tag_ranges = [] {
    void* value = nullptr;
    int found = 0;
    constexpr int guaranteed = 32767;
    if (PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&value), &found) != MPI_SUCCESS ||
        found == 0)
      return guaranteed / TagRange::tags;
    return *static_cast<const int*>(value) / TagRange::tags;
  }();
  return tag_ranges;
}

void MessageRun::receive(void* buffer, const BlockPlace& block, int source, int way) {
  const ReceiveCall call{static_cast<std::byte*>(buffer) + block.displacement,
                         block.count,
                         block.datatype,
                         source,
                         tags_.tag(way),
                         tags_.messages};
  Operation operation;
  const int code = post_receive(call, plan_receive(call), *scope_, false, operation);
  add(code, std::move(operation));
}

void MessageRun::send(const void* buffer, const BlockPlace& block, int destination, int way) {
  const SendCall call{static_cast<const std::byte*>(buffer) + block.displacement,
                      block.count,
                      block.datatype,
                      destination,
                      tags_.tag(way),
                      tags_.messages};
  Operation operation;
  const int code = post_send(call, plan_send(call), *scope_, false, operation);
  add(code, std::move(operation));
}

void MessageRun::keep(const void* buffer, const BlockPlace& block, void* to, const BlockPlace& place,
                      int own_rank) {
  const auto* const from = static_cast<const std::byte*>(buffer) + block.displacement;
  auto* const destination = static_cast<std::byte*>(to) + place.displacement;
  if (copy(from, block, destination, place)) return;
  receive(to, place, own_rank);
  send(buffer, block, own_rank);
}

/// Copies without a message, which costs several microseconds. Returns false unless both blocks lie in one
/// context and in one piece each.
bool MessageRun::copy(const void* from, const BlockPlace& block, void* to, const BlockPlace& place) {
  if (!transports::is_on_device(from) || !transports::is_on_device(to)) return false;
  const transports::BufferView source = view_of(from, block.count, block.datatype);
  transports::BufferView destination = view_of(to, place.count, place.datatype);
  destination.handed_over_ns = transports::time_of_call_ns();
  const auto is_plain = [](const transports::BufferView& one) {
    return one.buffer.kind == transports::BufferKind::device && one.layout.is_contiguous();
  };
  if (!is_plain(source) || !is_plain(destination) || source.buffer.context != destination.buffer.context ||
      source.layout.bytes() != destination.layout.bytes() || source.layout.bytes() == 0) {
    return false;
  }
  if (source.layout.bytes() < transports::tuning().shared_gpu_from &&
      transports::is_on_shared_gpu(destination.buffer)) {
    return false;
  }
  note_gpu_use();
  const transports::CopySource memory{source.first_byte(), source.layout.bytes()};
  const transports::cuda::ContextRef& context = transports::cuda::Context::of(destination.buffer);
  std::unique_ptr<transports::Pull> pull;
  if (!transports::start_copy(memory, destination, context, pull).ok()) return false;
  own_copies_.push_back(std::move(pull));
  return true;
}

void MessageRun::add(int code, Operation operation) {
  note(code);
  if (code == MPI_SUCCESS)
    waiting_.push_back(std::make_unique<Waiting>(std::move(operation), ErrorTarget::of(tags_.messages)));
}

bool MessageRun::step_own_copy(transports::Pull& own_copy) {
  bool finished = false;
  const Status stepped = own_copy.advance(finished);
  if (!stepped.ok()) {
    record::notice(format_error("a copy within a GPU", stepped).data());
    note(MPI_ERR_OTHER);
  }
  return finished || !stepped.ok();
}

bool MessageRun::step(const CallScope&) {
  std::erase_if(waiting_, [&](const std::unique_ptr<Waiting>& one) {
    if (!one->step()) return false;
    note(one->end(MPI_STATUS_IGNORE));
    return true;
  });
  std::erase_if(own_copies_,
                [&](const std::unique_ptr<transports::Pull>& one) { return step_own_copy(*one); });
  return waiting_.empty() && own_copies_.empty();
}

bool MessageRun::is_owed() const {
  return std::ranges::any_of(
      waiting_, [](const std::unique_ptr<Waiting>& one) { return one->need() == Pending::Progress::always; });
}

void MessageSchedule::hold(BlockPlace& block) {
  datatypes_.push_back(std::make_unique<HeldDatatype>(block.datatype));
  block.datatype = datatypes_.back()->get();
}

void MessageSchedule::outlive_the_call() {
  for (auto& message : receives_) hold(message.block);
  for (auto& message : sends_) hold(message.block);
  for (Kept& kept : kept_) {
    hold(kept.from.block);
    hold(kept.to.block);
  }
}

bool MessageSchedule::may_begin() const {
  return std::ranges::all_of(
      sends_, [](const Message<const void*>& message) { return may_be_sent(message.buffer, message.block); });
}

std::unique_ptr<ScheduleRun> MessageSchedule::begin(const CallScope& scope, TagRange tags) const {
  auto run = std::make_unique<MessageRun>(scope, tags);
  for (const Kept& kept : kept_)
    run->keep(kept.from.buffer, kept.from.block, kept.to.buffer, kept.to.block, kept.to.peer);
  for (const auto& message : receives_)
    run->receive(message.buffer, message.block, message.peer, message.way);
  for (const auto& message : sends_) run->send(message.buffer, message.block, message.peer, message.way);
  return run;
}

}  // namespace penstock::interpose
