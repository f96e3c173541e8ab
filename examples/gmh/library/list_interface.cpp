// The C functions of command lists.
#include "examples/gmh/library/collectives.hpp"
#include "examples/gmh/library/interface.hpp"
#include "examples/gmh/library/sizes.hpp"

using namespace gmh;

namespace {

/// The events that a command waits for, and the place for the handle of its own.
struct Order {
  int wait_count = 0;
  const gmh_event_t* waits = nullptr;
  gmh_event_t* event = nullptr;
};

Command command_on(gmh_stream_t stream, Kind kind) {
  return {.kind = kind, .stream = Thread::current().streams.get(stream)};
}

void add(TaskList& list, Command command, const char* name, const Order& order) {
  const gmh_event_t handle = list.add(std::move(command), name, order.wait_count, order.waits);
  if (order.event != nullptr) *order.event = handle;
}

void add_message(gmh_tasklist_t handle, gmh_stream_t stream, gmh_mem_t mem, bool is_send, int block, int peer,
                 int tag, const Order& order) {
  TaskList& list = *list_of(handle);
  Thread& thread = list.thread();
  Command command = command_on(stream, Kind::message);
  command.memory = thread.memories.get(mem);
  Memory& memory = *command.memory;
  if (!memory.may(is_send ? GMH_READ : GMH_WRITE))
    fail(GMH_ERR_PERMISSION, "the memory may not be %s",
         is_send ? "read, and so not sent" : "written, and so not received");
  const Transfer transfer = thread.transfer(is_send, memory.gpu(), memory.bytes(), memory.host(), peer, tag);
  command.message = std::make_unique<Message>(thread.events(), transfer);
  command.holds_stream = block != 0;
  const std::string name = command.message->description();
  add(list, std::move(command), name.c_str(), order);
}

/// Adds an exclusive command. `start` receives the thread and its process's collectives.
template <typename Start>
void add_collective(gmh_tasklist_t handle, const char* name, gmh_event_t* event, Start start) {
  TaskList& list = *list_of(handle);
  Thread& thread = list.thread();
  Command command{.kind = Kind::exclusive};
  command.start = [&thread, start] { start(thread, thread.job().collectives()); };
  add(list, std::move(command), name, {0, nullptr, event});
}

/// Adds a reduction. If `root` is negative, all ranks receive the result.
void add_reduction(gmh_tasklist_t list, const char* name, gmh_mem_t send, gmh_mem_t receive,
                   gmh_datatype_t type, gmh_op_t op, int root, gmh_event_t* event) {
  Thread& thread = list_of(list)->thread();
  const bool receives = root < 0 || root == thread.rank();
  const std::shared_ptr<Memory> from = thread.memories.get(send);
  const std::shared_ptr<Memory> to = receives ? thread.memories.get(receive) : nullptr;
  if (root >= 0) static_cast<void>(thread.job().ranks().process_of(root));
  if (from->bytes() % size_of(type) != 0)
    fail(GMH_ERR_ARGUMENT, "%s: memory of %zu bytes", name, from->bytes());
  if (receives && to->bytes() < from->bytes())
    fail(GMH_ERR_ARGUMENT, "%s: %zu bytes into a memory of %zu", name, from->bytes(), to->bytes());
  if (!from->may(GMH_READ) || (receives && !to->may(GMH_WRITE)))
    fail(GMH_ERR_PERMISSION, "%s: a memory that may not be read, or written", name);
  const auto count = static_cast<std::int64_t>(from->bytes() / size_of(type));
  add_collective(list, name, event, [=](Thread& on, Collectives& collectives) {
    collectives.reduce(on, from->gpu(), receives ? to->gpu() : nullptr, count, type, op);
  });
}

}  // namespace

int gmh_create_tasklist(gmh_tasklist_t list, gmh_tasklist_t* other) {
  return guarded([&] {
    Thread& thread = list_of(list)->thread();
    result(other) = thread.lists.add(std::make_shared<TaskList>(thread));
  });
}

int gmh_free_tasklist(gmh_tasklist_t list) {
  return guarded([&] {
    const std::shared_ptr<TaskList> freed = list_of(list);
    if (freed->is_running()) fail(GMH_ERR_ARGUMENT, "the list is running");
    static_cast<void>(freed->abandon());  // a failed run leaves messages pending
    freed->forget_handles();
    Thread::current().lists.remove(list);
  });
}

int gmh_create_command_stream(gmh_tasklist_t list, gmh_stream_t* stream, int priority) {
  return guarded([&] {
    TaskList& owner = *list_of(list);
    if (priority != GMH_NORMAL && priority != GMH_URGENT)
      fail(GMH_ERR_ARGUMENT, "there is no priority %d", priority);
    result(stream) = owner.add_stream(priority == GMH_URGENT);
  });
}

int gmh_stream_cuda(gmh_stream_t stream, cudaStream_t* cuda) {
  return guarded([&] { result(cuda) = Thread::current().streams.get(stream)->get(); });
}

int gmh_add_gpu_kernel(gmh_tasklist_t list, gmh_stream_t stream, gmh_kernel_t function, void* argument,
                       int nevs, const gmh_event_t* evs_wait, gmh_event_t* event) {
  return guarded([&] {
    Command command = command_on(stream, Kind::on_gpu);
    if (function == nullptr) fail(GMH_ERR_ARGUMENT, "a command without a function");
    cudaStream_t const on = command.stream->get();
    command.start = [function, argument, on] {
      if (const int said = function(on, argument); said != 0)
        fail(GMH_ERR_TASK, "a kernel's function returned %d", said);
    };
    add(*list_of(list), std::move(command), "kernel", {nevs, evs_wait, event});
  });
}

int gmh_add_cpu_task(gmh_tasklist_t list, gmh_stream_t stream, gmh_cpu_task_t function, void* argument,
                     int nevs, const gmh_event_t* evs_wait, gmh_event_t* event) {
  return guarded([&] {
    Command command = command_on(stream, Kind::on_host);
    if (function == nullptr) fail(GMH_ERR_ARGUMENT, "a command without a function");
    command.start = [function, argument] {
      if (const int said = function(argument); said != 0) fail(GMH_ERR_TASK, "a CPU task returned %d", said);
    };
    add(*list_of(list), std::move(command), "CPU task", {nevs, evs_wait, event});
  });
}

int gmh_add_copy(gmh_tasklist_t list, gmh_stream_t stream, gmh_mem_t mem, int direction, int nevs,
                 const gmh_event_t* evs_wait, gmh_event_t* event) {
  return guarded([&] {
    Command command = command_on(stream, Kind::on_gpu);
    command.memory = Thread::current().memories.get(mem);
    cudaStream_t const on = command.stream->get();
    check_copy(*command.memory, direction);
    command.start = [memory = command.memory.get(), on, direction] { copy_shadow(*memory, on, direction); };
    add(*list_of(list), std::move(command), direction == GMH_TO_HOST ? "copy to host" : "copy to GPU",
        {nevs, evs_wait, event});
  });
}

int gmh_add_send_buffer(gmh_tasklist_t list, gmh_stream_t stream, gmh_mem_t mem, int block, int peer, int tag,
                        int nevs, const gmh_event_t* evs_wait, gmh_event_t* event) {
  return guarded([&] { add_message(list, stream, mem, true, block, peer, tag, {nevs, evs_wait, event}); });
}
int gmh_add_recv_buffer(gmh_tasklist_t list, gmh_stream_t stream, gmh_mem_t mem, int block, int peer, int tag,
                        int nevs, const gmh_event_t* evs_wait, gmh_event_t* event) {
  return guarded([&] { add_message(list, stream, mem, false, block, peer, tag, {nevs, evs_wait, event}); });
}

int gmh_add_control_task(gmh_tasklist_t list, gmh_control_task_t function, void* argument) {
  return guarded([&] {
    if (function == nullptr) fail(GMH_ERR_ARGUMENT, "a command without a function");
    list_of(list)->add_control(function, argument);
  });
}

int gmh_add_barrier(gmh_tasklist_t list, gmh_event_t* event) {
  return guarded([&] {
    add_collective(list, "barrier", event,
                   [](Thread& thread, Collectives& collectives) { collectives.barrier(thread); });
  });
}

int gmh_add_bcast(gmh_tasklist_t list, gmh_mem_t mem, int root, gmh_event_t* event) {
  return guarded([&] {
    Thread& thread = list_of(list)->thread();
    const std::shared_ptr<Memory> memory = thread.memories.get(mem);
    static_cast<void>(thread.job().ranks().process_of(root));
    const int permission = thread.rank() == root ? GMH_READ : GMH_WRITE;
    if (!memory->may(permission))
      fail(GMH_ERR_PERMISSION, "broadcast: a memory that may not be read, or written");
    add_collective(list, "broadcast", event, [memory, root](Thread& on, Collectives& collectives) {
      collectives.bcast(on, memory->gpu(), memory->bytes(), root);
    });
  });
}

int gmh_add_reduce(gmh_tasklist_t list, gmh_mem_t send, gmh_mem_t receive, gmh_datatype_t type, gmh_op_t op,
                   int root, gmh_event_t* event) {
  return guarded([&] {
    if (root < 0) static_cast<void>(list_of(list)->thread().job().ranks().process_of(root));
    add_reduction(list, "reduce", send, receive, type, op, root, event);
  });
}

int gmh_add_allreduce(gmh_tasklist_t list, gmh_mem_t send, gmh_mem_t receive, gmh_datatype_t type,
                      gmh_op_t op, gmh_event_t* event) {
  return guarded([&] { add_reduction(list, "allreduce", send, receive, type, op, -1, event); });
}

int gmh_start(gmh_tasklist_t list) {
  return guarded([&] {
    const std::shared_ptr<TaskList> started = list_of(list);
    Thread& thread = started->thread();
    or_all_fail(thread, [&] {
      thread.job().failure().throw_if_set();
      started->run();
    });
  });
}

int gmh_name(gmh_event_t event, const char* name) {
  return guarded([&] {
    if (name == nullptr) fail(GMH_ERR_ARGUMENT, "a name is NULL");
    Thread::current().event_handles.get(event)->set_name(name);
  });
}
