// The two processes of a measurement, as the measuring process sees them: this program started twice, each
// on one GPU. The measuring process uses no GPU itself, so that it can end both after a time in any
// case. This header knows neither questions nor conclusions.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "transports/host/host_mapping.hpp"
#include "transports/tune/exchange.hpp"

namespace penstock::transports::tune {

/// Owns the process; the destructor kills it.
class WorkerProcess {
 public:
  WorkerProcess() noexcept = default;
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();

  /// Returns false if it cannot be started (errno).
  [[nodiscard]] bool start(int device, bool receives, int exchange) noexcept;
  [[nodiscard]] bool tell(const Task& task) const noexcept;
  /// Returns false if the process is gone, or the deadline has passed.
  [[nodiscard]] bool hear(Outcome& outcome, std::chrono::steady_clock::time_point deadline) const noexcept;

 private:
  int socket_ = -1;
  pid_t process_ = -1;
};

/// Owns both processes, and the memory that they share. Unusable after a measurement that failed. Thread:
/// one.
class Pair {
 public:
  /// The devices of the payloads' source and destination.
  Pair(int sender_device, int receiver_device) noexcept;

  /// `limit` for all of it. An outcome that is not ok contains what failed.
  [[nodiscard]] Outcome measure(const Task& task, std::chrono::nanoseconds limit) noexcept;

 private:
  HostMapping mapping_;
  WorkerProcess sender_;
  WorkerProcess receiver_;
  bool is_started_ = false;
};

/// The option with which `penstock tune` starts itself again: socket, exchange, device, 1 if it receives.
inline constexpr const char* worker_option = "--worker";

}  // namespace penstock::transports::tune
