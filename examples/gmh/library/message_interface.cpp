// The C functions of events, and of messages and collectives in conventional form.
#include "examples/gmh/library/collectives.hpp"
#include "examples/gmh/library/interface.hpp"
#include "examples/gmh/library/sizes.hpp"

using namespace gmh;

namespace {

/// Frees the handle of a completed message in conventional form.
void free_if_message(Thread& thread, gmh_event_t* handle, const Event& event) {
  if (event.list() != nullptr) return;
  thread.event_handles.remove(*handle);
  *handle = nullptr;
}

void wait_for(Thread& thread, gmh_event_t* handle) {
  if (result(handle) == nullptr) return;
  const std::shared_ptr<Event> event = thread.event_handles.get(*handle);
  or_all_fail(thread, [&] { thread.wait(*event); });
  free_if_message(thread, handle, *event);
}

std::shared_ptr<Event> begin_message(gmh_tasklist_t list, gmh_stream_t stream, bool is_send, void* buffer,
                                     int count, gmh_datatype_t type, int peer, int tag) {
  Thread& thread = list_of(list)->thread();
  const std::size_t bytes = bytes_of(count, type);
  if (buffer == nullptr && bytes != 0) fail(GMH_ERR_ARGUMENT, "a message of %zu bytes has no buffer", bytes);
  cudaStream_t const on = stream == nullptr ? nullptr : thread.streams.get(stream)->get();
  return thread.begin(is_send, buffer, bytes, peer, tag, on);
}

int begin_and_name(gmh_tasklist_t list, gmh_stream_t stream, bool is_send, void* buffer, int count,
                   gmh_datatype_t type, int peer, int tag, gmh_event_t* event) {
  return guarded([&] {
    gmh_event_t& handle = result(event);
    handle = Thread::current().event_handles.add(
        begin_message(list, stream, is_send, buffer, count, type, peer, tag));
  });
}

int begin_and_wait(gmh_tasklist_t list, gmh_stream_t stream, bool is_send, void* buffer, int count,
                   gmh_datatype_t type, int peer, int tag) {
  return guarded([&] {
    const std::shared_ptr<Event> event = begin_message(list, stream, is_send, buffer, count, type, peer, tag);
    Thread& thread = Thread::current();
    or_all_fail(thread, [&] { thread.wait(*event); });
  });
}

/// Calls `body` with the thread and its process's collectives, once the list's streams are idle.
template <typename Body>
int collective(gmh_tasklist_t handle, Body body) {
  return guarded([&] {
    TaskList& list = *list_of(handle);
    Thread& thread = list.thread();
    or_all_fail(thread, [&] {
      list.finish_streams();
      body(thread, thread.job().collectives());
    });
  });
}

bool is_root(const Thread& thread, int root) {
  return thread.rank() == root;
}

}  // namespace

int gmh_wait(gmh_event_t* event) {
  return guarded([&] { wait_for(Thread::current(), event); });
}

int gmh_waitall(int nevs, gmh_event_t* events) {
  return guarded([&] {
    if (nevs < 0) fail(GMH_ERR_ARGUMENT, "%d events", nevs);
    for (int i = 0; i < nevs; ++i) wait_for(Thread::current(), events + i);
  });
}

int gmh_test(gmh_event_t* event, int* done) {
  return guarded([&] {
    Thread& thread = Thread::current();
    result(done) = 1;
    if (result(event) == nullptr) return;
    const std::shared_ptr<Event> tested = thread.event_handles.get(*event);
    or_all_fail(thread, [&] {
      thread.job().failure().throw_if_set();
      *done = thread.poll(*tested) ? 1 : 0;
    });
    if (*done != 0) free_if_message(thread, event, *tested);
  });
}

int gmh_Isend(gmh_tasklist_t list, gmh_stream_t stream, const void* buffer, int count, gmh_datatype_t type,
              int peer, int tag, gmh_event_t* event) {
  return begin_and_name(list, stream, true, const_cast<void*>(buffer), count, type, peer, tag, event);
}
int gmh_Irecv(gmh_tasklist_t list, gmh_stream_t stream, void* buffer, int count, gmh_datatype_t type,
              int peer, int tag, gmh_event_t* event) {
  return begin_and_name(list, stream, false, buffer, count, type, peer, tag, event);
}
int gmh_Send(gmh_tasklist_t list, gmh_stream_t stream, const void* buffer, int count, gmh_datatype_t type,
             int peer, int tag) {
  return begin_and_wait(list, stream, true, const_cast<void*>(buffer), count, type, peer, tag);
}
int gmh_Recv(gmh_tasklist_t list, gmh_stream_t stream, void* buffer, int count, gmh_datatype_t type, int peer,
             int tag) {
  return begin_and_wait(list, stream, false, buffer, count, type, peer, tag);
}

int gmh_Barrier(gmh_tasklist_t list) {
  return collective(list, [](Thread& thread, Collectives& collectives) { collectives.barrier(thread); });
}
int gmh_Bcast(gmh_tasklist_t list, void* buffer, int count, gmh_datatype_t type, int root) {
  return collective(list, [=](Thread& thread, Collectives& collectives) {
    collectives.bcast(thread, buffer, bytes_of(count, type), root);
  });
}
int gmh_Reduce(gmh_tasklist_t list, const void* send, void* receive, int count, gmh_datatype_t type,
               gmh_op_t op, int root) {
  return collective(list, [=](Thread& thread, Collectives& collectives) {
    static_cast<void>(thread.job().ranks().process_of(root));
    collectives.reduce(thread, send, is_root(thread, root) ? receive : nullptr, count, type, op);
  });
}
int gmh_Allreduce(gmh_tasklist_t list, const void* send, void* receive, int count, gmh_datatype_t type,
                  gmh_op_t op) {
  return collective(list, [=](Thread& thread, Collectives& collectives) {
    collectives.reduce(thread, send, receive, count, type, op);
  });
}
int gmh_Gather(gmh_tasklist_t list, const void* send, void* receive, int count, gmh_datatype_t type,
               int root) {
  return collective(list, [=](Thread& thread, Collectives& collectives) {
    static_cast<void>(thread.job().ranks().process_of(root));
    collectives.gather(thread, send, is_root(thread, root) ? receive : nullptr, bytes_of(count, type));
  });
}
int gmh_Allgather(gmh_tasklist_t list, const void* send, void* receive, int count, gmh_datatype_t type) {
  return collective(list, [=](Thread& thread, Collectives& collectives) {
    collectives.gather(thread, send, receive, bytes_of(count, type));
  });
}
