// Preloaded under MPICH where ranks are more than cores: it polls without ever giving up the processor, so
// that ranks wait for each other until the kernel's scheduler takes their turn away (three ranks on two cores
// take three times as long). Its UCX device polls by this function of UCX; the time is given up when there
// was nothing to do. Does nothing under an MPICH of another device.
#include <dlfcn.h>
#include <sched.h>

extern "C" [[gnu::visibility("default")]] unsigned ucp_worker_progress(void* worker) {
  using Progress = unsigned (*)(void*);
  static const auto next = reinterpret_cast<Progress>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  const unsigned events = next(worker);
  if (events == 0) sched_yield();
  return events;
}
