// Carries out one case on the ranks: fills buffers, sends and receives, and tells what the receiver saw: its
// statuses, a digest of its whole buffer, and the first byte that is not what it should be.
#pragma once

#include <mpi.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/matrix/calls.hpp"
#include "tests/matrix/case.hpp"
#include "tests/support/memory.hpp"

namespace penstock::matrix {

struct Outcome {
  std::string
      seen;  ///< statuses and digest, to be compared with a plain run; empty on a rank that only sends
  std::string fault;  ///< what is wrong in itself; empty when nothing is
};

/// Owns the buffers of a rank, kept from case to case. Two ranks call run() in step. Thread: one.
class Exchange {
 public:
  /// `host_only`: every buffer is pageable memory and no GPU is touched.
  explicit Exchange(bool host_only);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  [[nodiscard]] Outcome run(const Case& test);

 private:
  enum class Role : std::uint8_t { sender, receiver };
  using Bytes = std::vector<std::byte>;
  struct Side;

  void renew_communicator();
  test_support::Memory& memory(const Case& test, Role role, std::size_t span_bytes);
  void fill_sender(const Case& test, Side& side, int round);
  void fill_receiver(const Case& test, Side& side, int round);
  void send(const Case& test, Side& side);
  std::string receive(const Case& test, Side& side);
  std::string send_to_self(const Case& test, Side& sender, Side& receiver);
  std::string exchange(const Case& test, Side& sender, Side& receiver);
  void scribble(Side& side);
  void judge(const Side& receiver, Outcome& outcome);
  void tell_other();
  void await_other();

  bool host_only_;
  int gpus_ = 0;
  int rank_ = 0;
  int cases_ = 0;
  MPI_Comm data_ = MPI_COMM_NULL;     ///< the messages under test
  MPI_Comm to_self_ = MPI_COMM_NULL;  ///< the same to oneself: both ranks do it, with nobody's wildcards near
  MPI_Comm control_ = MPI_COMM_NULL;  ///< who comes first; host memory only
  std::map<std::tuple<MemoryKind, int, Role>, test_support::Memory> memories_;
  // kept too: half of the time went into getting megabytes from the kernel
  Bytes payload_;
  Bytes found_;
  Bytes sender_image_;
  Bytes receiver_image_;
};

}  // namespace penstock::matrix
