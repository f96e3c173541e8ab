#include "analysis/unfinished/rank_state.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/recording/member_list.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/recording/trace_reader.hpp"
#include "analysis/recording/window_calls.hpp"
#include "analysis/unfinished/call_kind.hpp"

namespace penstock::analysis {
namespace {

/// So many collectives of each communicator are kept: by that much ranks may be apart to be compared.
constexpr std::size_t kept_collectives = 256;

/// Communicators are those of the recording until finish(), as their records may lie behind those of the
/// calls.
class StateReader {
 public:
  StateReader(RankState& state, StringPool& texts, SiteTable& sites, Members& members)
      : state_(state), texts_(texts), sites_(sites), members_(members) {}

  void operator()(const trace::Text& record, const trace::BlockHeader&) { names_.strings.append(record); }
  void operator()(const trace::Module& record, const trace::BlockHeader&) {
    names_.modules.push_back(record);
  }
  void operator()(const trace::CallPath& record, const trace::BlockHeader&) {
    names_.add_part_of_path(record);
  }
  void operator()(const trace::Communicator& record, const trace::BlockHeader&) {
    names_.communicators.push_back(record);
  }
  void operator()(const trace::MpiCall& call, const trace::BlockHeader&) {
    seen_until(call.end_ns);
    if (call.end_ns >= last_call_.end_ns) {
      last_call_ = call;
    }
    if (call.collective_ordinal != 0) {
      note_collective(call);
    }
    if (call.peer != -1 || call.collective_ordinal != 0) {
      posts_.push_back(call);
      if (posts_.size() >= next_cleaning_) {
        forget_completed();
      }
    }
  }
  void operator()(const trace::MessageHalf& half, const trace::BlockHeader&) {
    seen_until(half.complete_ns);
    count(half.direction, half.communicator, half.peer, half.tag, 1);
    if (half.blocking == 0) {
      completed_.push_back(half.post_ns);
    }
  }
  void operator()(const trace::CollectiveOperation& operation, const trace::BlockHeader&) {
    seen_until(operation.complete_ns);
    completed_.push_back(operation.post_ns);
  }
  void operator()(const trace::Range&, const trace::BlockHeader&) {
  }  // those still open are closed at the end
  void operator()(const trace::Thread&, const trace::BlockHeader&) {}
  void operator()(const trace::Notice&, const trace::BlockHeader&) {}
  void operator()(const trace::Fact&, const trace::BlockHeader&) {}
  template <typename Record>
  void operator()(const Record& record, const trace::BlockHeader&) {
    seen_until(record.end_ns);
  }

  /// `lost`: what the file lacks of its begin.
  void finish(std::vector<trace::OpenCall> open_calls, const LostRecords& lost) {
    sites_.begin_rank();
    forget_completed();
    forget_unknown(open_calls, lost);
    for (const trace::Communicator& each : names_.communicators) {
      global_ids_.emplace(each.local_id, each.global_id);
      if (members_.find(each.global_id) == members_.end()) {
        members_.emplace(each.global_id, members_of(each));
      }
    }
    for (const trace::MpiCall& call : posts_) {
      if (is_among_neighbours(name_of(call))) {
        continue;
      }
      std::vector<PendingOperation>& list =
          kind_of_call(name_of(call)).is_persistent ? persistent_ : state_.pending;
      list.push_back(posted_by(call));
    }
    add_open_calls(std::move(open_calls));
    std::stable_sort(state_.pending.begin(), state_.pending.end(),
                     [](const PendingOperation& left, const PendingOperation& right) {
                       return left.post_ns < right.post_ns;
                     });
    rename(state_.sent);
    rename(state_.received);
    for (auto& [local, arrivals] : arrivals_) {
      add_history(global(local), arrivals);
    }
    if (last_call_.end_ns != 0) {
      state_.last_call_begin_ns = last_call_.begin_ns;
      state_.last_call_end_ns = last_call_.end_ns;
      state_.last_call_site = site_of(last_call_);
    }
  }

 private:
  /// Returns true if an operation that was posted then is one of those that the call completes.
  static bool waits_for(const trace::OpenCall& open, std::uint64_t post_ns) {
    return open.operations != 0 && open.first_post_ns <= post_ns && post_ns <= open.last_post_ns;
  }

  void seen_until(std::uint64_t time_ns) { state_.last_record_ns = std::max(state_.last_record_ns, time_ns); }

  [[nodiscard]] const std::string& name_of(const trace::MpiCall& call) const {
    return names_.strings.at(call.function);
  }
  [[nodiscard]] std::uint32_t site_of(const trace::MpiCall& call) {
    return sites_.id_of(names_, call.call_site, call.function);
  }
  [[nodiscard]] std::uint64_t global(std::uint64_t local) const {
    const auto found = global_ids_.find(static_cast<std::uint32_t>(local));
    return found == global_ids_.end() ? 0 : found->second;
  }

  [[nodiscard]] std::vector<std::int32_t> members_of(const trace::Communicator& communicator) const {
    if (communicator.local_id == world_local_id) {
      std::vector<std::int32_t> members(
          static_cast<std::size_t>(std::min(state_.header.world_size, most_ranks)));
      std::iota(members.begin(), members.end(), 0);
      return members;
    }
    return ranks_in(names_.strings.at(communicator.members), most_ranks);
  }

  void count(trace::Direction direction, std::uint64_t communicator, std::int32_t peer, std::int32_t tag,
             std::uint64_t halves) {
    EnvelopeCounts& counts = direction == trace::Direction::send ? state_.sent : state_.received;
    counts[{communicator, peer, tag}] += halves;
    counts[{communicator, peer, any_tag}] += halves;
  }
  void note_collective(const trace::MpiCall& call) {
    std::vector<trace::MpiCall>& arrivals = arrivals_[call.communicator];
    arrivals.push_back(call);
    if (arrivals.size() >= 2 * kept_collectives) {
      keep_last(arrivals);
    }
  }
  /// The records of several threads are not in the order of ordinals.
  static void keep_last(std::vector<trace::MpiCall>& arrivals) {
    std::sort(arrivals.begin(), arrivals.end(), [](const trace::MpiCall& left, const trace::MpiCall& right) {
      return left.collective_ordinal < right.collective_ordinal;
    });
    if (arrivals.size() > kept_collectives) {
      arrivals.erase(arrivals.begin(), arrivals.end() - static_cast<std::ptrdiff_t>(kept_collectives));
    }
  }
  void add_history(std::uint64_t communicator, std::vector<trace::MpiCall>& arrivals) {
    keep_last(arrivals);
    CollectiveHistory& history = state_.collectives[communicator];
    for (const trace::MpiCall& each : arrivals) {
      history.last_ordinal = std::max(history.last_ordinal, each.collective_ordinal);
      history.last.push_back({each.collective_ordinal, texts_.id_of(name_of(each)), site_of(each)});
    }
  }

  /// Forgets posts whose operations have completed, and completions that belong to a post. Records of one
  /// lane are in the order of time; those of another may lie elsewhere, so what has no match is kept for a
  /// later one.
  void forget_completed() {
    std::sort(completed_.begin(), completed_.end());
    std::vector<std::uint64_t> matched;
    std::erase_if(posts_, [&](const trace::MpiCall& call) {
      const bool is_over =
          std::binary_search(completed_.begin(), completed_.end(), call.begin_ns) || is_done(call);
      if (is_over) {
        matched.push_back(call.begin_ns);
      }
      return is_over;
    });
    std::sort(matched.begin(), matched.end());
    std::erase_if(completed_, [&](std::uint64_t post_ns) {
      return std::binary_search(matched.begin(), matched.end(), post_ns);
    });
    next_cleaning_ = std::max<std::size_t>(1u << 16, 2 * posts_.size());
  }
  /// Counts lost halves, and forgets posts whose completion may be lost, but for those that a call in
  /// progress waits for.
  void forget_unknown(const std::vector<trace::OpenCall>& open_calls, const LostRecords& lost) {
    for (const trace::LostHalves& each : lost.halves) {
      count(each.direction, each.communicator, each.peer, each.tag, each.halves);
    }
    std::erase_if(posts_, [&](const trace::MpiCall& call) {
      return call.end_ns <= lost.known_from_ns &&
             std::none_of(open_calls.begin(), open_calls.end(),
                          [&](const trace::OpenCall& open) { return waits_for(open, call.begin_ns); });
    });
  }
  /// Returns true if the call had no need of a later one. Its name may not have been read yet: then it is
  /// kept.
  [[nodiscard]] bool is_done(const trace::MpiCall& call) const {
    const std::string& name = name_of(call);
    if (name == "?") {
      return false;
    }
    return call.collective_ordinal != 0 ? !is_nonblocking_collective(name) : kind_of_call(name).is_blocking;
  }

  [[nodiscard]] PendingOperation posted_by(const trace::MpiCall& call) const {
    PendingOperation operation = operation_of(call);
    if (call.collective_ordinal == 0) {
      operation.kind =
          kind_of_call(name_of(call)).sends ? PendingOperation::Kind::send : PendingOperation::Kind::receive;
    }
    return operation;
  }
  [[nodiscard]] PendingOperation operation_of(const trace::MpiCall& call) const {
    return {PendingOperation::Kind::collective,
            call.begin_ns,
            global(call.communicator),
            call.peer,
            call.tag,
            call.collective_ordinal};
  }

  /// A call that ended between two readings has its record already.
  void add_open_calls(std::vector<trace::OpenCall> open_calls) {
    std::sort(open_calls.begin(), open_calls.end(),
              [](const trace::OpenCall& left, const trace::OpenCall& right) {
                return left.call.begin_ns < right.call.begin_ns;
              });
    for (const trace::OpenCall& open : open_calls) {
      if (open.call.begin_ns == last_call_.begin_ns) {
        continue;
      }
      CallInProgress call{.open = open, .function = name_of(open.call), .site = site_of(open.call)};
      if (open.call.waits != 0) {
        add_operations(call);
      }
      if (open.call.collective_ordinal != 0) {
        note_collective(open.call);
      }
      state_.calls.push_back(std::move(call));
    }
  }
  void add_operations(CallInProgress& call) {
    const trace::OpenCall& open = call.open;
    const CallKind kind = kind_of_call(call.function);
    call.any_is_enough = kind.any_is_enough;
    if (kind.completes) {
      const auto is_of_call = [&open](const PendingOperation& each) { return waits_for(open, each.post_ns); };
      std::copy_if(state_.pending.begin(), state_.pending.end(), std::back_inserter(call.operations),
                   is_of_call);
      const auto persistent = static_cast<std::ptrdiff_t>(call.operations.size());
      std::copy_if(persistent_.begin(), persistent_.end(), std::back_inserter(call.operations), is_of_call);
      // that they are started is known from the call alone
      state_.pending.insert(state_.pending.end(), call.operations.begin() + persistent,
                            call.operations.end());
      return;
    }
    PendingOperation operation = operation_of(open.call);
    if (open.call.collective_ordinal != 0) {
      if (!is_among_neighbours(call.function)) {
        call.operations.push_back(operation);
      }
    } else if (waits_at_window(call.function)) {
      operation.kind = PendingOperation::Kind::window;
      call.operations.push_back(operation);
    } else if (operation.peer != -1) {
      operation.kind = kind.sends ? PendingOperation::Kind::send : PendingOperation::Kind::receive;
      if (kind.sends || kind.receives) {
        call.operations.push_back(operation);
      }
    }
    if (kind.sends && open.receives != 0 && open.source != -1) {
      call.operations.push_back({PendingOperation::Kind::receive, open.call.begin_ns, operation.communicator,
                                 open.source, open.source_tag, 0});
    }
    state_.pending.insert(state_.pending.end(), call.operations.begin(), call.operations.end());
  }

  void rename(EnvelopeCounts& counts) const {
    EnvelopeCounts renamed;
    for (const auto& [envelope, count] : counts) {
      renamed[{global(envelope.communicator), envelope.peer, envelope.tag}] += count;
    }
    counts = std::move(renamed);
  }

  RankState& state_;
  StringPool& texts_;
  SiteTable& sites_;
  Members& members_;
  RankTrace names_;  ///< only strings, modules, call paths and communicators
  std::map<std::uint32_t, std::uint64_t> global_ids_;
  std::vector<trace::MpiCall> posts_;
  std::vector<PendingOperation> persistent_;
  std::vector<std::uint64_t> completed_;
  std::size_t next_cleaning_ = 1u << 16;
  std::map<std::uint32_t, std::vector<trace::MpiCall>> arrivals_;
  trace::MpiCall last_call_{};
};

}  // namespace

RankState read_rank_state(const std::filesystem::path& file, std::uint64_t most_bytes, StringPool& texts,
                          SiteTable& sites, Members& members) {
  RankState state;
  TraceReader reader(file);
  std::vector<trace::OpenCall> open_calls = reader.open_calls();
  state.has_recording = true;
  state.header = reader.header();
  state.is_whole = !reader.read_at_most(most_bytes) && state.header.dropped_records == 0 &&
                   state.header.window_end_ns == 0;
  state.last_record_ns = state.header.begin_ns;
  StateReader records(state, texts, sites, members);
  static_cast<void>(reader.for_each(records));  // the report names the flaws
  std::erase_if(open_calls,
                [&](const trace::OpenCall& each) { return each.call.begin_ns < state.header.begin_ns; });
  const LostRecords lost = reader.lost();
  state.is_whole = state.is_whole && lost.records == 0;
  records.finish(std::move(open_calls), lost);
  return state;
}

}  // namespace penstock::analysis
