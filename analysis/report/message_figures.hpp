// The part of a report about messages: transports, pairs of ranks, staging by hand, receives that come late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/causes/cause.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::analysis {

/// A class of messages, the transport that they took and why. Each message is counted once, by what the
/// program sent. Or, if `is_part`, movements by Penstock that are no message but part of another call, such
/// as a collective.
struct TransportFigures {
  /// Returns true if lists of integers among the messages travelled as bitmaps: other messages cannot reach
  /// their speed.
  [[nodiscard]] bool went_packed() const noexcept { return wire_bytes != bytes; }

  trace::BufferKind source = trace::BufferKind::unknown;
  trace::BufferKind destination = trace::BufferKind::unknown;
  std::uint64_t size_limit_bytes = 0;  ///< upper limit of the class; 0: above all limits
  trace::TransportKind transport = trace::TransportKind::none;
  std::string reason;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t wire_bytes = 0;  ///< that travelled: fewer if lists of integers went as bitmaps
  /// GB/s from when both sides were ready; none if unknown. Of small messages, that of one of their mean size
  /// in their median time.
  std::optional<double> median_gbps;
  std::uint64_t counted_ns = 0;  ///< waits for such messages; since some waits are for no message,
                                 ///< classes do not sum to all
  TimeByCause by_cause{};
  TimeByCause within_error{};
  std::optional<double> best_gbps;  ///< that the fastest twentieth reached
  std::uint32_t message_class = 0;  ///< its number, valid within one analysis
  bool is_part = false;
};

/// Returns true if host memory, or the MPI library, is faster for such messages than any other way.
[[nodiscard]] bool is_chosen_for_speed(const TransportFigures& messages) noexcept;

/// Returns true for small messages of the program: fewer, larger ones would take less time.
[[nodiscard]] bool pay_a_latency_each(const TransportFigures& messages) noexcept;

/// Returns 0 if there are none.
[[nodiscard]] double mean_bytes(const TransportFigures& messages) noexcept;

/// Returns how long a message takes that goes as the others do, as a share of the time of `one`: by their
/// speeds, but no less time than they take themselves; small ones by their times alone. Nullopt: not known.
[[nodiscard]] std::optional<double> time_by(const TransportFigures& others,
                                            const TransportFigures& one) noexcept;

/// Messages from one rank to another, or from the ranks of one block to those of another.
struct MatrixCell {
  std::int32_t sender = 0;
  std::int32_t receiver = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t moving_ns = 0;  ///< sum over messages, from when both sides were ready; as far as known
  std::optional<double> gbps;   ///< GB/s reached while they moved
  std::optional<double> possible_gbps;  ///< if each message had been as fast as the best of its buffers and
                                        ///< size here
  trace::TransportKind transport = trace::TransportKind::none;  ///< that carried most of the bytes
};

/// The largest number of pairs with rows of their own, and of blocks per side of a picture.
inline constexpr std::size_t most_matrix_pairs = 5000;
inline constexpr std::int32_t most_matrix_blocks = 64;

struct MatrixFigures {
  std::int32_t ranks_per_block = 1;
  std::uint64_t dropped_pairs = 0;  ///< number of pairs that are only part of blocks, approximately
  std::vector<MatrixCell> pairs;    ///< by bytes, largest first
  std::vector<MatrixCell> blocks;   ///< of all pairs, rank / ranks_per_block; empty if that is 1
};

/// Messages of host memory that the program copies from or to a GPU by hand. Sums over the counted ranks.
struct HandStagingFigures {
  std::string at;              ///< the call site that posts them, for people
  std::uint64_t messages = 0;  ///< those for which a copy was found
  std::uint64_t bytes = 0;
  std::uint64_t copies_ns = 0;
  std::uint64_t exposed_copies_ns = 0;  ///< the part while no kernel ran
};

/// Receives that were posted after a kernel although their message had been posted before it. Sums over the
/// counted ranks.
struct LateReceiveFigures {
  std::string at;              ///< the call that posts them, for people
  std::uint64_t messages = 0;  ///< that were ready before the kernel
  std::uint64_t ready_ns = 0;  ///< sum of the times from the send's post to the receive's
  std::uint64_t hides_ns = 0;  ///< exposed moving time that kernels would have hidden, at most
  std::string kernel;          ///< that ran most of that time
};

[[nodiscard]] const char* name_of(trace::BufferKind kind) noexcept;
[[nodiscard]] const char* name_of(trace::TransportKind transport) noexcept;

/// Returns the fastest direct messages between the same kinds of memory, of the same size class; null if none
/// are faster.
[[nodiscard]] const TransportFigures* fastest_alike(const std::vector<TransportFigures>& transports,
                                                    const TransportFigures& slow);

}  // namespace penstock::analysis
