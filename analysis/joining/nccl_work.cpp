#include "analysis/joining/nccl_work.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "analysis/tables/id_table.hpp"

namespace penstock::analysis {
namespace {

enum class Function : std::uint8_t { other, group_start, group_end, moves };

struct NamedFunction {
  Function what;
  NcclKind kind;
  bool sends;
};

/// What a meeting is about, besides kinds of collectives.
constexpr std::uint64_t meetings_by_message = nccl_kinds;
constexpr std::uint64_t meetings_of_makers = nccl_kinds + 1;

std::uint64_t mixed_of_two(std::uint64_t first, std::uint64_t second) noexcept {
  std::uint64_t both = (first ^ (second + 1) * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  both ^= both >> 29;
  return both == 0 ? 1 : both;
}

class Joiner {
 public:
  explicit Joiner(const RankTrace& rank) : rank_(rank) {}

  NcclWork join() {
    find_kernels();
    find_communicators();
    std::vector<std::uint32_t> order(rank_.nccl_calls.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      order[i] = i;
    }
    const auto key = [this](std::uint32_t call) {
      const trace::NcclCall& record = rank_.nccl_calls[call];
      // of two that begin together the outer one comes first
      return std::tuple(record.thread_id, record.begin_ns, ~record.end_ns, call);
    };
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t left, std::uint32_t right) { return key(left) < key(right); });
    count_messages(order);
    for (const std::uint32_t call : order) {
      add(call);
    }
    forget_pending();
    add_kernels_without_calls();
    return std::move(work_);
  }

 private:
  struct Kernel {
    std::uint32_t kernel;
    NcclKind kind;  ///< by its name
    bool is_taken;
  };

  void find_kernels() {
    IdTable<NcclKind> kinds;
    for (std::uint32_t i = 0; i < rank_.kernels.size(); ++i) {
      const trace::DeviceActivity& kernel = rank_.kernels[i];
      if (kernel.own != 0) {
        continue;
      }
      const NcclKind* kind = kinds.find(kernel.name);
      if (kind == nullptr) {
        kind = &(kinds[kernel.name] = nccl_kind_of_kernel(rank_.strings.at(kernel.name)));
      }
      if (*kind != NcclKind::none) {
        kernels_.push_back({i, *kind, false});
      }
    }
    std::sort(kernels_.begin(), kernels_.end(),
              [this](const Kernel& left, const Kernel& right) { return issue_of(left) < issue_of(right); });
  }
  [[nodiscard]] std::tuple<std::uint32_t, std::uint64_t, std::uint32_t> issue_of(const Kernel& kernel) const {
    const trace::DeviceActivity& record = rank_.kernels[kernel.kernel];
    return {record.thread_id, record.issued_ns, kernel.kernel};
  }

  /// ncclCommSplit and ncclCommGrow tell the ranks of the communicator that they were made of, and
  /// ncclCommShrink the hash of that one.
  void find_communicators() {
    for (const trace::NcclCall& each : rank_.nccl_calls) {
      const std::string_view name = rank_.strings.at(each.function);
      const bool tells_ranks = name.starts_with("ncclCommInit");
      if (each.communicator == 0 || (!tells_ranks && name != "ncclCommSplit" && name != "ncclCommGrow")) {
        continue;
      }
      const bool has_several_gpus = name == "ncclCommInitAll" && each.ranks > 1;
      const auto [known, is_new] = work_.communicators.try_emplace(each.communicator);
      NcclCommunicatorFacts& facts = known->second;
      facts.made = is_new && !has_several_gpus ? mixed_of_two(each.communicator, meetings_of_makers) : 0;
      facts.ranks = tells_ranks ? each.ranks : 0;
      facts.rank = tells_ranks ? each.rank : -1;
      facts.at_ns = each.end_ns;
    }
  }

  const NamedFunction& function(std::uint32_t id) {
    const NamedFunction* known = functions_.find(id);
    if (known == nullptr) {
      const std::string_view name = rank_.strings.at(id);
      const NcclKind kind = nccl_kind_of_function(name);
      const Function what = name == "ncclGroupStart"                                   ? Function::group_start
                            : name == "ncclGroupEnd" || name == "ncclGroupSimulateEnd" ? Function::group_end
                            : kind != NcclKind::none                                   ? Function::moves
                                                                                       : Function::other;
      known = &(functions_[id] = {what, kind, name == "ncclSend"});
    }
    return *known;
  }

  /// Numbers the messages between each two ranks. Where earlier calls are lost, their number is not known.
  void count_messages(const std::vector<std::uint32_t>& order) {
    if (rank_.begins_late()) {
      return;
    }
    std::vector<std::uint32_t> by_time(order);
    std::stable_sort(by_time.begin(), by_time.end(), [this](std::uint32_t left, std::uint32_t right) {
      return rank_.nccl_calls[left].begin_ns < rank_.nccl_calls[right].begin_ns;
    });
    std::map<std::tuple<std::uint64_t, std::int32_t, bool>, std::uint32_t> counts;
    for (const std::uint32_t call : by_time) {
      const trace::NcclCall& record = rank_.nccl_calls[call];
      const NamedFunction& what = function(record.function);
      if (what.kind == NcclKind::send_receive) {
        message_ordinals_[call] = ++counts[{record.communicator, record.peer, what.sends}];
      }
    }
  }

  [[nodiscard]] NcclCallFacts facts_of(std::uint32_t call, const NamedFunction& what) const {
    const trace::NcclCall& record = rank_.nccl_calls[call];
    NcclCallFacts facts{.call = call, .kind = what.kind, .sends = what.sends};
    const auto found = work_.communicators.find(record.communicator);
    if (found == work_.communicators.end()) {
      return facts;
    }
    const NcclCommunicatorFacts& communicator = found->second;
    facts.made = communicator.made;
    const bool is_root_or_peer = record.peer >= 0 && record.peer == communicator.rank;
    if (communicator.ranks == 1 || (what.kind == NcclKind::send_receive && is_root_or_peer)) {
      facts.expected = 1;
    } else if (communicator.made != 0 && what.kind == NcclKind::send_receive) {
      const auto ordinal = message_ordinals_.find(call);
      if (ordinal != message_ordinals_.end() && record.peer >= 0 && communicator.rank >= 0) {
        const auto from = static_cast<std::uint32_t>(what.sends ? communicator.rank : record.peer);
        const auto to = static_cast<std::uint32_t>(what.sends ? record.peer : communicator.rank);
        facts.meeting = mixed_of_two(mixed_of_two(record.communicator, std::uint64_t{from} << 32 | to),
                                     meetings_by_message);
        facts.ordinal = ordinal->second;
        facts.expected = 2;
      }
    } else if (communicator.made != 0 && record.ordinal != 0) {
      facts.meeting = mixed_of_two(record.communicator, static_cast<std::uint64_t>(what.kind));
      facts.ordinal = record.ordinal;
      facts.expected = communicator.ranks;
      facts.is_root = is_root_or_peer;
    }
    return facts;
  }

  void add(std::uint32_t call) {
    const trace::NcclCall& record = rank_.nccl_calls[call];
    if (record.thread_id != thread_) {
      forget_pending();
      thread_ = record.thread_id;
      depth_ = 0;
      inside_until_ns_ = 0;
    }
    const NamedFunction what = function(record.function);
    switch (what.what) {
      case Function::group_start:
        ++depth_;
        break;
      case Function::group_end:
        depth_ -= depth_ == 0 ? 0 : 1;
        if (depth_ == 0) {
          launch(record);
        }
        break;
      case Function::moves:
        if (record.end_ns <= inside_until_ns_) {
          break;  // another one calls it, and tells what it moves
        }
        inside_until_ns_ = record.end_ns;
        pending_.push_back(facts_of(call, what));
        if (depth_ == 0) {
          launch(record);
        }
        break;
      case Function::other:
        break;
    }
  }

  /// Gives the kernels that the thread launched in `within` to the calls that wait for theirs.
  void launch(const trace::NcclCall& within) {
    std::vector<Kernel*> launched;
    const auto first = std::lower_bound(
        kernels_.begin(), kernels_.end(), within, [this](const Kernel& kernel, const trace::NcclCall& call) {
          return issue_of(kernel) < std::tuple(call.thread_id, call.begin_ns, 0u);
        });
    for (auto kernel = first; kernel != kernels_.end(); ++kernel) {
      const trace::DeviceActivity& record = rank_.kernels[kernel->kernel];
      if (record.thread_id != within.thread_id || record.issued_ns > within.end_ns) {
        break;
      }
      if (record.issued_ns != 0 && !kernel->is_taken) {
        launched.push_back(&*kernel);
      }
    }
    // A communicator of one rank needs copies at most.
    std::erase_if(pending_, [this](const NcclCallFacts& each) {
      const auto communicator = work_.communicators.find(rank_.nccl_calls[each.call].communicator);
      const bool is_alone = communicator != work_.communicators.end() && communicator->second.ranks == 1;
      if (is_alone) {
        work_.without_kernel.push_back(each);
      }
      return is_alone;
    });
    if (launched.size() == 1) {
      give(*launched[0], [](const NcclCallFacts&) { return true; });
    } else if (launched.size() > 1) {
      give_by_kind(launched);
    }
    forget_pending();
  }

  /// Gives calls to one of several kernels where only one is possible: NCCL does messages, and what it makes
  /// of messages, by kernels of their own.
  void give_by_kind(const std::vector<Kernel*>& launched) {
    const auto goes_by_messages = [](const NcclCallFacts& call) {
      return call.kind == NcclKind::send_receive || call.kind == NcclKind::alltoall ||
             call.kind == NcclKind::gather || call.kind == NcclKind::scatter;
    };
    for (const bool by_messages : {true, false}) {
      Kernel* only = nullptr;
      std::size_t count = 0;
      for (Kernel* kernel : launched) {
        if ((kernel->kind == NcclKind::send_receive) == by_messages) {
          only = kernel;
          ++count;
        }
      }
      if (count == 1) {
        give(*only, [&](const NcclCallFacts& call) { return goes_by_messages(call) == by_messages; });
      }
    }
  }

  template <typename Which>
  void give(Kernel& kernel, Which which) {
    NcclKernelFacts facts{.kernel = kernel.kernel,
                          .kind = kernel.kind,
                          .first_call = static_cast<std::uint32_t>(work_.calls.size())};
    std::erase_if(pending_, [&](const NcclCallFacts& call) {
      if (!which(call)) {
        return false;
      }
      facts.kind = facts.calls == 0 || facts.kind == call.kind ? call.kind : NcclKind::several;
      ++facts.calls;
      work_.calls.push_back(call);
      return true;
    });
    if (facts.calls != 0) {
      kernel.is_taken = true;
      work_.kernels.push_back(facts);
    }
  }

  void forget_pending() {
    work_.without_kernel.insert(work_.without_kernel.end(), pending_.begin(), pending_.end());
    pending_.clear();
  }

  void add_kernels_without_calls() {
    for (const Kernel& each : kernels_) {
      if (!each.is_taken) {
        work_.kernels.push_back({.kernel = each.kernel, .kind = each.kind});
      }
    }
  }

  const RankTrace& rank_;
  std::vector<Kernel> kernels_;                                        ///< by thread and time of launch
  std::unordered_map<std::uint32_t, std::uint32_t> message_ordinals_;  ///< by call
  IdTable<NamedFunction> functions_;
  NcclWork work_;
  // Of the thread whose calls are gone through
  std::uint32_t thread_ = 0;
  std::uint32_t depth_ = 0;             ///< of groups
  std::uint64_t inside_until_ns_ = 0;   ///< end of the last call that moves something
  std::vector<NcclCallFacts> pending_;  ///< calls whose kernel has not been launched yet
};

}  // namespace

NcclWork nccl_work_of(const RankTrace& rank) {
  return Joiner(rank).join();
}

}  // namespace penstock::analysis
