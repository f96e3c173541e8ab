// The completion of a command or a message: a point in a stream's work, an MPI request, or both.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "examples/gmh/library/message.hpp"

namespace gmh {

class TaskList;

/// Thread: its own.
class Event {
 public:
  /// Creates the event of a command. `stream` may be null. Each run of the list resets the event.
  Event(GpuEvents& events, const TaskList& list, std::string name, cudaStream_t stream);
  /// Creates the event of a message in conventional form. The message starts after the work that is on the
  /// stream, or at once if `stream` is null. Staging copies are queued on `copies`.
  Event(GpuEvents& events, const Transfer& transfer, PinnedBytes staging, cudaStream_t stream,
        cudaStream_t copies);

  /// Marks that the command's work has been queued on its stream.
  void queued();
  /// Marks that the command's message has begun, with its staging copies on the command's stream.
  void begun(Message& message);
  void set_done() noexcept { state_ = State::done; }
  void reset() noexcept;

  /// Advances the message, if any. Returns whether the event is done.
  bool poll();

  [[nodiscard]] bool is_done() const noexcept { return state_ == State::done; }
  [[nodiscard]] bool has_started() const noexcept { return state_ != State::idle; }
  /// Returns whether all of the command's work is queued, so that a stream can wait for it.
  [[nodiscard]] bool is_on_gpu() const noexcept { return state_ == State::on_gpu; }
  /// Returns whether the message was posted to MPI.
  [[nodiscard]] bool is_posted() const noexcept {
    return state_ == State::done || (state_ == State::under_way && message_->is_posted());
  }
  /// Returns the stream of the message's staging copies.
  [[nodiscard]] cudaStream_t copies() const noexcept { return copies_; }
  [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
  /// Makes later work on `stream` wait for this event, which must be on the GPU.
  void block(cudaStream_t stream);
  /// Announces a command on that stream that will wait for this event. If the stream is another one, the
  /// event's point is recorded as soon as its work is queued.
  void will_be_waited_for(cudaStream_t by) noexcept { is_awaited_ = is_awaited_ || by != stream_; }

  /// Returns null for a message in conventional form.
  [[nodiscard]] const TaskList* list() const noexcept { return list_; }
  [[nodiscard]] Message* message() const noexcept { return message_; }
  [[nodiscard]] PinnedBytes take_staging() noexcept { return std::move(staging_); }
  [[nodiscard]] const std::string& name();
  void set_name(const char* name) { name_ = name; }

 private:
  enum class State { idle, stream_is_busy, on_gpu, under_way, done };

  const TaskList* list_;
  std::string name_;
  State state_ = State::idle;
  GpuPoint point_;
  cudaStream_t stream_ = nullptr;
  cudaStream_t copies_ = nullptr;
  bool is_awaited_ = false;
  PinnedBytes staging_;
  std::optional<Message> own_message_;
  Message* message_ = nullptr;
};

}  // namespace gmh
