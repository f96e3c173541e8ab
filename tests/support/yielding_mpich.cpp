// Preloaded under MPICH where ranks are more than cores: it polls without ever giving up the processor, so
// that ranks wait for each other until the kernel's scheduler takes their turn away (three ranks on two cores
// take three times as long). Its UCX device polls by this function of UCX; the time is given up when there
// was nothing to do. Does nothing under an MPICH of another device. Programs may have opened MPICH, and so
// UCX, for a module of theirs alone.
#include <dlfcn.h>
#include <sched.h>

namespace {

using Progress = unsigned (*)(void*);

Progress function_of_ucx() {
  void* const next = dlsym(RTLD_NEXT, "ucp_worker_progress");
  void* const library = next == nullptr ? dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  return reinterpret_cast<Progress>(library == nullptr ? next : dlsym(library, "ucp_worker_progress"));
}

}  // namespace

extern "C" [[gnu::visibility("default")]] unsigned ucp_worker_progress(void* worker) {
  static const Progress next = function_of_ucx();
  const unsigned events = next(worker);
  if (events == 0) sched_yield();
  return events;
}
