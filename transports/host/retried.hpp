// System calls in another program's job: its signal handlers may have been installed without SA_RESTART, and
// a profiler's timer interrupts every few hundred µs. No call may fail for that.
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <cstddef>

namespace penstock {

/// Makes a call that fails with -1 and errno, and repeats it while it was only interrupted.
template <typename Call>
auto retried(Call call) noexcept {
  for (;;) {
    const auto result = call();
    if (result != -1 || errno != EINTR) return result;
  }
}

/// Reserves a file's space; the file grows if need be. Returns 0 or errno. Signals are blocked meanwhile,
/// since a kernel that is interrupted gives back what it had (shmem_fallocate): for large files, or with
/// frequent signals, no attempt would be the last.
[[nodiscard]] inline int reserve_space(int file, std::size_t offset, std::size_t bytes) noexcept {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  const bool is_held = pthread_sigmask(SIG_SETMASK, &all, &before) == 0;
  int error = 0;
  do {
    error = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (error == EINTR);
  if (is_held) pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace penstock
