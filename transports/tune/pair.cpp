#include "transports/tune/pair.hpp"
#include "transports/host/retried.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <new>

extern char** environ;

namespace penstock::transports::tune {
namespace {

using Clock = std::chrono::steady_clock;

Outcome failed(const char* what) noexcept {
  Outcome outcome{};
  std::snprintf(outcome.what, sizeof outcome.what, "%s", what);
  return outcome;
}

}  // namespace

WorkerProcess::~WorkerProcess() {
  if (socket_ >= 0) ::close(socket_);
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  retried([&] { return ::waitpid(process_, nullptr, 0); });
}

bool WorkerProcess::start(int device, bool receives, int exchange) noexcept {
  // descriptors of the child's ends
  constexpr int socket_there = 3;
  constexpr int exchange_there = 4;
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return false;
  socket_ = sockets[0];
  char arguments[64];
  std::snprintf(arguments, sizeof arguments, "%d,%d,%d,%d", socket_there, exchange_there, device,
                receives ? 1 : 0);
  char name[] = "penstock";
  char command[] = "tune";
  char option[16];
  std::snprintf(option, sizeof option, "%s", worker_option);
  char* const words[] = {name, command, option, arguments, nullptr};
  // above those numbers
  const int socket_end = ::fcntl(sockets[1], F_DUPFD_CLOEXEC, 10);
  const int exchange_end = ::fcntl(exchange, F_DUPFD_CLOEXEC, 10);
  posix_spawn_file_actions_t actions;
  bool started = false;
  if (::posix_spawn_file_actions_init(&actions) == 0) {
    started = ::posix_spawn_file_actions_adddup2(&actions, socket_end, socket_there) == 0 &&
              ::posix_spawn_file_actions_adddup2(&actions, exchange_end, exchange_there) == 0 &&
              ::posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, words, environ) == 0;
    ::posix_spawn_file_actions_destroy(&actions);
  }
  for (const int end : {sockets[1], socket_end, exchange_end}) ::close(end);
  if (!started) process_ = -1;
  return started;
}

bool WorkerProcess::tell(const Task& task) const noexcept {
  return retried([&] { return ::send(socket_, &task, sizeof task, MSG_NOSIGNAL); }) == sizeof task;
}

bool WorkerProcess::hear(Outcome& outcome, Clock::time_point deadline) const noexcept {
  pollfd ready{socket_, POLLIN, 0};
  const auto wait = [&] {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    return ::poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  };
  if (retried(wait) != 1) return false;
  return retried([&] { return ::recv(socket_, &outcome, sizeof outcome, 0); }) == sizeof outcome;
}

Pair::Pair(int sender_device, int receiver_device) noexcept {
  const int exchange = ::memfd_create("penstock-tune", MFD_CLOEXEC);
  if (exchange < 0) return;
  if (retried([&] { return ::ftruncate(exchange, sizeof(Exchange)); }) == 0) {
    mapping_ = HostMapping(sizeof(Exchange), exchange);
    is_started_ = mapping_ && sender_.start(sender_device, false, exchange) &&
                  receiver_.start(receiver_device, true, exchange);
  }
  ::close(exchange);
}

Outcome Pair::measure(const Task& task, std::chrono::nanoseconds limit) noexcept {
  if (!is_started_) return failed("the two processes could not be started");
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  auto& exchange = *new (mapping_.address()) Exchange{};
  Outcome sent{};
  Outcome received{};
  if (!sender_.tell(task) || !sender_.hear(sent, deadline)) return failed("the sender does not answer");
  if (!sent.ok) return sent;
  if (!receiver_.tell(task) || !receiver_.hear(received, deadline))
    return failed("the receiver does not answer");
  exchange.is_over.store(1);
  if (!sender_.hear(sent, deadline)) return failed("the sender does not finish");
  return sent.ok ? received : sent;
}

}  // namespace penstock::transports::tune
