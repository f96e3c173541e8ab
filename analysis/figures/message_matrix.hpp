// Adds up messages by sending and receiving rank: how much was sent, how fast, and how fast it could have
// been. Must not know waits or causes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

/// A part keeps the pairs of each of its ranks, and the whole takes them in rank by rank: which small pairs
/// it drops must not depend on how the ranks were divided. Memory of the whole: the pairs of one rank and,
/// regardless of the number of ranks, `most_pairs` others and most_matrix_blocks² blocks; each less than a
/// hundred bytes and 48 for every class of messages in it.
class MessageMatrix {
 public:
  explicit MessageMatrix(const FigureContext& context) : index_(context.index), use_(context.use) {}
  /// A whole matrix.
  MessageMatrix(const MessageIndex& index, std::size_t most_pairs)
      : index_(index), use_(FigureContext::Use::whole), most_pairs_(most_pairs) {}
  struct Moved {
    std::uint64_t bytes = 0;
    std::uint64_t ns = 0;
  };
  /// Messages of one class between two ranks.
  struct Share {
    std::uint32_t message_class;
    std::uint64_t bytes = 0;
    Moved timed;       ///< those whose end was seen at once
    Moved late_timed;  ///< those whose end may have been seen late
  };
  struct Sums {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::vector<Share> shares;
    Share& of_class(std::uint32_t message_class);
    void add(const Sums& other);
    auto members() { return std::tie(messages, bytes, shares); }
  };
  struct Pair {
    std::int32_t sender;
    std::int32_t receiver;
    Sums sums;
    auto members() { return std::tie(sender, receiver, sums); }
  };
  /// Adds the messages that this rank received within its window, and those it sent whose receiver's half is
  /// missing.
  void add(const HalfInput& half);
  void add(const RankInput& rank);
  void merge(MessageMatrix&& part, const Renumbering& numbers);
  auto members() { return std::tie(world_size_, pairs_of_ranks_); }
  /// Returns the matrix; nullopt if there were no messages. `transports`: of the same job, for the possible
  /// speeds.
  [[nodiscard]] std::optional<MatrixFigures> figures(std::span<const TransportFigures> transports);
  void finish(Report& report, SiteNames& names);

 private:
  struct Peer {
    bool is_received;
    std::int32_t other;  ///< rank
    auto operator<=>(const Peer&) const = default;
  };
  void take(std::vector<Pair> pairs, std::int32_t world_size);
  void add_receive(const HalfInput& half, Sums& sums) const;
  void keep(Pair pair);
  void drop_smallest();
  void join_equal_pairs();
  [[nodiscard]] MatrixCell cell_of(const Pair& pair, std::span<const double> possible_gbps) const;
  [[nodiscard]] std::vector<double> possible_by_class(std::span<const TransportFigures> transports) const;

  const MessageIndex& index_;
  FigureContext::Use use_;
  std::size_t most_pairs_ = most_matrix_pairs;
  std::int32_t world_size_ = 0;
  std::map<Peer, Sums> by_peer_;                   ///< of the rank that is being fed
  std::pair<const Peer, Sums>* last_ = nullptr;    ///< of them, the one that was looked up last
  std::vector<std::vector<Pair>> pairs_of_ranks_;  ///< of a part
  std::int32_t ranks_ = 0;
  std::int32_t ranks_per_block_ = 1;
  std::vector<Pair> pairs_;
  std::uint64_t dropped_pairs_ = 0;
  std::unordered_map<std::uint64_t, Pair> blocks_;  ///< of all pairs, if a block holds several ranks
};

}  // namespace penstock::analysis
