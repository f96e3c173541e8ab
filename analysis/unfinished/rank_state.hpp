// What one rank was in when it ended or was looked at: calls in progress, operations that were posted and
// have not completed, and what others need to know of its messages and collectives. Must not know other
// ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/recording/site_table.hpp"
#include "analysis/tables/string_pool.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::analysis {

/// A damaged header may name any number of ranks.
inline constexpr std::int32_t most_ranks = 1 << 18;
inline constexpr std::int32_t any_peer = -2;
inline constexpr std::int32_t any_tag = -1;

/// A message as both sides name it; `peer` is the other rank. With any_tag: all messages between both.
struct Envelope {
  std::uint64_t communicator;
  std::int32_t peer;
  std::int32_t tag;
  friend bool operator==(const Envelope&, const Envelope&) = default;
};
struct HashEnvelope {
  std::size_t operator()(const Envelope& each) const noexcept {
    return static_cast<std::size_t>((each.communicator ^ (static_cast<std::uint64_t>(each.peer) << 32) ^
                                     static_cast<std::uint32_t>(each.tag)) *
                                        0x9e3779b97f4a7c15u >>
                                    13);
  }
};
using EnvelopeCounts = std::unordered_map<Envelope, std::uint64_t, HashEnvelope>;

/// An operation that was posted, or that a blocking call carries out, and has not completed.
struct PendingOperation {
  enum class Kind : std::uint8_t { send, receive, collective, window };
  Kind kind = Kind::receive;
  std::uint64_t post_ns = 0;
  std::uint64_t communicator = 0;  ///< the same on all its ranks; 0: not known
  /// World rank: the other side, a collective's root, or who is missing at a window; -1: none.
  std::int32_t peer = -1;
  std::int32_t tag = any_tag;
  std::uint32_t ordinal = 0;  ///< of a collective on its communicator
};

/// A call in progress.
struct CallInProgress {
  trace::OpenCall open{};
  std::string function;
  std::uint32_t site = 0;
  std::vector<PendingOperation> operations;  ///< that it carries out or completes, as far as known
  bool any_is_enough = false;                ///< MPI_Waitany, MPI_Waitsome
};

struct CollectiveComing {
  std::uint32_t ordinal;
  std::uint32_t function;  ///< in the pool of texts
  std::uint32_t site;
};

/// The last collectives that a rank has come to on a communicator, by ordinal.
struct CollectiveHistory {
  std::uint32_t last_ordinal = 0;
  std::vector<CollectiveComing> last;
};

/// World ranks by communicator, the same on all its ranks.
using Members = std::map<std::uint64_t, std::vector<std::int32_t>>;

struct RankState {
  bool has_recording = false;
  bool is_whole = true;  ///< false: of its records some were not read, or not recorded
  trace::FileHeader header{};
  std::uint64_t last_record_ns = 0;
  std::vector<CallInProgress> calls;      ///< by time
  std::vector<PendingOperation> pending;  ///< those of the calls, too; by time
  EnvelopeCounts sent;                    ///< messages whose sending has completed
  EnvelopeCounts received;
  std::map<std::uint64_t, CollectiveHistory> collectives;  ///< by communicator
  std::uint64_t last_call_begin_ns = 0;
  std::uint64_t last_call_end_ns = 0;  ///< 0: it completed none
  std::uint32_t last_call_site = 0;
};

/// Reads a recording, which may still grow. Adds communicators that are not in `members` yet. `most_bytes`:
/// of a larger file, only its first and last blocks. Errors: TraceError if nothing is usable.
[[nodiscard]] RankState read_rank_state(const std::filesystem::path& file, std::uint64_t most_bytes,
                                        StringPool& texts, SiteTable& sites, Members& members);

}  // namespace penstock::analysis
