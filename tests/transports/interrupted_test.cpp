// System calls that signals interrupt, as a sampling profiler's do.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>

#include "transports/host/retried.hpp"
#include "transports/regions/segment.hpp"

namespace {

/// So many calls of posix_fallocate are interrupted, as some kernels do it, before one is not.
int interruptions = 0;
bool may_be_interrupted = false;

}  // namespace

/// Found before the C library's.
extern "C" int posix_fallocate(int file, off_t offset, off_t bytes) {
  static const auto real = reinterpret_cast<int (*)(int, off_t, off_t)>(dlsym(RTLD_NEXT, "posix_fallocate"));
  sigset_t held;
  pthread_sigmask(SIG_BLOCK, nullptr, &held);
  if (sigismember(&held, SIGALRM) == 0) may_be_interrupted = true;
  if (interruptions > 0) {
    --interruptions;
    return EINTR;
  }
  return real(file, offset, bytes);
}

namespace penstock::transports {
namespace {

std::atomic<int> signals{0};

/// A timer whose handler lets no system call be restarted.
class Profiler {
 public:
  Profiler() {
    struct sigaction action {};
    action.sa_handler = [](int) { signals.fetch_add(1, std::memory_order_relaxed); };
    sigaction(SIGALRM, &action, &before_);
    const itimerval interval{{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &interval, nullptr);
  }
  ~Profiler() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

 private:
  struct sigaction before_ {};
};

TEST(InterruptedCalls, are_made_again_until_they_are_not_interrupted) {
  int calls = 0;
  EXPECT_EQ(retried([&] {
              errno = EINTR;
              return ++calls < 4 ? -1 : 7;
            }),
            7);
  EXPECT_EQ(calls, 4);
}

TEST(InterruptedCalls, that_fail_otherwise_are_not_made_again) {
  int calls = 0;
  EXPECT_EQ(retried([&] {
              errno = ENOSPC;
              ++calls;
              return -1;
            }),
            -1);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(errno, ENOSPC);
}

TEST(InterruptedCalls, for_the_space_of_a_segment_are_made_again) {
  interruptions = 3;
  std::shared_ptr<Segment> segment;
  const Status made = Segment::make(4096, segment);
  EXPECT_TRUE(made.ok()) << made.where() << ", errno " << made.detail();
  EXPECT_EQ(interruptions, 0);
}

/// A kernel that is interrupted gives back all that it had: to try again alone would never end.
TEST(InterruptedCalls, segments_of_any_size_are_made_under_a_profilers_timer) {
  const Profiler profiler;
  may_be_interrupted = false;
  const int before = signals;
  for (const std::size_t bytes : {std::size_t{4096}, std::size_t{1} << 20, std::size_t{64} << 20}) {
    std::shared_ptr<Segment> segment;
    const Status made = Segment::make(bytes, segment);
    EXPECT_TRUE(made.ok()) << bytes << " bytes: " << made.where() << ", errno " << made.detail();
  }
  EXPECT_FALSE(may_be_interrupted);
  while (signals == before) usleep(1000);  // the timer runs, and its signals are not held for good
}

TEST(InterruptedCalls, space_that_there_is_not_is_an_error) {
  EXPECT_EQ(reserve_space(-1, 0, 4096), EBADF);
}

}  // namespace
}  // namespace penstock::transports
