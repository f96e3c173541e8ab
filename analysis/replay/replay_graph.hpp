// The job as a graph of dependencies, so that it can be run again with other weights: what if messages were
// free, or the slowest rank no slower than the others? Must not know text or files.
//
// Nodes are moments: a call of MPI or a CUDA synchronisation begins or ends, a kernel ends. A node's time is
// that of the latest thing that it waits for, plus its own work. The work comes from the recording, so that
// the unchanged graph reproduces the recording. Every edge leads forward in observed time; so nodes are run
// in that order, each once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/causes/causes.hpp"
#include "analysis/causes/timeline.hpp"
#include "analysis/joining/messages.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// The kind of a node's own work.
enum class Work : std::uint8_t { host_code, kernel, launch, communication };

/// A moment of the job: an index into the graph's nodes.
using NodeId = std::uint32_t;

/// Work that is done beside an exchange instead of before or behind it: the exchange ends no earlier than
/// this.
struct Beside {
  NodeId end;    ///< of the exchange
  NodeId begin;  ///< likewise
  std::uint64_t time_ns;
};

/// The changes made in a run. Vectors may be shorter than what they are indexed by: the rest is unchanged.
struct Scenario {
  std::vector<double>
      computing;                ///< by position of the rank: factor on the time of its host code and kernels
  std::vector<double> kernels;  ///< by position of the rank: factor on the time of its kernels
  std::vector<double> moving;   ///< by class of messages: factor on the time to move them
  bool free_communication = false;
  bool without_messages = false;          ///< their calls take no time, and wait for nothing
  bool messages_progress = false;         ///< no message waits until a rank is back in MPI
  std::vector<IntervalSet> without_host;  ///< by position of the rank: times in which its host's own work is
                                          ///< left out; in the clock of the first rank's host
  std::unordered_map<NodeId, std::uint64_t> work_ns;  ///< by node: its work, instead of its own
  std::vector<Beside> beside;                         ///< by `end`
  std::vector<bool> without_collective;               ///< by collective: true: there is none
  std::vector<bool> ready_data;                       ///< by site: true: its messages wait for no kernel
};

/// Where a rank's calls, synchronisations and kernels are in the graph.
struct RankLayout {
  struct HostItem {
    NodeId begin;
    NodeId end;
    std::uint32_t call;  ///< index in RankTrace::calls; no_call: a synchronisation
  };
  struct Kernel {
    NodeId node;
    std::uint32_t index;  ///< in RankTrace::kernels
  };
  std::vector<HostItem> host;   ///< what the host does, one after the other
  std::vector<Kernel> kernels;  ///< in the order in which they begin
};

/// A piece of the longest chain of nodes, each of which waited for the previous one.
struct PathPiece {
  std::size_t position;  ///< of the rank
  Work work;
  std::uint32_t site;  ///< the site that called MPI, for communication; otherwise ReplayGraph::no_site
  std::uint64_t time_ns;
};

/// Filled rank by rank, joined once, then run. Thread: one at a time. Memory: about 120 bytes a call,
/// synchronisation or kernel of the whole job.
class ReplayGraph {
 public:
  static constexpr std::uint32_t no_site = ~std::uint32_t{0};
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  using SiteOfCall = std::function<std::uint32_t(std::uint32_t)>;

  explicit ReplayGraph(const MessageIndex& index) : index_(index) {}
  /// Adds a rank. `timeline`: the counted part, within `window`; `finder`: of this rank; `site_of_call`: maps
  /// an index into its calls. `position`: from 0, without gaps.
  RankLayout add(const RankTrace& rank, std::size_t position, const Timeline& timeline, Interval window,
                 CauseFinder& finder, const SiteOfCall& site_of_call);
  void join();

  /// Returns the job's duration, from the first rank's begin to the last one's end. Unit: ns.
  [[nodiscard]] std::uint64_t run(const Scenario& scenario);
  /// Returns the longest path of the unchanged job.
  [[nodiscard]] std::vector<PathPiece> longest_path();
  [[nodiscard]] std::uint64_t observed_ns() const noexcept { return observed_end_ns_ - observed_begin_ns_; }
  /// Returns the number of waits that were dropped because the awaited event was not observed earlier: clock
  /// errors, damage.
  [[nodiscard]] std::uint64_t edges_left_out() const noexcept { return edges_left_out_; }
  [[nodiscard]] std::size_t node_count() const noexcept { return nodes_.size(); }
  /// Return facts of a node. Work is known after join().
  [[nodiscard]] std::uint64_t observed_ns(NodeId node) const { return nodes_[node].observed_ns; }
  [[nodiscard]] std::uint64_t work_ns(NodeId node) const { return nodes_[node].work_ns; }
  [[nodiscard]] std::uint64_t moving_ns(NodeId node) const { return nodes_[node].moving_ns; }
  /// Returns the collective that a call's node arrives at or waits for; none.
  [[nodiscard]] std::uint32_t collective_of(NodeId node) const { return nodes_[node].collective; }
  [[nodiscard]] std::uint64_t reference_ns(const RankTrace& rank, std::uint64_t time_ns) const;

 private:
  struct Node {
    std::uint64_t observed_ns;    ///< in the clock of the first rank's host
    std::uint64_t work_ns = 0;    ///< after the latest of what it waits for
    std::uint64_t moving_ns = 0;  ///< the part of it that moves messages of the class
    std::uint32_t position;
    std::uint32_t message_class = MessageClasses::no_message;
    std::uint32_t site = no_site;
    std::uint32_t collective = none;  ///< the collective at which a begin node arrives, or for which an end
                                      ///< node waits
    std::uint32_t first_edge = 0;
    std::uint16_t edges = 0;
    Work work = Work::host_code;
    bool ends = false;  ///< the end of a call, synchronisation or kernel
    bool waits_for_root = false;
  };
  struct Edge {
    static constexpr std::uint32_t most_launch_ns = 0x7fff'ffff;
    NodeId from;
    std::uint32_t is_progress : 1 = false;  ///< `from` is the other side's return into MPI
    std::uint32_t launch_ns : 31 = 0;       ///< the lag's last part, no host code: the launch of a kernel
    std::uint64_t lag_ns;                   ///< after `from`
  };
  /// A moment of another rank, kept until join() knows its nodes.
  struct Moment {
    NodeId node;
    std::int32_t rank;
    std::uint64_t time_ns;  ///< in the clock of the first rank's host
    bool of_kernel;         ///< true: the last kernel that ended before it; false: the host
    bool is_progress = false;
  };
  struct Collective {
    std::uint64_t all_came_ns = 0;
    std::uint64_t root_came_ns = 0;
    NodeId last = none;
    NodeId root = none;
  };
  struct RankNodes {
    std::vector<NodeId> host;     ///< in time order
    std::vector<NodeId> kernels;  ///< in order of their ends
  };

  NodeId add_node(const Node& node);
  void add_calls(const RankTrace& rank, std::size_t position, const Timeline& timeline, CauseFinder& finder,
                 const SiteOfCall& site_of_call, std::vector<RankLayout::HostItem>& items);
  [[nodiscard]] std::uint32_t collective_id(const RankTrace& rank, std::uint32_t communicator,
                                            std::uint32_t ordinal);
  void wait_for_operations(const RankTrace& rank, std::span<const std::uint32_t> operations, Node& end);
  /// Returns the ends of the calls within the window, by index in rank.synchronisations.
  std::unordered_map<std::size_t, NodeId> add_synchronisations(const RankTrace& rank, std::size_t position,
                                                               Interval window,
                                                               std::vector<RankLayout::HostItem>& items);
  std::vector<RankLayout::Kernel> add_kernels(
      const RankTrace& rank, std::size_t position, Interval window,
      const std::unordered_map<std::size_t, NodeId>& synchronisations);
  [[nodiscard]] NodeId last_before(const std::vector<NodeId>& nodes, std::uint64_t time_ns) const;
  void connect();
  void sort_nodes();
  void measure_work();
  void run(const Scenario& scenario, std::vector<NodeId>* binding);
  [[nodiscard]] static bool is_gone(const Scenario& scenario, const Node& node);
  [[nodiscard]] std::uint64_t work_in(const Scenario& scenario, NodeId id) const;
  [[nodiscard]] bool is_left_out(const Scenario& scenario, const Node& node, const Edge& edge) const;
  [[nodiscard]] std::uint64_t lag_in(const Scenario& scenario, const Edge& edge) const;

  const MessageIndex& index_;
  std::vector<Node> nodes_;
  std::vector<std::pair<NodeId, Edge>> loose_edges_;  ///< until join()
  std::vector<Edge> edges_;                           ///< by the node that they lead to
  std::vector<Moment> moments_;
  std::vector<NodeId> order_;
  std::vector<RankNodes> ranks_;
  std::unordered_map<std::int32_t, std::size_t> position_of_rank_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t>
      collective_ids_;  ///< by communicator and ordinal
  std::vector<Collective> collectives_;
  std::vector<std::uint64_t> times_ns_;  ///< of the last run
  std::vector<NodeId> ends_;             ///< the last node of each rank
  std::uint64_t observed_begin_ns_ = ~std::uint64_t{0};
  std::uint64_t observed_end_ns_ = 0;
  std::uint64_t edges_left_out_ = 0;
  bool is_simulated_ = false;  ///< true if some rank's GPU is simulated
};

}  // namespace penstock::analysis
