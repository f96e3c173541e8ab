// One cell of the message matrix: which message is sent from what to what, and how. The full product is
// numbered, so that a number names the same case in every run. Knows neither MPI nor memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/support/memory.hpp"

namespace penstock::matrix {

using test_support::MemoryKind;

/// How both sides call. The receiver's call goes with the sender's: blocking with blocking, and so on.
enum class Style : std::uint8_t {
  blocking,          ///< Send, Recv
  nonblocking,       ///< Isend, Irecv
  sendrecv,          ///< Sendrecv on both ranks
  sendrecv_replace,  ///< Sendrecv_replace on both ranks
  persistent,        ///< Send_init, Recv_init, started twice
  synchronous,       ///< Ssend, Recv
  synchronous_nonblocking,
  synchronous_persistent,
  buffered,  ///< Bsend, Recv
  buffered_nonblocking,
  buffered_persistent,
  ready,  ///< Rsend, Irecv posted before
  ready_nonblocking,
  ready_persistent,
};

enum class Match : std::uint8_t {
  exact,
  any_source,
  any_tag,
  any_source_any_tag,
  after_probe,
  after_iprobe,
  after_mprobe,
  after_improbe
};

enum class Placement : std::uint8_t { two_devices, same_device, self };
enum class Form : std::uint8_t { contiguous, vector };

/// What is varied along, by the case's number, rather than multiplied out.
enum class Arrival : std::uint8_t { receiver_first, sender_first, together };
enum class Room : std::uint8_t { exact, more_elements, larger_element };
enum class Completion : std::uint8_t { wait, test, waitall, testall, waitany, testany, waitsome, testsome };

struct Case {
  std::size_t number = 0;
  MemoryKind sender_kind{};
  MemoryKind receiver_kind{};
  std::size_t bytes = 0;
  Style style{};
  Match match{};
  Placement placement{};
  Form sender_form{};
  Form receiver_form{};

  Arrival arrival{};
  Room room{};
  Completion completion{};
  int tag = 0;
  bool probes_by_wildcard = false;
  /// One element of an absolute type from MPI_BOTTOM on; an empty one where there are no bytes.
  bool sender_is_absolute = false;
  bool receiver_is_absolute = false;
  bool fresh_memory = false;  ///< free and allocate again first: the same address, another allocation
  std::uint64_t seed = 0;

  [[nodiscard]] bool exchanges() const {
    return style == Style::sendrecv || style == Style::sendrecv_replace;
  }
  [[nodiscard]] bool probes() const { return match >= Match::after_probe; }
};

/// Sizes around every threshold: the envelope's (64), what a standard send always buffers (64 KiB), the
/// chunks of the staged transport, and pieces that end in none of them.
inline constexpr std::array<std::size_t, 13> message_sizes = {
    0, 1, 63, 64, 65, 72, 4096, 65535, 65536, 65544, 1 << 20, (4 << 20) + 8, 16 << 20};

/// How many numbers there are; not each is a legal case.
[[nodiscard]] std::size_t case_count();
[[nodiscard]] Case make_case(std::size_t number);
/// False for what MPI forbids or what would repeat another case.
[[nodiscard]] bool is_legal(const Case& test);
/// True for the planes and the sample that every run covers; the others take --full.
[[nodiscard]] bool is_in_short_run(const Case& test);
/// One line that says all of it.
[[nodiscard]] std::string describe(const Case& test);

}  // namespace penstock::matrix
