#include "examples/gmh/library/run.hpp"

#include <algorithm>

namespace gmh {

Run::Run(Thread& thread, const std::vector<std::unique_ptr<Command>>& commands,
         const std::vector<std::shared_ptr<Stream>>& streams)
    : thread_(thread), waiting_(thread.job().failure()), commands_(commands) {
  const auto open_part = [&] {
    parts_.emplace_back();
    for (const auto& stream : streams) parts_.back().queues.push_back({stream.get(), {}});
  };
  open_part();
  for (const auto& command : commands_) {
    if (command->kind == Kind::exclusive) {
      parts_.back().last = command.get();
      open_part();
      continue;
    }
    auto& queues = parts_.back().queues;
    const auto queue = std::find_if(queues.begin(), queues.end(),
                                    [&](const Queue& each) { return each.stream == command->stream.get(); });
    queue->commands.push_back(command.get());
  }
  if (parts_.size() > 1 && commands_.back()->kind == Kind::exclusive) parts_.pop_back();
}

void Run::once() {
  // the commands of a list may never wait, and must still end after another thread's failure
  waiting_.restart();
  for (const auto& command : commands_) command->event->reset();
  for (Part& part : parts_) run(part);
}

void Run::run(Part& part) {
  for (Queue& queue : part.queues) {
    queue.next = 0;
    queue.next_has_started = false;
    queue.gpu_may_be_busy = true;
  }
  for (;;) {
    bool has_moved = false;
    bool has_ended = true;
    for (Queue& queue : part.queues) {
      while (step(queue)) has_moved = true;
      has_ended = has_ended && queue.next == queue.commands.size();
    }
    if (poll_messages()) has_moved = true;
    thread_.poll();
    if (has_ended && messages_.empty() &&
        std::all_of(part.queues.begin(), part.queues.end(), [](Queue& queue) {
          if (queue.gpu_may_be_busy && queue.stream->is_idle()) queue.gpu_may_be_busy = false;
          return !queue.gpu_may_be_busy;
        }))
      break;
    if (has_moved) {
      idle_.reset();
      waiting_.restart();
      continue;
    }
    if (!has_ended && is_stuck(part)) fail_as_stuck(part);
    name_idle_time(part);
    waiting_.once();
  }
  idle_.reset();
  for (Queue& queue : part.queues) {
    for (Command* command : queue.commands) command->event->set_done();
  }
  if (part.last == nullptr) return;
  const Range range(part.last->event->name().c_str());
  part.last->start();
  part.last->event->set_done();
}

bool Run::step(Queue& queue) {
  if (queue.next == queue.commands.size()) return false;
  Command& command = *queue.commands[queue.next];
  if (!queue.next_has_started) {
    if (!may_start(queue, command)) return false;
    idle_.reset();
    start(queue, command);
  }
  // run() polls all messages together
  queue.next_has_started = command.holds_stream && !command.event->is_done();
  if (!queue.next_has_started) ++queue.next;
  return !queue.next_has_started;
}

bool Run::may_start(Queue& queue, const Command& command) {
  if (command.kind == Kind::on_gpu) {
    for (const auto& event : command.waits) {
      if (!event->is_done() && !event->is_on_gpu()) return false;
    }
    return true;
  }
  if (queue.gpu_may_be_busy && !queue.stream->is_idle()) return false;
  queue.gpu_may_be_busy = false;
  for (const auto& event : command.waits) {
    if (event->is_on_gpu() && event->stream() == queue.stream->get())
      event->set_done();  // since the stream is idle
    if (!event->is_done() && !(event->is_on_gpu() && event->poll())) return false;
  }
  return true;
}

void Run::start(Queue& queue, Command& command) {
  const Range range(command.event->name().c_str());
  if (command.kind == Kind::on_gpu) {
    for (const auto& event : command.waits) {
      if (!event->is_done()) event->block(queue.stream->get());
    }
    command.start();
    queue.gpu_may_be_busy = true;
    command.event->queued();
    return;
  }
  if (command.kind == Kind::on_host) {
    command.start();
    command.event->set_done();
    return;
  }
  command.message->begin(queue.stream->get());
  command.event->begun(*command.message);
  messages_.push_back(command.event.get());
  queue.gpu_may_be_busy = true;  // with its staging copies
}

bool Run::poll_messages() {
  const std::size_t before = messages_.size();
  posting_order_.restart();
  std::erase_if(messages_, [this](Event* event) { return posting_order_.poll(*event); });
  return messages_.size() != before;
}

bool Run::is_stuck(const Part& part) const {
  return std::all_of(part.queues.begin(), part.queues.end(), [](const Queue& queue) {
    if (queue.next == queue.commands.size()) return true;
    if (queue.next_has_started) return false;
    const auto& waits = queue.commands[queue.next]->waits;
    return std::any_of(waits.begin(), waits.end(), [](const auto& event) { return !event->has_started(); });
  });
}

void Run::fail_as_stuck(const Part& part) const {
  std::string waits;
  for (const Queue& queue : part.queues) {
    if (queue.next == queue.commands.size()) continue;
    const Command& command = *queue.commands[queue.next];
    for (const auto& event : command.waits) {
      if (event->has_started()) continue;
      waits += text("%s\"%s\" waits for \"%s\"", waits.empty() ? "" : ", ", command.event->name().c_str(),
                    event->name().c_str());
      break;
    }
  }
  fail(GMH_ERR_STUCK, "no command of the list can ever start: %s", waits.c_str());
}

void Run::name_idle_time(const Part& part) {
  if (idle_) return;
  if (!messages_.empty()) {
    idle_.emplace(messages_.front()->name().c_str());
    return;
  }
  for (const Queue& queue : part.queues) {
    if (queue.commands.empty()) continue;
    const std::size_t command = std::min(queue.next, queue.commands.size() - 1);
    idle_.emplace(queue.commands[command]->event->name().c_str());
    return;
  }
}

}  // namespace gmh
