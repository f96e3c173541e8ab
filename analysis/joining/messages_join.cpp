// Joins the ranks of the index: each rank finds the other halves of its own messages, so that ranks can be
// joined in parallel. The members of a team exchange the job's classes of messages and clocks.
#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <set>
#include <utility>
#include <vector>

#include "analysis/joining/messages.hpp"
#include "analysis/sharing/parallel.hpp"
#include "analysis/sharing/teamwork.hpp"
#include "analysis/tables/release.hpp"

namespace penstock::analysis {
namespace {

constexpr std::size_t kind_count = static_cast<std::size_t>(trace::BufferKind::managed) + 1;

/// The number of classes of messages that the MPI library's own transport carries: by buffers and size.
constexpr std::size_t plain_class_count = kind_count * kind_count * size_class_count;
using PlainClasses = std::bitset<plain_class_count>;

/// Returns the kind's number; 0 for a kind that does not exist, which damage may have produced.
std::size_t number_of(trace::BufferKind kind) {
  const auto number = static_cast<std::size_t>(kind);
  return number < kind_count ? number : 0;
}

/// Returns the class of a half and its partner, if known: the buffers of both sides and the received size.
std::size_t plain_class(const HalfFacts& half, const HalfFacts* partner) {
  const bool is_send = half.direction == trace::Direction::send;
  const std::size_t own = number_of(half.buffer);
  const std::size_t others = partner == nullptr ? 0 : number_of(partner->buffer);
  const std::size_t size = is_send && partner != nullptr ? partner->size_class : half.size_class;
  return ((is_send ? own : others) * kind_count + (is_send ? others : own)) * size_class_count + size;
}

MessageClass class_of_plain(std::size_t number) {
  const std::size_t buffers = number / size_class_count;
  return {.source = static_cast<trace::BufferKind>(buffers / kind_count),
          .destination = static_cast<trace::BufferKind>(buffers % kind_count),
          .transport = trace::TransportKind::mpi,
          .size_limit_bytes = limit_of_size_class(number % size_class_count)};
}

/// Returns the class of the staging copy on either side, the sender's first; no_message if there is none.
std::uint32_t class_of_copy(const HalfFacts& half, const HalfFacts* partner) {
  const std::uint32_t others = partner == nullptr ? MessageClasses::no_message : partner->message_class;
  const bool is_send = half.direction == trace::Direction::send;
  const std::uint32_t first = is_send ? half.message_class : others;
  return first != MessageClasses::no_message ? first : is_send ? others : half.message_class;
}

/// Returns the class of a message between those buffers that was carried as its copy was.
MessageClass staged_class(std::size_t number, const MessageClass& copy) {
  MessageClass staged = class_of_plain(number);
  staged.transport = copy.transport;
  staged.reason = copy.reason;
  return staged;
}

/// Returns the item's place in a list of few; adds it if it is new.
std::size_t index_in(std::vector<MessageClass>& list, const MessageClass& item) {
  const auto found = std::find(list.begin(), list.end(), item);
  if (found != list.end()) {
    return static_cast<std::size_t>(found - list.begin());
  }
  list.push_back(item);
  return list.size() - 1;
}

/// Adds the classes that other members of the team have seen.
void share_classes(Team* team, PlainClasses& plain, std::set<MessageClass>& staged) {
  if (team == nullptr) {
    return;
  }
  const PlainClasses own_plain = plain;
  for_each_member(team, own_plain, [&](const PlainClasses& each) { plain |= each; });
  std::vector<std::vector<MessageClass>> lists(team->size());
  for (std::size_t member = 0; member < team->size(); ++member) {
    if (member == team->own()) {
      lists[member].assign(staged.begin(), staged.end());
    }
    broadcast(*team, member, lists[member]);
  }
  for (const std::vector<MessageClass>& each : lists) {
    staged.insert(each.begin(), each.end());
  }
}

bool comes_first(const TransferFacts& left, const TransferFacts& right) {
  return left.key != right.key ? left.key < right.key : left.begin_ns < right.begin_ns;
}

}  // namespace

void MessageIndex::join(unsigned threads, Team* team) {
  gather_transfers(threads);
  for_each(ranks_.size(), threads, [this](std::size_t position, unsigned) {
    find_partners(static_cast<std::uint32_t>(position));
    find_first_transfers(static_cast<std::uint32_t>(position));
  });
  join_strays();
  classify_halves(threads, team);
  align_clocks(team);
  collectives_.join(clocks_, hosts_.size());
  windows_.join(clocks_);
  forget_others(team);
}

/// Sorts the transfers by key: first by the sender, which is part of the key, then within each sender.
void MessageIndex::gather_transfers(unsigned threads) {
  std::uint32_t most_senders = 0;
  for (const Rank& rank : ranks_) {
    most_senders = std::max(most_senders, static_cast<std::uint32_t>(std::max(0, rank.number)) + 2);
  }
  constexpr std::uint32_t most_buckets = 1u << 22;  // a damaged header may contain any rank
  buckets_.assign(std::min(most_senders, most_buckets) + std::size_t{2}, 0);
  for (const Rank& rank : ranks_) {
    for (const TransferFacts& each : rank.facts.transfers) {
      buckets_[bucket_of(each.key) + 1] += each.key == 0 ? 0 : 1;
    }
  }
  for (std::size_t i = 1; i < buckets_.size(); ++i) {
    buckets_[i] += buckets_[i - 1];
  }
  transfers_.resize(buckets_.back());
  std::vector<std::size_t> next = buckets_;
  for (Rank& rank : ranks_) {
    rank.transfer_classes.reserve(rank.facts.transfers.size());
    for (const TransferFacts& each : rank.facts.transfers) {
      const auto number = static_cast<std::uint32_t>(rank.transfer_classes.size());
      const bool is_lone = each.key == 0 && each.half == TransferFacts::no_half;
      rank.transfer_classes.push_back(is_lone ? part_of_class_[each.message_class] : each.message_class);
      if (each.key != 0) {
        transfers_[next[bucket_of(each.key)]++] = each;
      } else if (!is_lone) {
        rank.copies.emplace_back(number, each.half);
      }
    }
    release(rank.facts.transfers);
  }
  for_each(buckets_.size() - 1, threads, [this](std::size_t bucket, unsigned) {
    const auto begin = transfers_.begin() + static_cast<std::ptrdiff_t>(buckets_[bucket]);
    const auto end = transfers_.begin() + static_cast<std::ptrdiff_t>(buckets_[bucket + 1]);
    if (!std::is_sorted(begin, end, comes_first)) {
      std::stable_sort(begin, end, comes_first);
    }
  });
}

/// Pairs halves in order. MPI keeps the order of messages that are equal in communicator, source, destination
/// and tag; so the first half of a group belongs to the first one of its counterpart.
void MessageIndex::find_partners(std::uint32_t position) {
  Rank& rank = ranks_[position];
  rank.partners.resize(rank.facts.halves.size());
  for (const HalfGroup& group : rank.facts.groups) {
    const std::uint32_t* const peer = position_of_rank_.find(static_cast<std::uint32_t>(group.peer));
    if (peer == nullptr) {
      continue;
    }
    const RankFacts& others = ranks_[*peer].facts;
    const HalfGroup* const counterpart = find_counterpart(others, rank.number, group);
    if (counterpart == nullptr) {
      continue;
    }
    std::uint32_t theirs = counterpart->begin;
    std::uint32_t mine = group.begin;
    if (!group.has_keys) {  // begin at the first of which both sides are recorded
      const auto behind = [](std::uint64_t places, std::uint32_t begin, std::uint32_t end) {
        return begin + static_cast<std::uint32_t>(std::min<std::uint64_t>(places, end - begin));
      };
      const std::uint64_t first = std::max(group.before, counterpart->before);
      theirs = behind(first - counterpart->before, theirs, counterpart->end);
      mine = behind(first - group.before, mine, group.end);
    }
    for (; mine < group.end; ++mine) {
      const std::uint32_t half = rank.facts.in_groups[mine];
      if (group.has_keys) {
        const std::uint64_t key = rank.facts.halves[half].key;
        while (theirs < counterpart->end && others.halves[others.in_groups[theirs]].key < key) {
          ++theirs;
        }
        if (theirs < counterpart->end && others.halves[others.in_groups[theirs]].key != key) {
          continue;
        }
      }
      if (theirs == counterpart->end) {
        break;
      }
      rank.partners[half] = {*peer, others.in_groups[theirs++]};
    }
  }
}

void MessageIndex::find_first_transfers(std::uint32_t position) {
  Rank& rank = ranks_[position];
  rank.first_transfers.assign(rank.facts.halves.size(), none);
  for (const HalfGroup& group : rank.facts.groups) {
    if (!group.has_keys) {
      continue;
    }
    std::uint32_t guess = 0;
    for (std::uint32_t i = group.begin; i < group.end; ++i) {
      const std::uint32_t half = rank.facts.in_groups[i];
      const std::uint64_t key = rank.facts.halves[half].key;
      const std::uint32_t first = find_transfer(key, guess);
      rank.first_transfers[half] = first;
      for (std::size_t each = first; each < transfers_.size() && transfers_[each].key == key; ++each) {
        // the other side may set the same flag at this moment
        std::atomic_ref<bool>(transfers_[each].is_of_message).store(true, std::memory_order_relaxed);
        guess = static_cast<std::uint32_t>(each) + 1;
      }
    }
  }
}

/// Pairs halves with a key whose other half is not on the recorded rank.
void MessageIndex::join_strays() {
  std::vector<Partner> strays;
  for (std::uint32_t position = 0; position < ranks_.size(); ++position) {
    const Rank& rank = ranks_[position];
    for (std::uint32_t half = 0; half < rank.partners.size(); ++half) {
      if (rank.partners[half].half == none && rank.facts.halves[half].key != 0) {
        strays.push_back({position, half});
      }
    }
  }
  std::stable_sort(strays.begin(), strays.end(), [this](Partner left, Partner right) {
    const HalfFacts& a = at(left);
    const HalfFacts& b = at(right);
    return a.key != b.key ? a.key < b.key : a.direction < b.direction;
  });
  for (std::size_t i = 0; i + 1 < strays.size(); ++i) {
    const HalfFacts& first = at(strays[i]);
    const HalfFacts& second = at(strays[i + 1]);
    if (first.key == second.key && first.direction == trace::Direction::send &&
        second.direction == trace::Direction::receive) {
      ranks_[strays[i].position].partners[strays[i].half] = strays[i + 1];
      ranks_[strays[i + 1].position].partners[strays[i + 1].half] = strays[i];
      ++i;
    }
  }
}

/// Returns how many halves have no partner because records are missing on either side, by intention or for
/// want of space.
std::uint64_t MessageIndex::excused_halves(const Rank& rank) const noexcept {
  const auto has_none = [](const Partner& each) { return each.half == none; };
  if (rank.facts.lacks_records) {
    return static_cast<std::uint64_t>(std::count_if(rank.partners.begin(), rank.partners.end(), has_none));
  }
  std::uint64_t excused = 0;
  for (const HalfGroup& group : rank.facts.groups) {
    const std::uint32_t* const peer = position_of_rank_.find(static_cast<std::uint32_t>(group.peer));
    if (peer == nullptr ? rank.facts.others_may_not_record : ranks_[*peer].facts.lacks_records) {
      for (std::uint32_t i = group.begin; i < group.end; ++i) {
        excused += has_none(rank.partners[rank.facts.in_groups[i]]) ? 1 : 0;
      }
    }
  }
  return excused;
}

/// Gives each half the class of its message: the buffers of both sides, and the transport and reason of the
/// staging copy on either side, the sender's first; without one, the MPI library's own transport.
void MessageIndex::classify_halves(unsigned threads, Team* team) {
  struct Found {
    PlainClasses plain;
    std::vector<MessageClass> staged;
    std::vector<std::uint32_t> codes;  ///< of each half: a plain class, or behind those one of `staged`
    std::uint64_t unmatched = 0;
  };
  std::vector<Found> found(ranks_.size());
  const Share own = own_share(ranks_.size(), team);
  for_each(ranks_.size(), threads, [&](std::size_t position, unsigned) {
    Rank& rank = ranks_[position];
    Found& here = found[position];
    here.codes.reserve(rank.partners.size());
    for (std::size_t half = 0; half < rank.partners.size(); ++half) {
      const HalfFacts& facts = rank.facts.halves[half];
      const HalfFacts* const partner = rank.partners[half].half == none ? nullptr : &at(rank.partners[half]);
      here.unmatched += partner == nullptr && own.has(position) ? 1 : 0;
      const std::size_t number = plain_class(facts, partner);
      const std::uint32_t copy = class_of_copy(facts, partner);
      if (copy == MessageClasses::no_message) {
        here.plain.set(number);
        here.codes.push_back(static_cast<std::uint32_t>(number));
      } else {
        here.codes.push_back(static_cast<std::uint32_t>(
            plain_class_count + index_in(here.staged, staged_class(number, classes_.all()[copy]))));
      }
    }
    if (own.has(position)) {
      here.unmatched -= excused_halves(rank);
    }
    release(rank.facts.groups);
    release(rank.facts.in_groups);
  });
  PlainClasses plain;
  std::set<MessageClass> staged;
  for (const Found& each : found) {
    plain |= each.plain;
    staged.insert(each.staged.begin(), each.staged.end());
    unmatched_ += each.unmatched;
  }
  share_classes(team, plain, staged);
  const std::uint64_t own_unmatched = std::exchange(unmatched_, 0);
  for_each_member(team, own_unmatched, [this](std::uint64_t each) { unmatched_ += each; });
  std::array<std::uint32_t, plain_class_count> ids{};
  for (std::size_t number = 0; number < plain_class_count; ++number) {
    ids[number] = plain.test(number) ? classes_.id_of(class_of_plain(number)) : MessageClasses::no_message;
  }
  for (const MessageClass& each : staged) {
    static_cast<void>(classes_.id_of(each));
  }
  for_each(ranks_.size(), threads, [&](std::size_t position, unsigned) {
    Rank& rank = ranks_[position];
    const Found& here = found[position];
    for (std::size_t half = 0; half < here.codes.size(); ++half) {
      const std::uint32_t code = here.codes[half];
      rank.facts.halves[half].message_class =
          code < plain_class_count ? ids[code] : classes_.number_of(here.staged[code - plain_class_count]);
    }
    for (const auto& [transfer, half] : rank.copies) {
      rank.transfer_classes[transfer] = rank.facts.halves[half].message_class;
    }
    release(rank.copies);
  });
}

/// Aligns the clocks if there are several hosts; one host has one clock. Each member of a team observes what
/// it has, some of it twice; together the members observe the whole job.
void MessageIndex::align_clocks(Team* team) {
  if (hosts_.size() < 2) {
    return;
  }
  clocks_ = ClockAlignment(runs_);
  for (int pass = 0; pass < 2; ++pass) {
    for (const Rank& rank : ranks_) {
      for (std::size_t half = 0; half < rank.partners.size(); ++half) {
        const HalfFacts& receive = rank.facts.halves[half];
        if (receive.direction == trace::Direction::receive && rank.partners[half].half != none) {
          const KnownHalf send = known(rank.partners[half]);
          clocks_.observe(send.host, send.post_ns, rank.host, receive.complete_ns);
        }
      }
    }
    collectives_.observe(clocks_);
    if (team != nullptr) {
      for_each_member(team, clocks_.bounds(),
                      [this](const ClockAlignment::Bounds& each) { clocks_.take_in(each); });
    }
    if (pass == 0) {
      clocks_.fit_drift();
    }
  }
  clocks_.finish();
}

/// Frees what only queries need of other members' ranks: from here on, only the facts of their halves are
/// needed.
void MessageIndex::forget_others(Team* team) {
  const Share own = own_share(ranks_.size(), team);
  for (std::size_t position = 0; position < ranks_.size(); ++position) {
    if (!own.has(position)) {
      release(ranks_[position].partners);
      release(ranks_[position].first_transfers);
      release(ranks_[position].transfer_classes);
    }
  }
}

}  // namespace penstock::analysis
