// A thread that owns a GPU: its objects, and its messages in conventional form.
#pragma once

#include <memory>
#include <vector>

#include "examples/gmh/library/event.hpp"
#include "examples/gmh/library/handles.hpp"
#include "examples/gmh/library/memory.hpp"
#include "examples/gmh/library/posting_order.hpp"
#include "examples/gmh/library/waiting.hpp"

namespace gmh {

class TaskList;

class Thread {
 public:
  /// Makes the calling thread that of the virtual GPU, whose device must be current.
  Thread(Job& job, int vgpu);
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  /// Returns the calling thread's object; throws if GMH has not started the thread.
  [[nodiscard]] static Thread& current();

  [[nodiscard]] Job& job() noexcept { return job_; }
  [[nodiscard]] int vgpu() const noexcept { return vgpu_; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] GpuEvents& events() noexcept { return events_; }
  /// Returns a stream for copies that belong to none of the program's streams.
  [[nodiscard]] cudaStream_t copies() const noexcept { return copies_.get(); }

  /// Describes a message. `host` is the staging buffer, null if the buffer is in host memory.
  [[nodiscard]] Transfer transfer(bool is_send, char* buffer, std::size_t bytes, char* host, int peer,
                                  int tag) const;
  /// Begins a message in conventional form.
  [[nodiscard]] std::shared_ptr<Event> begin(bool is_send, void* buffer, std::size_t bytes, int peer, int tag,
                                             cudaStream_t stream);
  /// Advances all messages in conventional form. Messages of one stream are posted in the order of the calls.
  void poll();
  [[nodiscard]] std::size_t messages_under_way() const noexcept { return messages_.size(); }
  /// Advances all messages in conventional form and the event. Returns whether the event is done.
  bool poll(Event& event);
  void wait(Event& event);
  /// Waits until the stream is idle.
  void finish(cudaStream_t stream);
  /// Abandons all messages in conventional form. Returns a description of them, empty if there were none.
  [[nodiscard]] std::string abandon() noexcept;

  Table<TaskList, gmh_tasklist_t> lists;
  Table<Stream, gmh_stream_t> streams;
  Table<Event, gmh_event_t> event_handles;
  Table<Memory, gmh_mem_t> memories;

 private:
  [[nodiscard]] PinnedBytes staging_of(std::size_t bytes);

  Job& job_;
  int vgpu_;
  int rank_;
  GpuEvents events_;
  // The program's cudaMemcpy from pageable memory may end before the bytes are on the GPU.
  Stream copies_{BehindLegacyStream{}};
  std::vector<PinnedBytes> staging_;  ///< free buffers
  std::vector<std::shared_ptr<Event>> messages_;
  PostingOrder posting_order_;
};

}  // namespace gmh
