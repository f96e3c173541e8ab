// gmh_init, and the queries about ranks.
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "examples/gmh/library/binding.hpp"
#include "examples/gmh/library/collectives.hpp"
#include "examples/gmh/library/interface.hpp"
#include "examples/gmh/library/places.hpp"
#include "examples/gmh/library/task_list.hpp"

namespace gmh {
namespace {

std::atomic<bool> is_active{false};  ///< gmh_init is running

/// Enables peer access to the process's other GPUs. Without it the driver copies through host memory.
void reach_other_gpus(const std::vector<int>& devices, int own) {
  for (const int other : devices) {
    int can = 0;
    if (other == own) continue;
    check(cudaDeviceCanAccessPeer(&can, own, other), "ask for peer access");
    if (can == 0) continue;
    const cudaError_t error = cudaDeviceEnablePeerAccess(other, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();
    } else {
      check(error, "enable peer access");
    }
  }
}

/// Abandons the thread's pending messages.
void close(Thread& thread) {
  std::string unfinished = thread.abandon();
  thread.lists.for_each([&](TaskList& list) {
    if (const std::string of_list = list.abandon(); unfinished.empty()) unfinished = of_list;
  });
  if (!unfinished.empty() && !thread.job().failure().is_set())
    fail(GMH_ERR_UNFINISHED, "the thread function of GMH rank %d returned with %s", thread.rank(),
         unfinished.c_str());
}

void run_thread(Job& job, int vgpu, const Cores& cores, gmh_thread_func_t function, void* argument) noexcept {
  const int code = guarded([&] {
    pthread_setname_np(pthread_self(), text("gmh %d", vgpu).c_str());  // for debuggers and profiles
    bind_to(cores);
    const int device = job.devices()[static_cast<std::size_t>(vgpu)];
    check(cudaSetDevice(device), "choose a GPU");
    reach_other_gpus(job.devices(), device);
    Thread thread(job, vgpu);
    const gmh_tasklist_t list = thread.lists.add(std::make_shared<TaskList>(thread));
    job.collectives().thread_barrier(thread);  // all threads have enabled peer access
    function(list, argument);
    close(thread);
  });
  if (code != GMH_OK) job.failure().set(Error(static_cast<gmh_error>(code), gmh_error_string(code)));
}

void run_threads(Job& job, gmh_thread_func_t function, void* argument) {
  std::vector<std::string> addresses;
  for (const int device : job.devices()) {
    char address[32] = "";
    check(cudaDeviceGetPCIBusId(address, sizeof address, device), "ask for a GPU's place on the PCI bus");
    addresses.emplace_back(address);
  }
  const std::vector<Cores> cores = cores_near(addresses);
  std::vector<std::thread> threads;
  for (std::size_t vgpu = 0; vgpu < cores.size(); ++vgpu)
    threads.emplace_back(run_thread, std::ref(job), static_cast<int>(vgpu), std::cref(cores[vgpu]), function,
                         argument);
  for (std::thread& each : threads) each.join();
  job.failure().close();
  job.failure().throw_if_set();
}

}  // namespace
}  // namespace gmh

using namespace gmh;

int gmh_init(int* argc, char*** argv, int gpus, gmh_thread_func_t function, void* argument) {
  return guarded([&] {
    if (is_active.exchange(true)) fail(GMH_ERR_ARGUMENT, "gmh_init was called while it is under way");
    struct Active {
      ~Active() { is_active = false; }
    } active;
    Places places = find_places(argc, argv, gpus, function != nullptr);
    Job job(std::move(places.ranks), std::move(places.devices));
    run_threads(job, function, argument);
  });
}

int gmh_rank(gmh_tasklist_t list, int* rank) {
  return guarded([&] { result(rank) = list_of(list)->thread().rank(); });
}
int gmh_size(gmh_tasklist_t list, int* size) {
  return guarded([&] { result(size) = list_of(list)->thread().job().ranks().size(); });
}
int gmh_rank_of(gmh_tasklist_t list, int mpi_rank, int vgpu, int* rank) {
  return guarded([&] { result(rank) = list_of(list)->thread().job().ranks().rank_of(mpi_rank, vgpu); });
}
int gmh_mpi_rank(gmh_tasklist_t list, int rank, int* mpi_rank) {
  return guarded([&] { result(mpi_rank) = list_of(list)->thread().job().ranks().process_of(rank); });
}
int gmh_vgpu(gmh_tasklist_t list, int rank, int* vgpu) {
  return guarded([&] { result(vgpu) = list_of(list)->thread().job().ranks().vgpu_of(rank); });
}
