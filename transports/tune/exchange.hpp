// The memory that the two processes of a measurement share, and the tasks that they get. Offers pass here
// from the sender to the receiver, as between two ranks, but without MPI. Nothing here is checked: both
// processes are this program, started by itself.
#pragma once

#include <atomic>
#include <cstdint>

#include "transports/regions/offer.hpp"
#include "transports/transport.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports::tune {

inline constexpr unsigned most_messages = 16;
inline constexpr unsigned most_variants = 8;

/// One payload's state, and beside each state the process that may change it.
enum class State : std::uint32_t {
  idle,     ///< receiver: → wanted
  wanted,   ///< sender: → offered
  offered,  ///< receiver: → wants_…, or pulls
  wants_relaying,
  wants_staging,  ///< sender, as for the one before: → staged
  staged,         ///< receiver pulls
  wants_pushing,  ///< sender: → pushed
  pushed,         ///< receiver: → taken
  taken,          ///< sender: → idle
};

struct Slot {
  std::atomic<State> state;
  Offer offer;
  Offer target;  ///< the receiver's memory, for a push
};

struct Exchange {
  Slot slots[most_messages];
  std::atomic<std::uint32_t> variant;  ///< whose table both use; set by the receiver before `wanted`
  std::atomic<std::uint32_t> is_over;  ///< the receiver wants no more payloads of the point
  std::atomic<std::uint32_t> sender_failed;
};

/// The payloads and tables to measure.
struct Task {
  BufferKind from;
  BufferKind to;
  unsigned messages;
  unsigned variants;
  std::uint64_t bytes;  ///< of each payload
  Tuning tables[most_variants];
  unsigned least_rounds;  ///< a round is each variant once
  unsigned most_rounds;
  std::uint64_t enough_ns;  ///< rounds end after this time, but not before least_rounds
};

/// The result of a task.
struct Outcome {
  bool ok;
  int detail;
  char what[120];           ///< that failed, or after a measurement: why the last variant took its transport
  TransportKind transport;  ///< of the last variant
  double median_ns[most_variants];
};

}  // namespace penstock::transports::tune
