// Runs the commands of a list. A command starts when the previous one on its stream has completed and the
// events that it waits for are done. The thread never waits for one command while another could start.
#pragma once

#include <optional>
#include <vector>

#include "examples/gmh/library/ranges.hpp"
#include "examples/gmh/library/task_list.hpp"

namespace gmh {

class Run {
 public:
  /// The commands must not change during the lifetime of this object.
  Run(Thread& thread, const std::vector<std::unique_ptr<Command>>& commands,
      const std::vector<std::shared_ptr<Stream>>& streams);

  void once();

 private:
  /// The commands of one stream between two exclusive ones, in order.
  struct Queue {
    Stream* stream;
    std::vector<Command*> commands;
    std::size_t next = 0;
    bool next_has_started = false;
    bool gpu_may_be_busy = true;  ///< until a query finds the stream idle
  };
  struct Part {
    std::vector<Queue> queues;
    Command* last = nullptr;  ///< exclusive; null at the list's end
  };

  void run(Part& part);
  [[nodiscard]] bool step(Queue& queue);
  [[nodiscard]] bool may_start(Queue& queue, const Command& command);
  void start(Queue& queue, Command& command);
  [[nodiscard]] bool poll_messages();
  /// Returns whether no command of the part can ever start: each waits for an event whose command has not
  /// started.
  [[nodiscard]] bool is_stuck(const Part& part) const;
  [[noreturn]] void fail_as_stuck(const Part& part) const;
  /// Opens a range in profiles for idle time, named after the command that is waited for.
  void name_idle_time(const Part& part);

  Thread& thread_;
  Waiting waiting_;
  std::vector<Part> parts_;
  const std::vector<std::unique_ptr<Command>>& commands_;
  std::vector<Event*> messages_;  ///< in flight
  PostingOrder posting_order_;
  std::optional<Range> idle_;
};

}  // namespace gmh
