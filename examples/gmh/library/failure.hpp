// The first failure of any thread ends the lists and waits of all ranks, which could otherwise wait for
// messages that are never sent. A failing process notifies the others by messages on a private communicator.
#pragma once

#include <mpi.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "examples/gmh/library/checks.hpp"

namespace gmh {

/// Thread: any.
class Failure {
 public:
  /// Collective. Only this object uses `communicator`.
  explicit Failure(MPI_Comm communicator);
  ~Failure();
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;

  /// Stores the first failure and notifies the other processes.
  void set(const Error& error) noexcept;
  [[nodiscard]] bool is_set() const noexcept { return code_.load(std::memory_order_acquire) != GMH_OK; }
  void throw_if_set() const;
  [[nodiscard]] Error first() const;
  /// Checks for a notice of another process, unless another thread is checking.
  void poll() noexcept;
  /// Receives all notices that are under way: on a freed communicator they could match a later one's
  /// receives. Collective, after all threads of all processes have returned.
  void close();

 private:
  struct Notice {
    int code;
    char line[508];
  };

  void keep(int code, const char* line) noexcept;
  void receive_notice() noexcept;

  MPI_Comm communicator_;
  std::atomic<int> code_{GMH_OK};
  std::string line_;  ///< written before code_ is set, then only read
  std::mutex mutex_;  ///< protects writing, and the members below
  Notice notice_{};
  Notice sent_notice_{};
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::vector<MPI_Request> sends_;
  int received_notices_ = 0;
};

}  // namespace gmh
