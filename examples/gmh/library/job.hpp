// The state that all threads of a process share while gmh_init runs: ranks, communicators, and the way of
// messages.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "examples/gmh/library/failure.hpp"
#include "examples/gmh/library/ranks.hpp"

namespace gmh {

class Collectives;

/// Owns: a duplicate of a communicator, with MPI_ERRORS_RETURN.
class Communicator {
 public:
  explicit Communicator(MPI_Comm from);
  ~Communicator() { MPI_Comm_free(&communicator_); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  [[nodiscard]] MPI_Comm get() const noexcept { return communicator_; }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

/// The arguments by which MPI finds a message's peer.
struct Route {
  MPI_Comm communicator;
  int process;
  int tag;
};

class Job {
 public:
  /// Collective. `devices` are those of this process's virtual GPUs; one of them must be current.
  Job(Ranks ranks, std::vector<int> devices);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  [[nodiscard]] const Ranks& ranks() const noexcept { return ranks_; }
  [[nodiscard]] int process() const noexcept { return process_; }
  [[nodiscard]] const std::vector<int>& devices() const noexcept { return devices_; }
  [[nodiscard]] Failure& failure() noexcept { return failure_; }
  [[nodiscard]] Collectives& collectives() noexcept { return *collectives_; }
  /// Returns whether messages are staged, because MPI is not GPU-aware or GMH_EXCHANGE requests it.
  [[nodiscard]] bool stages() const noexcept { return stages_; }

  /// Returns the route from `sender` to `receiver`; `other` is the one of them that is not this rank. The
  /// communicator belongs to the receiving virtual GPU, the tag includes the sending one. Throws on a bad tag
  /// or rank.
  [[nodiscard]] Route route(int sender, int receiver, int other, int tag) const;

 private:
  Ranks ranks_;
  std::vector<int> devices_;
  int process_ = 0;
  bool stages_;
  std::int64_t tags_;  ///< number of tags that the program may use
  std::vector<std::unique_ptr<Communicator>> receivers_;
  Communicator notices_;
  Failure failure_;
  std::unique_ptr<Collectives> collectives_;
};

}  // namespace gmh
