// Carries out one rank's part of a program and tells what it saw: a line for each receive and collective
// (status and digest), and one for all memory of each kind. Lines are in the order of the program's
// operations, not of their completion, which MPI leaves open.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/differential/arenas.hpp"
#include "tests/differential/collective_calls.hpp"
#include "tests/differential/freed_run.hpp"
#include "tests/differential/program.hpp"

namespace penstock::differential {

/// In which form operations are carried out that may have another.
enum class Forms : std::uint8_t {
  persistent_messages,
  /// And no persistent messages in that process: MPICH (4.0) takes the object of a freed one for a persistent
  /// collective.
  persistent_collectives,
  /// Persistent messages, too. The ranks agree on them from the beginning.
  nonblocking_collectives,
};

/// Lives for one program; `world` holds exactly its ranks. Thread: one.
class Executor {
 public:
  Executor(const Program& program, MPI_Comm world, Arenas& arenas, Forms forms);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  void run();
  /// What was seen, after run(): "operation: outcome", ordered.
  [[nodiscard]] std::vector<std::string> tell();

 private:
  void make_communicators();
  void attach_buffer();
  void use_gpu();
  void perform(const Action& action);
  /// In no callback, or in the action's already.
  void perform_here(const Action& action);
  void perform_send(ActionKind kind, int index);
  void perform_receive(ActionKind kind, int index);
  void perform_sendrecv(int sent, int received);
  void perform_collective(int index);
  void perform_race(int index);
  void receive_race(const Race& race, std::size_t index);
  void post_unmatched(int index);
  void cancel_unmatched(int index);
  void complete(const Action& action);
  void test_or_wait_for_all(const Action& action);
  void step(ActionKind kind);

  void prepare(int message);
  void finish_send(int message);
  void finish_receive(int message, const MPI_Status& status);
  void finish_collective(int index);
  void finish(const Operation& operation, const MPI_Status& status);
  [[nodiscard]] bool is_pending(const Operation& operation) const;
  [[nodiscard]] MPI_Request& request_of(const Operation& operation);
  void leave_pending(OperationKind kind, int index);

  [[nodiscard]] std::string digest_of(const Place& place) const;
  [[nodiscard]] const Message& message_at(int index) const {
    return program_.messages[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] MPI_Comm communicator(int index) const {
    return communicators_[static_cast<std::size_t>(index)];
  }
  /// Rank of a program's rank in one of its communicators.
  [[nodiscard]] int rank_in(int communicator, int rank) const;

  const Program& program_;
  MPI_Comm world_;
  Arenas& arenas_;
  const Forms forms_;
  int rank_ = 0;
  AffineComposition affine_;
  std::vector<MPI_Comm> communicators_;
  std::vector<MPI_Comm> rings_;  ///< of the communicators; null where there is one member
  MPI_Comm race_communicator_ = MPI_COMM_NULL;
  std::vector<std::byte> attached_;
  std::vector<MPI_Request> send_requests_, receive_requests_, collective_requests_, unmatched_requests_;
  std::vector<std::unique_ptr<CollectiveRun>> collectives_;
  std::vector<std::unique_ptr<FreedRun>> freed_;
  std::vector<Operation> pending_;
  std::vector<std::string> message_lines_, collective_lines_, race_lines_, unmatched_lines_, freed_lines_,
      error_lines_;
};

}  // namespace penstock::differential
