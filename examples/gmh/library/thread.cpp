#include "examples/gmh/library/thread.hpp"

#include <algorithm>
#include <bit>

#include "examples/gmh/library/task_list.hpp"

namespace gmh {
namespace {

thread_local Thread* this_thread = nullptr;

bool is_on_gpu(const void* pointer) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, pointer), "ask where a buffer is");
  return attributes.type == cudaMemoryTypeDevice;
}

}  // namespace

Thread::Thread(Job& job, int vgpu)
    : lists("list", vgpu),
      streams("stream", vgpu),
      event_handles("event", vgpu),
      memories("memory", vgpu),
      job_(job),
      vgpu_(vgpu),
      rank_(job.ranks().rank_of(job.process(), vgpu)) {
  this_thread = this;
}

Thread::~Thread() {
  this_thread = nullptr;
  messages_.clear();
  lists.clear();  // before the pool of CUDA events, which they use
  event_handles.clear();
}

Thread& Thread::current() {
  if (this_thread == nullptr) fail(GMH_ERR_THREAD, "called on a thread that gmh_init did not start");
  return *this_thread;
}

Transfer Thread::transfer(bool is_send, char* buffer, std::size_t bytes, char* host, int peer,
                          int tag) const {
  const int sender = is_send ? rank_ : peer;
  const int receiver = is_send ? peer : rank_;
  return {is_send,
          buffer,
          bytes,
          job_.stages() ? host : nullptr,
          peer,
          tag,
          job_.route(sender, receiver, peer, tag)};
}

PinnedBytes Thread::staging_of(std::size_t bytes) {
  const auto fits = std::find_if(staging_.begin(), staging_.end(),
                                 [&](const PinnedBytes& memory) { return memory.bytes() >= bytes; });
  if (fits == staging_.end()) return PinnedBytes(std::bit_ceil(bytes));
  PinnedBytes taken = std::move(*fits);
  staging_.erase(fits);
  return taken;
}

std::shared_ptr<Event> Thread::begin(bool is_send, void* buffer, std::size_t bytes, int peer, int tag,
                                     cudaStream_t stream) {
  PinnedBytes staging;
  if (job_.stages() && bytes != 0 && is_on_gpu(buffer)) staging = staging_of(bytes);
  const Transfer sent = transfer(is_send, static_cast<char*>(buffer), bytes, staging.get(), peer, tag);
  auto event = std::make_shared<Event>(events_, sent, std::move(staging), stream,
                                       stream == nullptr ? copies() : stream);
  messages_.push_back(event);
  poll();
  return event;
}

void Thread::poll() {
  posting_order_.restart();
  bool any_is_done = false;
  for (const auto& event : messages_) {
    if (!posting_order_.poll(*event)) continue;
    any_is_done = true;
    if (PinnedBytes staging = event->take_staging(); staging.bytes() != 0)
      staging_.push_back(std::move(staging));
  }
  if (any_is_done) std::erase_if(messages_, [](const auto& event) { return event->is_done(); });
}

bool Thread::poll(Event& event) {
  poll();
  if (event.list() == nullptr || event.is_done()) return event.is_done();
  if (!event.has_started())
    fail(GMH_ERR_STUCK, "waiting for the command \"%s\", which has not started and cannot meanwhile",
         event.name().c_str());
  return event.poll();
}

void Thread::wait(Event& event) {
  Waiting waiting(job_.failure());
  while (!poll(event)) waiting.once();
}

void Thread::finish(cudaStream_t stream) {
  Waiting waiting(job_.failure());
  while (!is_done(cudaStreamQuery(stream), "wait for a stream")) {
    poll();
    waiting.once();
  }
}

std::string Thread::abandon() noexcept {
  std::string first;
  std::size_t count = 0;
  for (const auto& event : messages_) {
    if (count++ == 0) first = event->name();
    if (event->message()->abandon())
      new std::shared_ptr<Event>(event);  // never freed: MPI may still use its memory
  }
  return count == 0 ? "" : text("%zu of its messages under way (first: %s)", count, first.c_str());
}

}  // namespace gmh
