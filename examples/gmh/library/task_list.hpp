// A list of commands in the order in which the program adds them. run.hpp executes it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "examples/gmh/library/thread.hpp"

namespace gmh {

enum class Kind {
  on_gpu,    ///< queues work on its stream; its events may be merely queued on the GPU
  on_host,   ///< runs on the thread once its events are done
  message,   ///< starts on the thread once its events are done
  exclusive  ///< runs on the thread while no other command of the list does
};

struct Command {
  Kind kind;
  std::shared_ptr<Stream> stream;  ///< null if the command is exclusive
  std::shared_ptr<Event> event;
  std::vector<std::shared_ptr<Event>> waits;
  std::function<void()> start;
  std::unique_ptr<Message> message;
  bool holds_stream = false;       ///< until it is done
  std::shared_ptr<Memory> memory;  ///< in use, so that it cannot be freed
};

/// Thread: its own.
class TaskList {
 public:
  explicit TaskList(Thread& thread) : thread_(thread) {}

  [[nodiscard]] Thread& thread() noexcept { return thread_; }

  /// Appends a command. Returns the handle of its event, which has that name.
  gmh_event_t add(Command command, std::string name, int wait_count, const gmh_event_t* waits);
  /// Appends the control task, which is the last command.
  void add_control(gmh_control_task_t function, void* argument);
  /// Creates a stream, which lives as long as the list. Returns its handle.
  gmh_stream_t add_stream(bool urgent);

  /// Runs all commands, and repeats while the control task returns GMH_RERUN.
  void run();
  /// Waits until all streams are idle.
  void finish_streams();
  /// Abandons pending messages; their memory is never freed, since MPI may still use it. Returns a
  /// description of them, empty if there were none.
  [[nodiscard]] std::string abandon() noexcept;
  /// Frees the handles of its commands' events and of its streams.
  void forget_handles();
  [[nodiscard]] bool is_running() const noexcept { return is_running_; }

 private:
  void refuse_changes() const;

  Thread& thread_;
  std::vector<std::unique_ptr<Command>> commands_;
  std::vector<gmh_event_t> event_handles_;
  std::vector<gmh_stream_t> stream_handles_;
  std::vector<std::shared_ptr<Stream>> streams_;
  bool has_control_ = false;
  bool is_running_ = false;
  bool runs_again_ = false;
};

}  // namespace gmh
