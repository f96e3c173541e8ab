#include "examples/gmh/library/task_list.hpp"

#include <algorithm>

#include "examples/gmh/library/run.hpp"

namespace gmh {

void TaskList::refuse_changes() const {
  if (is_running_) fail(GMH_ERR_ARGUMENT, "the list is running: it cannot change meanwhile");
  if (has_control_) fail(GMH_ERR_ARGUMENT, "the list has its control task, which is its last command");
}

gmh_stream_t TaskList::add_stream(bool urgent) {
  streams_.push_back(std::make_shared<Stream>(urgent));
  stream_handles_.push_back(thread_.streams.add(streams_.back()));
  return stream_handles_.back();
}

gmh_event_t TaskList::add(Command command, std::string name, int wait_count, const gmh_event_t* waits) {
  refuse_changes();
  if (wait_count < 0 || (wait_count > 0 && waits == nullptr))
    fail(GMH_ERR_ARGUMENT, "%s waits for %d events, which are at %p", name.c_str(), wait_count,
         static_cast<const void*>(waits));
  if (command.stream != nullptr &&
      std::find(streams_.begin(), streams_.end(), command.stream) == streams_.end())
    fail(GMH_ERR_ARGUMENT, "%s: on a stream of another list", name.c_str());
  cudaStream_t const stream = command.stream == nullptr ? nullptr : command.stream->get();
  for (int i = 0; i < wait_count; ++i) {
    if (waits[i] != nullptr) command.waits.push_back(thread_.event_handles.get(waits[i]));
  }
  for (const auto& event : command.waits) event->will_be_waited_for(stream);
  command.event = std::make_shared<Event>(thread_.events(), *this, std::move(name), stream);
  const gmh_event_t handle = thread_.event_handles.add(command.event);
  event_handles_.push_back(handle);
  commands_.push_back(std::make_unique<Command>(std::move(command)));
  return handle;
}

void TaskList::add_control(gmh_control_task_t function, void* argument) {
  Command command{.kind = Kind::exclusive};
  command.start = [this, function, argument] {
    const int answer = function(argument);
    if (answer != GMH_EXIT && answer != GMH_RERUN)
      fail(GMH_ERR_TASK, "the control task returned %d, which is neither GMH_EXIT nor GMH_RERUN", answer);
    runs_again_ = answer == GMH_RERUN;
  };
  add(std::move(command), "control task", 0, nullptr);
  has_control_ = true;
}

void TaskList::run() {
  if (is_running_) fail(GMH_ERR_ARGUMENT, "the list is running already");
  struct Running {
    explicit Running(bool& flag) : flag_(flag) { flag_ = true; }
    ~Running() { flag_ = false; }
    bool& flag_;
  } running(is_running_);
  Run run(thread_, commands_, streams_);
  // a cudaMemcpy from pageable memory that has returned may be under way still
  thread_.finish(cudaStreamLegacy);
  do {
    runs_again_ = false;
    run.once();
  } while (runs_again_);
}

void TaskList::finish_streams() {
  for (const auto& stream : streams_) thread_.finish(stream->get());
}

std::string TaskList::abandon() noexcept {
  std::string first;
  std::size_t count = 0;
  for (const auto& command : commands_) {
    if (command->message == nullptr || !command->message->abandon()) continue;
    command->memory->leak();
    if (count++ == 0) first = command->event->name();
  }
  return count == 0 ? "" : text("%zu messages of a list under way (first: %s)", count, first.c_str());
}

void TaskList::forget_handles() {
  for (const gmh_event_t handle : event_handles_) thread_.event_handles.remove(handle);
  for (const gmh_stream_t handle : stream_handles_) thread_.streams.remove(handle);
}

}  // namespace gmh
