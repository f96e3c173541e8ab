#include "transports/host/process.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace penstock::transports {
namespace {

TEST(Process, has_one_identity_and_is_alive) {
  EXPECT_EQ(this_process(), this_process());
  EXPECT_EQ(this_process().id, getpid());
  EXPECT_NE(this_process().nonce, 0u);
  EXPECT_TRUE(is_alive(this_process()));
}

TEST(Process, with_the_same_id_but_another_start_is_not_alive) {
  ProcessIdentity earlier = this_process();
  earlier.nonce -= 1ull << 40;
  EXPECT_FALSE(is_alive(earlier));
}

TEST(Process, that_never_was_is_not_alive) {
  EXPECT_FALSE(is_alive({}));
  EXPECT_FALSE(is_alive({-1, 1}));
  EXPECT_FALSE(is_alive({INT32_MAX, 1}));
}

TEST(Process, after_fork_is_another) {
  const ProcessIdentity parent = this_process();
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t process = fork();
  if (process == 0) {
    const ProcessIdentity self = this_process();
    const bool sent = write(channel[1], &self, sizeof(self)) == sizeof(self);
    pause();
    _exit(sent ? 0 : 1);
  }
  ProcessIdentity child;
  ASSERT_EQ(read(channel[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
  EXPECT_EQ(child.id, process);
  EXPECT_NE(child, parent);
  EXPECT_TRUE(is_alive(child));
  kill(process, SIGKILL);
  siginfo_t information;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(process), &information, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(is_alive(child)) << "killed, but not reaped yet";
  waitpid(process, nullptr, 0);
  EXPECT_FALSE(is_alive(child));
  close(channel[0]);
  close(channel[1]);
}

TEST(Process, after_fork_whose_first_thread_has_ended_is_alive_as_long_as_another_runs) {
  int channel[2];
  ASSERT_EQ(pipe(channel), 0);
  const pid_t process = fork();
  if (process == 0) {
    static const int end = channel[1];
    static const pthread_t first = pthread_self();
    pthread_t other{};
    const auto run = [](void*) -> void* {
      pthread_join(first, nullptr);
      const ProcessIdentity self = this_process();
      if (write(end, &self, sizeof(self)) != sizeof(self)) _exit(1);
      for (;;) pause();
    };
    if (pthread_create(&other, nullptr, run, nullptr) != 0) _exit(1);
    syscall(SYS_exit, 0);  // of the thread alone, without unwinding the test
  }
  close(channel[1]);
  ProcessIdentity child;
  ASSERT_EQ(read(channel[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
  EXPECT_TRUE(is_alive(child));
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  EXPECT_FALSE(is_alive(child));
  close(channel[0]);
}

}  // namespace
}  // namespace penstock::transports
