#include "analysis/unfinished/waiting.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

namespace penstock::analysis {
namespace {

std::uint64_t count_in(const EnvelopeCounts& counts, const Envelope& envelope) {
  const auto found = counts.find(envelope);
  return found == counts.end() ? 0 : found->second;
}

bool fits(const PendingOperation& operation, PendingOperation::Kind kind, const Envelope& envelope) {
  return operation.kind == kind && operation.communicator == envelope.communicator &&
         (operation.peer == envelope.peer || operation.peer == any_peer) &&
         (operation.tag == envelope.tag || operation.tag == any_tag || envelope.tag == any_tag);
}

/// Returns how many operations of the kind the rank has posted, before `until` if that is one of them.
std::uint64_t pending_in(const RankState& state, PendingOperation::Kind kind, const Envelope& envelope,
                         std::uint64_t until_ns = ~std::uint64_t{0}) {
  return static_cast<std::uint64_t>(std::count_if(
      state.pending.begin(), state.pending.end(),
      [&](const PendingOperation& each) { return each.post_ns < until_ns && fits(each, kind, envelope); }));
}

}  // namespace

const RankState* Waiting::state_of(std::int32_t rank) const {
  const RankState* const state = is_known(rank) ? &ranks_[static_cast<std::size_t>(rank)] : nullptr;
  return state != nullptr && state->has_recording ? state : nullptr;
}

Need Waiting::need_of(std::int32_t rank, const CallInProgress& call) const {
  constexpr std::size_t most_operations = 1024;  // looked at: each takes a walk over those that are pending
  Need need{{}, call.any_is_enough};
  Need of_wildcards{{}, true};
  for (const PendingOperation& operation :
       std::span(call.operations).first(std::min(most_operations, call.operations.size()))) {
    const Need one = need_of(rank, operation);
    if (one.ranks.empty() && call.any_is_enough) {
      return {};
    }
    Need& to = one.any_is_enough && !call.any_is_enough ? of_wildcards : need;
    to.ranks.insert(to.ranks.end(), one.ranks.begin(), one.ranks.end());
  }
  Need& chosen = need.ranks.empty() ? of_wildcards : need;
  std::sort(chosen.ranks.begin(), chosen.ranks.end());
  chosen.ranks.erase(std::unique(chosen.ranks.begin(), chosen.ranks.end()), chosen.ranks.end());
  chosen.any_is_enough = chosen.any_is_enough && chosen.ranks.size() > 1;
  return chosen;
}

Need Waiting::need_of(std::int32_t rank, const PendingOperation& operation) const {
  switch (operation.kind) {
    case PendingOperation::Kind::send:
      return need_of_send(rank, operation);
    case PendingOperation::Kind::receive:
      return need_of_receive(rank, operation);
    case PendingOperation::Kind::window:
      return is_known(operation.peer) ? Need{{operation.peer}, false} : Need{};
    default:
      return need_of_collective(rank, operation);
  }
}

bool Waiting::has_come(std::int32_t rank, const PendingOperation& collective) const {
  const RankState* const state = state_of(rank);
  if (state == nullptr) {
    return false;
  }
  const auto history = state->collectives.find(collective.communicator);
  return history != state->collectives.end() && history->second.last_ordinal >= collective.ordinal;
}

const std::vector<std::int32_t>& Waiting::late_at(const PendingOperation& collective) const {
  constexpr std::size_t most_late = 256;  // whoever waits for these waits for enough
  const auto [late, is_new] = late_.try_emplace({collective.communicator, collective.ordinal});
  const auto members = members_.find(collective.communicator);
  if (is_new && members != members_.end()) {
    for (const std::int32_t rank : members->second) {
      if (is_known(rank) && late->second.size() < most_late && !has_come(rank, collective)) {
        late->second.push_back(rank);
      }
    }
  }
  return late->second;
}

/// What others need of a root is there once the root has come: then they wait, if at all, for those between
/// them and the root.
Need Waiting::need_of_collective(std::int32_t rank, const PendingOperation& operation) const {
  if (is_known(operation.peer) && operation.peer != rank && !has_come(operation.peer, operation)) {
    return {{operation.peer}, false};
  }
  Need need{late_at(operation), false};
  std::erase(need.ranks, rank);
  return need;
}

/// Returns true if `sender` has posted a message that `receive` may take, and that no earlier receive takes.
bool Waiting::may_have_come(std::int32_t receiver, std::int32_t sender,
                            const PendingOperation& receive) const {
  const RankState* const from = state_of(sender);
  const RankState* const to = state_of(receiver);
  if (from == nullptr || to == nullptr) {
    return false;
  }
  const Envelope sent{receive.communicator, receiver, receive.tag};
  const Envelope received{receive.communicator, sender, receive.tag};
  const std::uint64_t posted =
      count_in(from->sent, sent) + pending_in(*from, PendingOperation::Kind::send, sent);
  const std::uint64_t taken = count_in(to->received, received) +
                              pending_in(*to, PendingOperation::Kind::receive, received, receive.post_ns);
  return posted > taken;
}

Need Waiting::need_of_receive(std::int32_t rank, const PendingOperation& receive) const {
  if (receive.peer == any_peer) {
    Need need{{}, true};
    const auto members = members_.find(receive.communicator);
    if (members == members_.end()) {
      return {};
    }
    for (const std::int32_t other : members->second) {
      if (!is_known(other)) {
        continue;
      }
      if (may_have_come(rank, other, receive)) {
        return {};
      }
      if (other != rank) {
        need.ranks.push_back(other);
      }
    }
    return need;
  }
  if (!is_known(receive.peer)) {
    return {};
  }
  if (!may_have_come(rank, receive.peer, receive)) {
    return {{receive.peer}, false};
  }
  // The message is under way. A sender that is in no call may have to take part in it, and does not.
  const RankState* const sender = state_of(receive.peer);
  const Envelope sent{receive.communicator, rank, receive.tag};
  const bool is_in_hand =
      pending_in(*sender, PendingOperation::Kind::send, sent) != 0 && sender->calls.empty();
  return is_in_hand ? Need{{receive.peer}, false} : Need{};
}

Need Waiting::need_of_send(std::int32_t rank, const PendingOperation& send) const {
  if (!is_known(send.peer)) {
    return {};
  }
  const RankState* const receiver = state_of(send.peer);
  if (receiver == nullptr) {
    return {{send.peer}, false};
  }
  const RankState& sender = ranks_[static_cast<std::size_t>(rank)];
  const Envelope sent{send.communicator, send.peer, send.tag};
  const Envelope received{send.communicator, rank, send.tag};
  const std::uint64_t earlier =
      count_in(sender.sent, sent) + pending_in(sender, PendingOperation::Kind::send, sent, send.post_ns);
  const std::uint64_t wanted = count_in(receiver->received, received) +
                               pending_in(*receiver, PendingOperation::Kind::receive, received);
  const bool is_wanted = wanted > earlier;
  return is_wanted && !receiver->calls.empty() ? Need{} : Need{{send.peer}, false};
}

}  // namespace penstock::analysis
