// A thread of the recorder's own. Knows nothing of what it does.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

namespace penstock::record {

/// Starts `work` with all signals blocked: the application's are not for this thread. Errors:
/// std::system_error.
template <typename Work>
[[nodiscard]] std::thread start_background_thread(const char* name, Work work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // a new thread inherits the mask
  struct Restore {
    const sigset_t& mask;
    ~Restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } const restore{before};
  return std::thread([name, work = std::move(work)] {
    pthread_setname_np(pthread_self(), name);
    work();
  });
}

}  // namespace penstock::record
