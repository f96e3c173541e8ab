// A thread of Penstock's own inside the application's process. Does not know what it does.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstddef>
#include <thread>
#include <utility>

namespace penstock {

/// Starts `work` with the application's signals blocked: they are not for this thread. Signals that the
/// thread causes itself stay open (an application may catch the fault of a page that it protects). `name`: a
/// literal. Errors: std::system_error.
template <std::size_t name_bytes, typename Work>
[[nodiscard]] std::thread start_background_thread(const char (&name)[name_bytes], Work work) {
  static_assert(name_bytes <= 16, "Linux gives no thread a longer name");
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (const int own : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) sigdelset(&blocked, own);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);  // a new thread inherits the mask
  struct Restore {
    const sigset_t& mask;
    ~Restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } const restore{before};
  return std::thread([&name, work = std::move(work)] {
    pthread_setname_np(pthread_self(), name);
    work();
  });
}

}  // namespace penstock
