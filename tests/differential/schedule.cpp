#include <algorithm>
#include <map>
#include <tuple>

#include "tests/differential/generator.hpp"
#include "tests/support/random.hpp"

namespace penstock::differential {

namespace {

using test_support::Random;

/// What has become of a message so far in the global order.
struct Progress {
  bool send_started = false;
  bool send_done = false;
  bool is_buffered = false;
  bool receive_posted = false;
  bool receive_posted_before_barrier = false;  ///< so a ready send is legal
  bool receive_done = false;
};

/// Messages of one source and destination on one communicator, in the order in which they are sent. MPI
/// matches them in that order among equal tags; `sent` of them have been sent.
struct ChunkChannel {
  std::vector<int> messages;
  std::size_t sent = 0;
};

class Scheduler {
 public:
  explicit Scheduler(Program& program)
      : program_(program), random_(program.seed ^ 0x5ced), progress_(program.messages.size()) {
    program_.actions.assign(static_cast<std::size_t>(program_.ranks), {});
    outstanding_.resize(static_cast<std::size_t>(program_.ranks));
    std::map<std::tuple<int, int, int>, ChunkChannel> channels;
    for (std::size_t i = 0; i < program_.messages.size(); ++i) {
      const Message& message = program_.messages[i];
      channels[{message.communicator, message.source, message.destination}].messages.push_back(
          static_cast<int>(i));
    }
    for (auto& [key, channel] : channels) {
      shuffle(channel.messages);
      channels_.push_back(std::move(channel));
    }
    // the more seldom a program completes, the more is outstanding
    completion_weight_ = static_cast<std::size_t>(random_.between(1, 40));
    pause_weight_ = static_cast<std::size_t>(random_.between(0, 8));
  }

  void run() {
    std::size_t left = 2 * program_.messages.size();
    left -= post_early_receives();
    while (left > 0 || has_more_macros()) {
      if (program_.first_unnamed > 0 && random_.chance(4)) left -= post_ahead();
      const std::size_t dice = random_.below(100 + completion_weight_ + pause_weight_);
      if (dice < 42) {
        left -= start_send();
      } else if (dice < 84) {
        left -= post_receive();
      } else if (dice < 90) {
        left -= exchange();
      } else if (dice < 100) {
        if (random_.chance(30) || left == 0) next_macro();
      } else if (dice < 100 + completion_weight_) {
        complete_some();
      } else {
        pause();
      }
    }
    while (std::any_of(outstanding_.begin(), outstanding_.end(),
                       [](const auto& list) { return !list.empty(); })) {
      complete_some();
    }
  }

 private:
  Progress& of(int message) { return progress_[static_cast<std::size_t>(message)]; }
  const Message& at(int message) const { return program_.messages[static_cast<std::size_t>(message)]; }

  template <typename T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random_.below(i)]);
  }

  Action& act(int rank, ActionKind kind, int index) {
    auto& actions = program_.actions[static_cast<std::size_t>(rank)];
    actions.push_back({kind, index, 0, {}, {}});
    return actions.back();
  }
  void leave_outstanding(int rank, OperationKind kind, int index) {
    outstanding_[static_cast<std::size_t>(rank)].push_back({kind, index});
  }
  ActionKind pick(std::initializer_list<ActionKind> kinds) {
    return kinds.begin()[random_.below(kinds.size())];
  }

  /// A persistent request can be started again only once it is complete.
  bool send_request_is_idle(int message) {
    const int request = at(message).send_request;
    return request < 0 || none_of_group([&](int other) {
             return at(other).send_request == request && of(other).send_started && !of(other).send_done;
           });
  }
  bool receive_request_is_idle(int message) {
    const int request = at(message).receive_request;
    return request < 0 || none_of_group([&](int other) {
             return at(other).receive_request == request && of(other).receive_posted &&
                    !of(other).receive_done;
           });
  }
  template <typename Predicate>
  bool none_of_group(Predicate is_busy) {
    for (std::size_t i = 0; i < progress_.size(); ++i) {
      if (is_busy(static_cast<int>(i))) return false;
    }
    return true;
  }

  /// The next message of a random channel, if it can be sent now; -1 otherwise.
  int next_to_send(const ChunkChannel& channel) {
    if (channel.sent == channel.messages.size()) return -1;
    const int message = channel.messages[channel.sent];
    return send_request_is_idle(message) ? message : -1;
  }

  /// Whether a receive posted now for the message at `position` is sure to match it: MPI gives it the first
  /// message that fits, so none before it may still be without a receive and fit as well.
  bool matches_if_posted(const ChunkChannel& channel, std::size_t position) {
    const int message = channel.messages[position];
    if (of(message).receive_posted || !receive_request_is_idle(message)) return false;
    for (std::size_t i = 0; i < position; ++i) {
      const int before = channel.messages[i];
      if (of(before).receive_posted) continue;
      if (at(message).any_tag || at(before).tag == at(message).tag) return false;
    }
    return true;
  }

  /// A message of a random channel that can get its receive now; -1 otherwise.
  int next_to_receive(const ChunkChannel& channel) {
    const bool in_order = random_.chance(70);
    const std::size_t start = in_order ? 0 : random_.below(channel.messages.size());
    for (std::size_t i = start; i < channel.messages.size(); ++i) {
      if (of(channel.messages[i]).receive_posted) continue;
      if (matches_if_posted(channel, i)) return channel.messages[i];
      if (in_order) break;
    }
    return -1;
  }

  ChunkChannel& random_channel() { return channels_[random_.below(channels_.size())]; }

  /// These return how many halves of messages they dealt with.
  std::size_t start_send() {
    ChunkChannel& channel = random_channel();
    const int message = next_to_send(channel);
    if (message < 0) return 0;
    ++channel.sent;
    Progress& progress = of(message);
    progress.send_started = true;
    using enum ActionKind;
    ActionKind kind;
    if (at(message).send_request >= 0) {
      kind = start_send_kind;
    } else if (at(message).frees_request) {
      kind = isend;
    } else if (progress.receive_posted_before_barrier && random_.chance(40)) {
      kind = pick({rsend, irsend});
    } else if (progress.receive_posted) {
      kind = pick({send, send, ssend, bsend, isend, isend, issend, ibsend});
    } else {
      kind = pick({isend, isend, isend, issend, ibsend, bsend});
    }
    act(at(message).source, kind, message);
    progress.is_buffered = kind == bsend || kind == ibsend;
    const bool over = kind == send || kind == ssend || kind == rsend || kind == bsend;
    progress.send_done = over || at(message).frees_request;
    if (!progress.send_done) leave_outstanding(at(message).source, OperationKind::send, message);
    return 1;
  }

  /// Posts what it can before any GPU is used, then lets all ranks use theirs. The barrier keeps those that
  /// have no early receives from being faster.
  std::size_t post_early_receives() {
    std::size_t posted = 0;
    for (ChunkChannel& channel : channels_) {
      for (std::size_t i = 0; i < channel.messages.size(); ++i) {
        const int message = channel.messages[i];
        if (!at(message).is_early || !matches_if_posted(channel, i)) continue;
        of(message).receive_posted = true;
        const bool is_persistent = at(message).receive_request >= 0;
        act(at(message).destination, is_persistent ? ActionKind::start_receive : ActionKind::irecv, message);
        leave_outstanding(at(message).destination, OperationKind::receive, message);
        ++posted;
      }
    }
    const bool meets = posted > 0 && random_.chance(80);
    for (int rank = 0; rank < program_.ranks; ++rank) {
      if (meets) act(rank, ActionKind::meet, 0);
      act(rank, ActionKind::use_gpu, 0);
    }
    return posted;
  }

  std::size_t post_receive() {
    const int message = next_to_receive(random_channel());
    if (message < 0) return 0;
    Progress& progress = of(message);
    progress.receive_posted = true;
    using enum ActionKind;
    ActionKind kind;
    if (at(message).receive_request >= 0) {
      kind = start_receive;
    } else if (progress.send_started) {
      kind = pick({recv, recv, irecv, irecv, probe_recv, iprobe_irecv, mprobe_mrecv, improbe_imrecv});
      if (message < program_.first_unnamed && kind == mprobe_mrecv) kind = probe_recv;
      if (message < program_.first_unnamed && kind == improbe_imrecv) kind = iprobe_irecv;
    } else {
      kind = irecv;
    }
    act(at(message).destination, kind, message);
    progress.receive_done = kind == recv || kind == probe_recv || kind == mprobe_mrecv;
    if (!progress.receive_done) leave_outstanding(at(message).destination, OperationKind::receive, message);
    return 1;
  }

  /// Receives before which nothing of them is sent: all ranks meet when they are posted.
  std::size_t post_ahead() {
    std::size_t posted = 0;
    for (int i = random_.between(4, 40); i > 0; --i) posted += post_receive();
    for (int rank = 0; rank < program_.ranks; ++rank) act(rank, ActionKind::meet, 0);
    return posted;
  }

  /// One rank's MPI_Sendrecv with partners that are there already, or two ranks' with each other.
  std::size_t exchange() {
    ChunkChannel& out = random_channel();
    const int sent = next_to_send(out);
    if (sent < 0 || at(sent).send_request >= 0 || at(sent).frees_request) return 0;
    const int rank = at(sent).source;
    ChunkChannel& in = random_channel();
    const int received = next_to_receive(in);
    if (received < 0 || at(received).receive_request >= 0 || at(received).destination != rank ||
        at(received).communicator != at(sent).communicator) {
      return 0;
    }
    if (of(sent).receive_posted && of(received).send_started) {
      finish_exchange(rank, sent, received, out);
      return 2;
    }
    const int partner = at(sent).destination;
    const bool with_each_other =
        at(received).source == partner && partner != rank && !of(sent).receive_posted &&
        !of(received).send_started && next_to_send(in) == received && at(received).send_request < 0 &&
        !at(received).frees_request && at(sent).receive_request < 0 && matches_if_posted(out, out.sent);
    if (!with_each_other) return 0;
    finish_exchange(rank, sent, received, out);
    finish_exchange(partner, received, sent, in);
    return 4;
  }

  void finish_exchange(int rank, int sent, int received, ChunkChannel& out) {
    act(rank, ActionKind::sendrecv, sent).other = received;
    ++out.sent;
    of(sent).send_started = of(sent).send_done = true;
    of(received).receive_posted = of(received).receive_done = true;
  }

  bool has_more_macros() const {
    return next_collective_ < program_.collectives.size() || next_race_ < program_.races.size() ||
           cancelled_ < program_.unmatched.size() || freed_finished_ < program_.freed.size() ||
           next_errors_ < program_.errors.size();
  }

  /// What several ranks do together stands at one place of the global order.
  void next_macro() {
    switch (random_.below(6)) {
      case 4:
        if (freed_finished_ == freed_started_ ||
            (freed_started_ < program_.freed.size() && random_.chance(50))) {
          do_all(ActionKind::freed_start, freed_started_, program_.freed.size());
        } else {
          do_all(ActionKind::freed_finish, freed_finished_, program_.freed.size());
        }
        break;
      case 5:
        do_all(ActionKind::planted_errors, next_errors_, program_.errors.size());
        break;
      case 0:
        do_all(ActionKind::race, next_race_, program_.races.size());
        break;
      case 1:
        if (posted_ < program_.unmatched.size()) {
          const int index = static_cast<int>(posted_++);
          act(program_.unmatched[static_cast<std::size_t>(index)].rank, ActionKind::unmatched_receive, index);
        } else if (cancelled_ < posted_) {
          const int index = static_cast<int>(cancelled_++);
          act(program_.unmatched[static_cast<std::size_t>(index)].rank, ActionKind::unmatched_cancel, index);
        }
        break;
      default:
        if (next_collective_ < program_.collectives.size())
          do_collective(static_cast<int>(next_collective_++));
    }
  }

  /// The next of a kind in which every rank has a part.
  void do_all(ActionKind kind, std::size_t& next, std::size_t count) {
    if (next == count) return;
    for (int rank = 0; rank < program_.ranks; ++rank) act(rank, kind, static_cast<int>(next));
    ++next;
  }

  void do_collective(int index) {
    const Collective& collective = program_.collectives[static_cast<std::size_t>(index)];
    const auto& members = program_.communicators[static_cast<std::size_t>(collective.communicator)].members;
    for (const int rank : members) {
      act(rank, ActionKind::collective, index);
      if (!collective.blocking) leave_outstanding(rank, OperationKind::collective, index);
    }
    const bool all_meet = collective.blocking && collective.call == CollectiveCall::barrier &&
                          static_cast<int>(members.size()) == program_.ranks;
    if (!all_meet) return;
    for (Progress& progress : progress_) {
      progress.receive_posted_before_barrier = progress.receive_posted;
    }
  }

  bool can_complete(const Operation& operation) {
    switch (operation.kind) {
      case OperationKind::send:
        return of(operation.index).receive_posted || of(operation.index).is_buffered;
      case OperationKind::receive:
        return of(operation.index).send_started;
      case OperationKind::collective:
        return true;  // all members have started it
    }
    return false;
  }

  void complete_some() {
    const int rank = random_.between(0, program_.ranks - 1);
    auto& outstanding = outstanding_[static_cast<std::size_t>(rank)];
    if (outstanding.empty()) return;
    if (random_.chance(15)) {
      act(rank, ActionKind::poke, 0);
      return;
    }
    const unsigned share = static_cast<unsigned>(random_.between(5, 100));
    std::vector<Operation> targets;
    for (const Operation& operation : outstanding) {
      if (can_complete(operation) && random_.chance(share)) targets.push_back(operation);
    }
    if (targets.empty()) return;
    shuffle(targets);
    for (const Operation& target : targets) {
      outstanding.erase(std::find(outstanding.begin(), outstanding.end(), target));
      if (target.kind == OperationKind::send) of(target.index).send_done = true;
      if (target.kind == OperationKind::receive) of(target.index).receive_done = true;
    }
    using enum ActionKind;
    act(rank, pick({waitall, waitany, waitsome, wait_each, testall, testsome, testany}), 0).targets =
        std::move(targets);
  }

  void pause() {
    const int microseconds = random_.chance(10) ? random_.between(500, 3000) : random_.between(1, 300);
    act(random_.between(0, program_.ranks - 1), ActionKind::pause, microseconds);
  }

  static constexpr ActionKind start_send_kind = ActionKind::start_send;

  Program& program_;
  Random random_;
  std::vector<Progress> progress_;
  std::vector<ChunkChannel> channels_;
  std::vector<std::vector<Operation>> outstanding_;  ///< of each rank
  std::size_t completion_weight_ = 10;
  std::size_t pause_weight_ = 0;
  std::size_t next_collective_ = 0;
  std::size_t next_race_ = 0;
  std::size_t freed_started_ = 0;
  std::size_t freed_finished_ = 0;
  std::size_t next_errors_ = 0;
  std::size_t posted_ = 0;
  std::size_t cancelled_ = 0;
};

}  // namespace

void schedule(Program& program) {
  Scheduler(program).run();
}

}  // namespace penstock::differential
