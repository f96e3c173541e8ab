// Memory that the two processes of a measurement share, and what they are told to do: here offers pass from
// the sender to the receiver, as they would between two ranks, but without MPI. Nothing here is checked: both
// are this program, started by itself.
#pragma once

#include <atomic>
#include <cstdint>

#include "transports/regions/offer.hpp"
#include "transports/transport.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports::tune {

inline constexpr unsigned most_messages = 16;
inline constexpr unsigned most_variants = 8;

/// One payload's state; who may change it stands behind.
enum class State : std::uint32_t {
  idle,     ///< receiver: → wanted
  wanted,   ///< sender: → offered
  offered,  ///< receiver: → wants_…, or pulls
  wants_relaying,
  wants_staging,  ///< sender, as the one before: → staged
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
  std::atomic<std::uint32_t> variant;  ///< whose table both go by; set by the receiver before it wants
  std::atomic<std::uint32_t> is_over;  ///< the receiver wants nothing more of the point
  std::atomic<std::uint32_t> sender_failed;
};

/// What is to be measured.
struct Task {
  BufferKind from;
  BufferKind to;
  unsigned messages;
  unsigned variants;
  std::uint64_t bytes;  ///< of each payload
  Tuning tables[most_variants];
  unsigned least_rounds;  ///< a round is each variant once
  unsigned most_rounds;
  std::uint64_t enough_ns;  ///< rounds end when they have taken so long, but not before least_rounds
};

/// What became of it.
struct Outcome {
  bool ok;
  int detail;
  char what[120];           ///< that failed, or for a measurement: why the last variant took its transport
  TransportKind transport;  ///< of the last variant
  double median_ns[most_variants];
};

}  // namespace penstock::transports::tune
