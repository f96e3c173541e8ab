// The two processes of a measurement, as the one that measures sees them: this program started twice, each on
// a GPU of its own. It uses no GPU itself, so that whatever becomes of them can be ended after a time. Knows
// neither questions nor conclusions.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "transports/host/host_mapping.hpp"
#include "transports/tune/exchange.hpp"

namespace penstock::transports::tune {

/// Owns: the process; kills it when it goes.
class WorkerProcess {
 public:
  WorkerProcess() noexcept = default;
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  /// False: it cannot be started (errno).
  [[nodiscard]] bool start(int device, bool receives, int exchange) noexcept;
  [[nodiscard]] bool tell(const Task& task) const noexcept;
  /// False: it is gone, or the deadline has passed.
  [[nodiscard]] bool hear(Outcome& outcome, std::chrono::steady_clock::time_point deadline) const noexcept;

 private:
  int socket_ = -1;
  pid_t process_ = -1;
};

/// Owns: both processes, and what they share. Of no more use after a measurement that failed. Thread: one.
class Pair {
 public:
  /// Where the payloads come from, and where they go to.
  Pair(int sender_device, int receiver_device) noexcept;

  /// `limit` for all of it. An outcome that is not ok says what failed.
  [[nodiscard]] Outcome measure(const Task& task, std::chrono::nanoseconds limit) noexcept;

 private:
  HostMapping mapping_;
  WorkerProcess sender_;
  WorkerProcess receiver_;
  bool is_started_ = false;
};

/// Of `penstock tune`, with which it starts itself again: socket, exchange, device, 1 if it receives.
inline constexpr const char* worker_option = "--worker";

}  // namespace penstock::transports::tune
