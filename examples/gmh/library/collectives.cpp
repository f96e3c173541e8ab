#include "examples/gmh/library/collectives.hpp"

#include <algorithm>

#include "examples/gmh/library/combine.hpp"
#include "examples/gmh/library/sizes.hpp"

namespace gmh {

Collectives::Collectives(Job& job)
    : job_(job),
      processes_(MPI_COMM_WORLD),
      threads_(static_cast<int>(job.devices().size())),
      seats_(job.devices().size()) {}

void Collectives::thread_barrier(Thread& thread) {
  const unsigned round = round_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
    arrived_.store(0, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    return;
  }
  Waiting waiting(job_.failure());
  while (round_.load(std::memory_order_acquire) == round) {
    thread.poll();
    waiting.once();
  }
}

void Collectives::complete(Thread& thread, MPI_Request& request, const char* what) const {
  Waiting waiting(job_.failure());
  for (;;) {
    int is_done = 0;
    check_mpi(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), what);
    if (is_done != 0) return;
    thread.poll();
    waiting.once();
  }
}

void Collectives::copy(Thread& thread, void* to, const void* from, std::size_t bytes) const {
  if (bytes != 0 && to != from)
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, thread.copies()), "copy for a collective");
}

void Collectives::publish(Thread& thread, char* buffer) {
  thread.finish(cudaStreamLegacy);  // a copy into the buffer may be under way there
  seats_[static_cast<std::size_t>(thread.vgpu())].buffer = buffer;
  thread_barrier(thread);
}

void Collectives::reserve_transit(std::size_t bytes) {
  if (job_.stages() && bytes > on_host_.bytes()) on_host_ = PinnedBytes(bytes);
  if (!job_.stages() && bytes > on_gpu_.bytes()) on_gpu_ = GpuBytes(bytes);
}

void Collectives::barrier(Thread& thread) {
  thread_barrier(thread);
  if (job_.ranks().processes() == 1) return;
  if (is_leader(thread)) {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibarrier(processes_.get(), &request), "meet in a barrier");
    complete(thread, request, "meet in a barrier");
  }
  thread_barrier(thread);
}

void Collectives::bcast(Thread& thread, void* buffer, std::size_t bytes, int root) {
  const int process = job_.ranks().process_of(root);
  const bool root_is_here = process == job_.process();
  publish(thread, static_cast<char*>(buffer));
  if (job_.stages() && job_.ranks().processes() > 1 && is_leader(thread)) reserve_transit(bytes);
  char* const of_root =
      seats_[static_cast<std::size_t>(root_is_here ? job_.ranks().vgpu_of(root) : 0)].buffer;
  char* from = of_root;
  if (job_.ranks().processes() > 1) {
    if (is_leader(thread)) {
      if (job_.stages()) {
        if (root_is_here) copy(thread, transit(), of_root, bytes);
        thread.finish(thread.copies());
        from = transit();
      }
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(MPI_Ibcast(from, static_cast<int>(bytes), MPI_BYTE, process, processes_.get(), &request),
                "broadcast");
      complete(thread, request, "broadcast");
    }
    thread_barrier(thread);
    if (job_.stages()) from = transit();
  }
  if (thread.rank() != root) copy(thread, buffer, from, bytes);
  thread.finish(thread.copies());
  thread_barrier(thread);  // from here on the root may write to its buffer
}

void Collectives::gather(Thread& thread, const void* send, void* receive, std::size_t bytes) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20;  // per rank: bounds the transit buffer
  std::size_t done = 0;
  do {
    const std::size_t some = std::min(most_bytes, bytes - done);
    gather_some(thread, static_cast<const char*>(send) + done,
                receive == nullptr ? nullptr : static_cast<char*>(receive) + done, some, bytes);
    done += some;
  } while (done < bytes);
}

void Collectives::gather_some(Thread& thread, const char* send, char* receive, std::size_t bytes,
                              std::size_t stride) {
  const Ranks& ranks = job_.ranks();
  publish(thread, const_cast<char*>(send));
  if (ranks.processes() == 1) {
    for (std::size_t rank = 0; receive != nullptr && rank < seats_.size(); ++rank)
      copy(thread, receive + rank * stride, seats_[rank].buffer, bytes);
    thread.finish(thread.copies());
    thread_barrier(thread);
    return;
  }
  if (is_leader(thread)) reserve_transit(static_cast<std::size_t>(ranks.size()) * bytes);
  thread_barrier(thread);
  copy(thread, transit() + static_cast<std::size_t>(thread.rank()) * bytes, send, bytes);
  thread.finish(thread.copies());
  thread_barrier(thread);
  if (is_leader(thread)) {
    std::vector<int> counts;
    std::vector<int> places;
    for (int process = 0; process < ranks.processes(); ++process) {
      counts.push_back(ranks.gpus_of(process) * static_cast<int>(bytes));
      places.push_back(ranks.first_of(process) * static_cast<int>(bytes));
    }
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, transit(), counts.data(), places.data(), MPI_BYTE,
                              processes_.get(), &request),
              "gather from all processes");
    complete(thread, request, "gather from all processes");
  }
  thread_barrier(thread);
  for (std::size_t rank = 0; receive != nullptr && rank < static_cast<std::size_t>(ranks.size()); ++rank)
    copy(thread, receive + rank * stride, transit() + rank * bytes, bytes);
  thread.finish(thread.copies());
}

void Collectives::reduce(Thread& thread, const void* send, void* receive, std::int64_t count,
                         gmh_datatype_t type, gmh_op_t op) {
  const std::int64_t most_elements = (std::int64_t{1} << 20) / static_cast<std::int64_t>(size_of(type));
  const int ranks = job_.ranks().size();
  GpuBytes& scratch = seats_[static_cast<std::size_t>(thread.vgpu())].scratch;
  for (std::int64_t done = 0; done < count; done += most_elements) {
    const std::int64_t some = std::min(most_elements, count - done);
    const std::size_t bytes = static_cast<std::size_t>(some) * size_of(type);
    const std::size_t offset = static_cast<std::size_t>(done) * size_of(type);
    if (receive != nullptr && scratch.bytes() < bytes * static_cast<std::size_t>(ranks))
      scratch = GpuBytes(bytes * static_cast<std::size_t>(ranks));
    gather_some(thread, static_cast<const char*>(send) + offset, receive == nullptr ? nullptr : scratch.get(),
                bytes, bytes);
    if (receive != nullptr)
      check(combine(thread.copies(), scratch.get(), ranks, some, type, op,
                    static_cast<char*>(receive) + offset),
            "combine what was sent");
    thread.finish(thread.copies());
  }
}

}  // namespace gmh
