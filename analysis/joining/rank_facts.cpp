#include "analysis/joining/rank_facts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analysis/joining/call_cursor.hpp"
#include "analysis/joining/nccl_work.hpp"
#include "analysis/joining/staged_halves.hpp"

namespace penstock::analysis {
namespace {

/// Returns when the rank could first serve a message that another rank waits for: at once in a blocking call,
/// else when it next entered MPI.
std::uint64_t noticed_ns(const RankTrace& rank, const Half& half, CallCursor& cursor) {
  const trace::MessageHalf& record = half.record;
  if (record.blocking != 0) {
    return record.post_ns;
  }
  std::uint64_t noticed_ns = record.complete_ns;
  if (const std::uint32_t call = cursor.call_at(half.lane, record.complete_ns); call != RankTrace::no_call) {
    noticed_ns = rank.calls[call].record.begin_ns;
  }
  if (record.direction == trace::Direction::receive && record.matched_ns != 0) {
    noticed_ns = std::min(noticed_ns, record.matched_ns);
  }
  return std::max(noticed_ns, record.post_ns);
}

auto key_of(const HalfGroup& group) {
  return std::tie(group.peer, group.has_keys, group.direction, group.communicator, group.tag);
}

/// Tells which place in the order of its group the first half has where earlier ones are not recorded.
class LostGroups {
 public:
  explicit LostGroups(const RankTrace& rank) : knows_all_(rank.lost.knows_all_halves) {
    for (const trace::LostHalves& each : rank.lost.halves) {
      if (each.have_keys == 0) {
        trace::LostHalves& of =
            lost_[{rank.global_communicator(each.communicator), each.peer, each.tag, each.direction}];
        of.halves += each.halves;
        of.last_post_ns = std::max(of.last_post_ns, each.last_post_ns);
      }
    }
  }

  /// Halves are lost in the order of their completion, not of their posts. A half that was posted before the
  /// last of the lost ones has no place that is known, and is left out of the group.
  void count_before(HalfGroup& group, const RankFacts& facts) const {
    if (group.has_keys || (lost_.empty() && knows_all_)) {
      return;
    }
    const auto found = lost_.find({group.communicator, group.peer, group.tag, group.direction});
    if (found == lost_.end()) {
      group.begin = knows_all_ ? group.begin : group.end;
      return;
    }
    const trace::LostHalves& lost = found->second;
    const std::uint32_t first = group.begin;
    while (group.begin != group.end &&
           facts.halves[facts.in_groups[group.begin]].post_ns <= lost.last_post_ns) {
      ++group.begin;
    }
    group.before = lost.halves + (group.begin - first);
  }

 private:
  using Envelope = std::tuple<std::uint64_t, std::int32_t, std::int32_t, trace::Direction>;
  std::map<Envelope, trace::LostHalves> lost_;  ///< only their number and last post
  bool knows_all_;
};

/// Puts halves into groups and each group into its order. Halves mostly arrive in order and in runs of few
/// groups, so sorting all of them would be most of the work.
class Grouping {
 public:
  void add(const RankTrace& rank, const trace::MessageHalf& record) {
    HalfGroup group{.peer = record.peer, .has_keys = record.key != 0, .direction = record.direction};
    if (record.key == 0) {
      group.communicator = rank.global_communicator(record.communicator);
      group.tag = record.tag;
      if (group.communicator == 0) {
        of_half_.push_back(none);
        return;
      }
    }
    const std::uint64_t mixed = hash(group);
    std::uint32_t& recent = recent_[mixed >> 58];
    if (recent >= groups_.size() || key_of(groups_[recent]) != key_of(group)) {
      recent = number_of(group, mixed);
    }
    const std::uint32_t number = recent;
    ++groups_[number].end;  // a count, for now
    of_half_.push_back(number);
  }

  void finish(const RankTrace& rank, RankFacts& facts) {
    std::vector<std::uint32_t> sorted(groups_.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) {
      sorted[i] = i;
    }
    std::sort(sorted.begin(), sorted.end(), [this](std::uint32_t left, std::uint32_t right) {
      return key_of(groups_[left]) < key_of(groups_[right]);
    });
    std::vector<std::uint32_t> next(groups_.size());
    std::uint32_t place = 0;
    for (const std::uint32_t each : sorted) {
      next[each] = place;
      groups_[each].begin = place;
      place += groups_[each].end;
      groups_[each].end = place;
      facts.groups.push_back(groups_[each]);
    }
    facts.in_groups.resize(place);
    for (std::uint32_t half = 0; half < of_half_.size(); ++half) {
      if (of_half_[half] != none) {
        facts.in_groups[next[of_half_[half]]++] = half;
      }
    }
    const LostGroups lost(rank);
    for (HalfGroup& group : facts.groups) {
      const auto comes_first = [&](std::uint32_t left, std::uint32_t right) {
        const HalfFacts& a = facts.halves[left];
        const HalfFacts& b = facts.halves[right];
        return group.has_keys ? a.key < b.key : a.post_ns < b.post_ns;
      };
      const auto begin = facts.in_groups.begin() + group.begin;
      const auto end = facts.in_groups.begin() + group.end;
      if (!std::is_sorted(begin, end, comes_first)) {
        std::stable_sort(begin, end, comes_first);
      }
      lost.count_before(group, facts);
    }
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  static std::uint64_t hash(const HalfGroup& group) noexcept {
    std::uint64_t mixed = static_cast<std::uint32_t>(group.peer);
    mixed = mixed << 32 | static_cast<std::uint32_t>(group.tag);
    mixed = (mixed ^ group.communicator) * 0x9e3779b97f4a7c15u;
    mixed ^= mixed >> 29;
    mixed += (group.has_keys ? 2u : 0u) + (group.direction == trace::Direction::send ? 0u : 1u);
    return mixed * 0xbf58476d1ce4e5b9u;
  }

  std::uint32_t number_of(const HalfGroup& group, std::uint64_t mixed) {
    std::vector<std::uint32_t>& known = numbers_[mixed];
    for (const std::uint32_t number : known) {
      if (key_of(groups_[number]) == key_of(group)) {
        return number;
      }
    }
    known.push_back(static_cast<std::uint32_t>(groups_.size()));
    groups_.push_back(group);
    return known.back();
  }

  std::vector<HalfGroup> groups_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> numbers_;  ///< by hash
  std::array<std::uint32_t, 64> recent_{};                                 ///< by hash: the last results
  std::vector<std::uint32_t> of_half_;
};

void add_halves(const RankTrace& rank, RankFacts& facts) {
  facts.halves.reserve(rank.halves.size());
  CallCursor cursor(rank);
  Grouping grouping;
  for (const Half& half : rank.halves) {
    const trace::MessageHalf& record = half.record;
    facts.halves.push_back({.post_ns = record.post_ns,
                            .complete_ns = record.complete_ns,
                            .noticed_ns = noticed_ns(rank, half, cursor),
                            .key = record.key,
                            .buffer = record.buffer,
                            .direction = record.direction,
                            .size_class = size_class_of(record.bytes)});
    grouping.add(rank, record);
  }
  grouping.finish(rank, facts);
}

void add_transfers(const RankTrace& rank, RankFacts& facts) {
  facts.transfers.reserve(rank.transfers.size());
  // reasons are few, and each is the same string again and again
  std::unordered_map<std::uint32_t, std::uint32_t> reasons{{trace::no_string, 0}};
  MessageClass last{};
  std::uint32_t last_id = MessageClasses::no_message;
  for (const Transfer& each : rank.transfers) {
    const trace::Transfer& record = each.record;
    const auto [reason, is_new] = reasons.try_emplace(record.reason, 0u);
    if (is_new) {
      reason->second = facts.classes.reasons().id_of(rank.strings.at(record.reason));
    }
    const MessageClass which{record.source, record.destination, record.transport, reason->second,
                             size_limit_of(record.bytes)};
    if (last_id == MessageClasses::no_message || which != last) {
      last = which;
      last_id = facts.classes.id_of(which);
    }
    facts.transfers.push_back({.key = record.key,
                               .begin_ns = record.begin_ns,
                               .end_ns = record.end_ns,
                               .pack_ns = record.pack_ns,
                               .wait_ns = record.wait_ns,
                               .message_class = last_id,
                               .transport = record.transport});
  }
}

/// Returns true if every rank needs data from every other before it can leave. Calls with a count for each
/// rank are excluded, because some counts may be zero.
bool needs_bytes_of_all_ranks(std::string_view function) {
  return function == "MPI_Allreduce" || function == "MPI_Allgather" || function == "MPI_Alltoall" ||
         function == "MPI_Reduce_scatter_block";
}

/// Identifies the rank's collectives: what is known of its communicators and functions.
class CollectiveNames {
 public:
  explicit CollectiveNames(const RankTrace& rank) : rank_(rank) {
    shapes_[world_local_id] = {rank.header.world_size, false};
    for (const trace::Communicator& each : rank.communicators) {
      shapes_[each.local_id] = {each.size, each.is_inter != 0};
    }
  }
  struct Function {
    bool is_barrier;
    bool needs_bytes;
  };
  const Function& function(std::uint32_t id) {
    const Function* known = functions_.find(id);
    if (known == nullptr) {
      const std::string& name = rank_.strings.at(id);
      known = &(functions_[id] = {name == "MPI_Barrier", needs_bytes_of_all_ranks(name)});
    }
    return *known;
  }
  /// Returns the global id; 0 if the communicator is unknown or has one rank only. (MPI_COMM_SELF may have
  /// the same id on all ranks.)
  [[nodiscard]] std::uint64_t communicator(std::uint32_t local_id) const {
    return local_id == self_local_id ? 0 : rank_.global_communicator(local_id);
  }
  /// On an intercommunicator a rank may leave before those of its own group have come.
  [[nodiscard]] bool is_inter(std::uint32_t local_id) const {
    const Shape* const shape = shapes_.find(local_id);
    return shape != nullptr && shape->is_inter;
  }
  [[nodiscard]] std::int32_t size(std::uint32_t local_id) const {
    const Shape* const shape = shapes_.find(local_id);
    return shape == nullptr ? 0 : shape->size;
  }

 private:
  struct Shape {
    std::int32_t size;
    bool is_inter;
  };
  const RankTrace& rank_;
  IdTable<Shape> shapes_;  ///< of communicators
  IdTable<Function> functions_;
};

void add_arrivals(const RankTrace& rank, RankFacts& facts) {
  CollectiveNames names(rank);
  for (const Call& call : rank.calls) {
    const trace::MpiCall& record = call.record;
    const std::uint64_t communicator =
        record.collective_ordinal == 0 ? 0 : names.communicator(record.communicator);
    if (communicator == 0) {
      continue;
    }
    const CollectiveNames::Function& function = names.function(record.function);
    facts.arrivals.push_back(
        {.communicator = communicator,
         .came_ns = record.begin_ns,
         .left_ns = record.end_ns,
         .ordinal = record.collective_ordinal,
         .expected = names.size(record.communicator),
         .is_root = record.peer == rank.header.world_rank,
         .nobody_leaves_before = !names.is_inter(record.communicator) &&
                                 (function.is_barrier || (record.bytes != 0 && function.needs_bytes))});
  }
  for (const Operation& operation : rank.operations) {
    const trace::CollectiveOperation& record = operation.record;
    const std::uint64_t communicator = record.start == 0 ? 0 : names.communicator(record.communicator);
    if (communicator == 0) {
      continue;
    }
    facts.arrivals.push_back({.communicator = starts_id(communicator, record.collective_ordinal),
                              .came_ns = record.post_ns,
                              .left_ns = record.complete_ns,
                              .ordinal = record.start,
                              .expected = names.size(record.communicator),
                              .is_root = record.root == rank.header.world_rank,
                              .nobody_leaves_before = false});
  }
}

/// A rank arrives at a call of NCCL when its kernel begins, and at a communicator when it has made it.
void add_nccl_arrivals(const RankTrace& rank, RankFacts& facts) {
  if (rank.nccl_calls.empty()) {
    return;
  }
  const NcclWork work = nccl_work_of(rank);
  for (const auto& [hash, each] : work.communicators) {
    if (each.made != 0) {
      facts.arrivals.push_back({.communicator = each.made,
                                .came_ns = each.at_ns,
                                .left_ns = each.at_ns,
                                .ordinal = 1,
                                .expected = each.ranks,
                                .is_root = false,
                                .nobody_leaves_before = false});
    }
  }
  for (const NcclKernelFacts& each : work.kernels) {
    const trace::DeviceActivity& kernel = rank.kernels[each.kernel];
    for (const NcclCallFacts& call : work.calls_of(each)) {
      if (call.meeting != 0) {
        facts.arrivals.push_back({.communicator = call.meeting,
                                  .came_ns = kernel.begin_ns,
                                  .left_ns = kernel.end_ns,
                                  .ordinal = call.ordinal,
                                  .expected = call.expected,
                                  .is_root = call.is_root,
                                  .nobody_leaves_before = false});
      }
    }
  }
}

void add_window_calls(const RankTrace& rank, RankFacts& facts) {
  for (const Call& call : rank.calls) {
    if (const std::optional<WindowCall> known = window_call_of(rank, call.record)) {
      facts.window_calls.push_back(*known);
    }
  }
}

}  // namespace

std::optional<WindowCall> window_call_of(const RankTrace& rank, const trace::MpiCall& call) {
  // the first condition spares most calls the comparison of names
  if (call.communicator == 0 || call.collective_ordinal != 0 || call.bytes != 0) {
    return std::nullopt;
  }
  const std::string& function = rank.strings.at(call.function);
  const WindowAct awaited = awaited_by(function);
  const bool waits = awaited != WindowAct::none;
  const WindowAct act = waits ? awaited : act_of(function);
  const std::uint64_t window = act == WindowAct::none ? 0 : rank.global_communicator(call.communicator);
  if (window == 0 || (waits && call.peer < 0)) {
    return std::nullopt;
  }
  return WindowCall{.window = window,
                    .begin_ns = call.begin_ns,
                    .end_ns = call.end_ns,
                    .call_site = call.call_site,
                    .function = call.function,
                    .peer = waits ? call.peer : -1,
                    .act = act};
}

std::uint64_t starts_id(std::uint64_t communicator, std::uint32_t ordinal) noexcept {
  return communicator ^ (std::uint64_t{ordinal} + 1) * 0x9e3779b97f4a7c15u;
}

RankFacts facts_of(const RankTrace& rank) {
  RankFacts facts;
  facts.rank = rank.header.world_rank;
  facts.host_name = rank.header.host_name;
  facts.run = {rank.begin_ns, rank.end_ns};
  facts.lacks_records = rank.begins_late() || rank.is_cut() || !rank.finished;
  facts.others_may_not_record = rank.has(trace::feature::some_ranks);
  add_halves(rank, facts);
  add_transfers(rank, facts);
  join_staged_halves(rank, facts);
  add_arrivals(rank, facts);
  add_window_calls(rank, facts);
  add_nccl_arrivals(rank, facts);
  return facts;
}

const HalfGroup* find_counterpart(const RankFacts& facts, std::int32_t rank, const HalfGroup& mine) noexcept {
  HalfGroup wanted = mine;
  wanted.peer = rank;
  wanted.direction =
      mine.direction == trace::Direction::send ? trace::Direction::receive : trace::Direction::send;
  const auto found = std::lower_bound(
      facts.groups.begin(), facts.groups.end(), wanted,
      [](const HalfGroup& left, const HalfGroup& right) { return key_of(left) < key_of(right); });
  return found != facts.groups.end() && key_of(*found) == key_of(wanted) ? &*found : nullptr;
}

}  // namespace penstock::analysis
