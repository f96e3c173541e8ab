// A process of a test that sends or receives through the transports, driven by the test over a socket: the
// test's own program started again. So one test sees both ends of a transport between two real processes,
// each with an environment of its own, and may kill either.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/regions/offer.hpp"
#include "transports/staged/staged_send.hpp"
#include "transports/transport.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports::test {

/// A layout that fits into a message between processes.
struct Shape {
  std::size_t bytes = 0;
  std::size_t row_bytes = 0;  ///< 0: contiguous
  std::ptrdiff_t stride = 0;
  [[nodiscard]] Layout layout() const;
  /// Of an allocation that holds it, with guard bytes behind.
  [[nodiscard]] std::size_t extent() const noexcept;
};

/// What became of a request.
struct Answer {
  Code code = Code::ok;
  int detail = 0;
  char where[96] = "";
  char reason[96] = "";
  TransportKind transport = TransportKind::none;
  Offer offer{};
  std::int64_t value = 0;
  [[nodiscard]] bool ok() const noexcept { return code == Code::ok; }
};

/// Owns: the process; kills it when it goes. Thread: one at a time.
class Partner {
 public:
  explicit Partner(const std::vector<std::string>& environment = {});
  ~Partner();
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;

  void allocate(unsigned slot, BufferKind kind, std::size_t bytes, int device = 0);
  void release(unsigned slot);
  void fill(unsigned slot, const Shape& shape, std::uint64_t seed);
  /// Index of the first wrong byte, -1 if all are right.
  [[nodiscard]] std::ptrdiff_t check(unsigned slot, const Shape& shape, std::size_t payload_bytes,
                                     std::uint64_t seed);

  /// describe(): `reason` says why the memory is not exported.
  [[nodiscard]] Answer describe(unsigned slot, const Shape& shape);
  /// StagedSend::start() and its offer.
  [[nodiscard]] Answer stage(unsigned slot, const Shape& shape, Staging staging);
  /// Starts to drive the StagedSend until it is produced and drained, and destroys it; served() has the
  /// outcome.
  void serve();
  [[nodiscard]] Answer served();
  /// The same without waiting for the receiver: until produced (`value` 1 if it was drained then).
  [[nodiscard]] Answer produce();
  /// Destroys the StagedSend as it is.
  void drop_send(bool abandon = false);

  /// start_push() into the destination that `target` describes.
  [[nodiscard]] Answer begin_push(unsigned slot, const Shape& shape, const Offer& target);
  /// Drives it to its end.
  [[nodiscard]] Answer finish_push();
  /// Destroys it as it is.
  void drop_push();
  /// begin_push() and finish_push().
  [[nodiscard]] Answer push(unsigned slot, const Shape& shape, const Offer& target);

  /// choose() and Transport::start() until a transport has begun. Code::declined: none, the sender has to
  /// begin on `transport`.
  [[nodiscard]] Answer begin(unsigned slot, const Shape& shape, const Offer& offer);
  /// One step of the pull; `value` 1: it is finished.
  [[nodiscard]] Answer advance();
  /// Drives the pull to its end.
  [[nodiscard]] Answer finish();
  /// Destroys the pull as it is.
  void drop_pull();
  /// begin() and finish().
  [[nodiscard]] Answer receive(unsigned slot, const Shape& shape, const Offer& offer);

  void force_transport(TransportKind transport);
  void set_tuning(const Tuning& table);
  void shut_down();
  [[nodiscard]] std::int64_t open_descriptors();
  [[nodiscard]] std::int64_t resident_bytes();
  [[nodiscard]] std::int64_t cached_ranges();
  [[nodiscard]] std::int64_t devices();
  [[nodiscard]] bool is_simulated();

  [[nodiscard]] pid_t process() const noexcept { return process_; }
  /// SIGKILL, and waits until it is gone.
  void kill();

 private:
  struct Request;
  void send(const Request& request);
  [[nodiscard]] Answer receive_answer();
  Answer ask(const Request& request);
  friend int run_partner(int socket);

  pid_t process_ = -1;
  int socket_ = -1;
};

/// What partners have to play with. Asked in a process of its own, so that the test stays without CUDA.
[[nodiscard]] int device_count_of_machine();
[[nodiscard]] bool machine_is_simulated();

/// The other side: what the program does when it is started as a partner. Returns the exit status.
[[nodiscard]] int run_partner(int socket);
/// The argument with which it is.
inline constexpr const char* partner_argument = "--partner";
/// What is shipped, but that processes on one GPU do not avoid it: what partners begin with.
[[nodiscard]] Tuning tuning_alone_on_gpus();

}  // namespace penstock::transports::test
